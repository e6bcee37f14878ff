import Foundation

exit(Probe.run(Array(CommandLine.arguments.dropFirst())))
