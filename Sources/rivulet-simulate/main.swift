import Foundation

exit(SimulateProgram.run(Array(CommandLine.arguments.dropFirst()), ProcessInfo.processInfo.environment))
