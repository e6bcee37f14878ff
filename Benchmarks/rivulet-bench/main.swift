import Foundation

exit(await BenchCommand.run(Array(CommandLine.arguments.dropFirst())))
