internal import Foundation
internal import RivuletArguments
internal import RivuletServer
internal import RivuletServerCore

/// What the commands that look after a server's groups, rooms and friends have in common.
enum Administration {
    static let data = Option(
        "--data", value: "DIR", environment: "RIVULET_DATA",
        help: "The server's data folder; the server's own default when not given.")

    static let json = Option("--json", help: "Print the whole answer as one line of JSON.")

    static let options = [data, json]

    static let discussion = """
        It asks the running server through the socket in its data folder, and acts on the files when no server \
        runs there. Only the server's own user may do either.
        """

    /// The data folder that was named, or the standard one.
    static func folder(_ arguments: Arguments, _ context: CommandContext) throws -> DataDirectory {
        if let path = arguments.string("--data") { return DataDirectory(path: path) }
        guard let folder = DataDirectory.standard(environment: context.environment) else {
            throw arguments.usageError("--data is missing, and the environment names no home folder")
        }
        return folder
    }

    /// Asks, and prints the answer: as JSON if wanted, in the words of `show` otherwise.
    static func run(
        _ request: AdminRequest, _ arguments: Arguments, _ context: CommandContext,
        show: (AdminAnswer) throws -> Void
    ) async throws -> Int32 {
        let administration = ServerAdministration(
            of: try folder(arguments, context), now: { WallTime(milliseconds: context.now()) })
        let answer = try await administration.perform(request)
        if arguments.flag("--json") {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
            try context.console.line(String(decoding: try encoder.encode(answer), as: UTF8.self))
            return answer.ok ? ExitStatus.success : ExitStatus.failure
        }
        guard answer.ok else { throw CommandError(answer.error?.message ?? "the server refused") }
        try show(answer)
        return ExitStatus.success
    }

    /// Says how many things a request has changed.
    static func showChanges(_ answer: AdminAnswer, _ context: CommandContext) throws {
        switch answer.changed ?? 0 {
        case 0: try context.console.line("nothing to change")
        case 1: try context.console.line("1 change made")
        case let count: try context.console.line("\(count) changes made")
        }
    }

    /// A positional number that must be above 0.
    static func number(_ name: String, _ arguments: Arguments) throws -> Int64 {
        let number = try arguments.required(name, as: Int64.self)
        guard number > 0 else { throw arguments.usageError("\(name) must be 1 or more") }
        return number
    }

    /// Repeated positional numbers that must be above 0.
    static func numbers(_ name: String, _ arguments: Arguments) throws -> [Int64] {
        let numbers = try arguments.values(name, as: Int64.self)
        guard numbers.allSatisfy({ $0 > 0 }) else {
            throw arguments.usageError("\(name) must be 1 or more")
        }
        return numbers
    }
}
