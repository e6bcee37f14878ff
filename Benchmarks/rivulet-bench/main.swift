import Foundation

let words = Array(CommandLine.arguments.dropFirst())
if words.count == 2, words[0] == CountedServer.argument {
    exit(await CountedServer.run(folder: words[1]))
}
exit(await BenchCommand.run(words))
