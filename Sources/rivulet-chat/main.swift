import Foundation

exit(ChatProgram.run(Array(CommandLine.arguments.dropFirst()), ProcessInfo.processInfo.environment))
