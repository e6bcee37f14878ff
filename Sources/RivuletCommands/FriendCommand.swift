internal import RivuletArguments
internal import RivuletServer

/// `rivulet friend`: who is whose friend, and who has blocked whom.
enum FriendCommand {
    private static let user = Positional("USER", help: "The number of the user whose list it is.")
    private static let others = Positional("OTHER", isRepeated: true, help: "The other users' numbers.")
    private static let oneWay = Option(
        "--one-way", help: "Change the list of USER alone, not those of the others.")

    static let spec = CommandSpec(
        "friend", summary: "Look after friend lists and blacklists.", discussion: Administration.discussion,
        subcommands: [
            CommandSpec(
                "add", summary: "Make users friends of each other.",
                options: [oneWay] + Administration.options, positionals: [user, others]),
            CommandSpec(
                "remove", summary: "End the friendship of users.",
                options: [oneWay] + Administration.options, positionals: [user, others]),
            CommandSpec(
                "block", summary: "Put users on a user's blacklist.", options: Administration.options,
                positionals: [user, others]),
            CommandSpec(
                "unblock", summary: "Take users off a user's blacklist.", options: Administration.options,
                positionals: [user, others]),
            CommandSpec(
                "list", summary: "List a user's friends and blacklist.", options: Administration.options,
                positionals: [user]),
        ])

    static func run(_ arguments: Arguments, _ context: CommandContext) async throws -> Int32 {
        let user = try Administration.number("USER", arguments)
        guard let word = arguments.path.last, word != "list" else {
            return try await Administration.run(.listFriends(user: user), arguments, context) { answer in
                var rows = [["USER", "LIST"]]
                rows += (answer.friends ?? []).map { ["\($0)", "friend"] }
                rows += (answer.blocked ?? []).map { ["\($0)", "blocked"] }
                for line in Table.lines(rows) { try context.console.line(line) }
            }
        }
        let others = try Administration.numbers("OTHER", arguments)
        let request: AdminRequest =
            switch word {
            case "add", "remove":
                .setFriends(
                    user: user, others: others, isFriend: word == "add", oneWay: arguments.flag("--one-way"))
            default: .setBlocked(user: user, others: others, isBlocked: word == "block")
            }
        return try await Administration.run(request, arguments, context) {
            try Administration.showChanges($0, context)
        }
    }
}
