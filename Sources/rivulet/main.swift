import Foundation
import RivuletCommands

exit(await RivuletProgram().run(CommandLine.arguments.dropFirst()))
