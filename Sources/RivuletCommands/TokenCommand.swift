internal import RivuletArguments
internal import RivuletModel
internal import RivuletServer
internal import RivuletServerCore

/// `rivulet token`: who may log in.
enum TokenCommand {
    /// How many tokens one call makes at most.
    static let tokensPerCallMax: Int64 = 100_000

    static let spec = CommandSpec(
        "token", summary: "Make, list and revoke the tokens with which users log in.",
        subcommands: [
            CommandSpec(
                "create", summary: "Make a token for a user, or one for each of many users.",
                discussion: """
                    The token is printed once and kept only as a digest. With --users, each line is the user's number, a \
                    space and the token. A running server accepts new tokens at once.
                    """,
                options: [
                    Option("--user", "-u", value: "ID", help: "The user's number."),
                    Option("--users", value: "FIRST-LAST", help: "A range of users, such as 1-500."),
                    Administration.data,
                    Option(
                        "--expires", value: "TIME",
                        help: "After how long it ends, such as 12h or 30d; never when not given."),
                    Option("--label", value: "TEXT", help: "A note to know it by."),
                ]),
            CommandSpec(
                "list", summary: "List the tokens, without their secret parts.",
                options: [
                    Administration.data,
                    Option("--user", "-u", value: "ID", help: "Only those of this user."),
                ]),
            CommandSpec(
                "revoke", summary: "Revoke tokens; logins with them fail from now on.",
                options: [Administration.data],
                positionals: [
                    Positional("TOKEN", isRepeated: true, help: "A token, or its id from the list.")
                ]),
        ])

    static func run(_ arguments: Arguments, _ context: CommandContext) throws -> Int32 {
        switch arguments.path.last {
        case "create": try create(arguments, context)
        case "list": try list(arguments, context)
        default: try revoke(arguments, context)
        }
    }

    private static func create(_ arguments: Arguments, _ context: CommandContext) throws -> Int32 {
        let users = try users(arguments)
        let lifetime = try arguments.value("--expires", as: Duration.self)
        if let lifetime, lifetime < .seconds(1) { throw arguments.usageError("--expires must be 1s or more") }
        let milliseconds = lifetime.map { $0.components.seconds * 1000 }
        let directory = try directory(arguments, context)
        defer { directory.close() }
        var generator = SystemRandomNumberGenerator()
        for user in users {
            let issued = try directory.createToken(
                for: Account(user: UserID(user)), label: arguments.string("--label") ?? "",
                lifetimeMilliseconds: milliseconds, now: WallTime(milliseconds: context.now()),
                using: &generator)
            try context.console.line(
                arguments.string("--users") == nil ? issued.token : "\(user) \(issued.token)")
        }
        return ExitStatus.success
    }

    private static func users(_ arguments: Arguments) throws -> ClosedRange<Int64> {
        let one = try arguments.value("--user", as: Int64.self)
        guard let range = arguments.string("--users") else {
            guard let one else { throw arguments.usageError("--user or --users is missing") }
            guard one > 0 else { throw arguments.usageError("--user: a user's number is 1 or more") }
            return one...one
        }
        guard one == nil else { throw arguments.usageError("give --user or --users, not both") }
        let ends = range.split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) }
        guard ends.count == 2, let first = ends[0], let last = ends[1], first > 0, first <= last else {
            throw arguments.usageError("--users: '\(range)' is not a range such as 1-500")
        }
        guard last - first < tokensPerCallMax else {
            throw arguments.usageError("--users: at most \(tokensPerCallMax) at a time")
        }
        return first...last
    }

    private static func list(_ arguments: Arguments, _ context: CommandContext) throws -> Int32 {
        let user = try arguments.value("--user", as: Int64.self).map { UserID($0) }
        let directory = try directory(arguments, context)
        defer { directory.close() }
        let now = WallTime(milliseconds: context.now())
        var rows = [["ID", "USER", "MADE", "ENDS", "STATE", "LABEL"]]
        for token in try directory.tokens(of: user) {
            let state = token.revoked != nil ? "revoked" : token.isValid(at: now) ? "valid" : "ended"
            rows.append([
                token.id, "\(token.account.user.rawValue)", context.time.stamp(token.created.milliseconds),
                token.expires.map { context.time.stamp($0.milliseconds) } ?? "never", state,
                UntrustedText.line(token.label),
            ])
        }
        for line in Table.lines(rows) { try context.console.line(line) }
        return ExitStatus.success
    }

    private static func revoke(_ arguments: Arguments, _ context: CommandContext) throws -> Int32 {
        let directory = try directory(arguments, context)
        defer { directory.close() }
        var status = ExitStatus.success
        for word in arguments.strings("TOKEN") {
            if let record = try directory.revokeToken(word, now: WallTime(milliseconds: context.now())) {
                try context.console.line("revoked \(record.id) of user \(record.account.user.rawValue)")
            } else {
                // The word may be a secret with a typing error: do not repeat it.
                context.console.error("rivulet: no such token; 'rivulet token list' shows the ids")
                status = ExitStatus.failure
            }
        }
        return status
    }

    private static func directory(_ arguments: Arguments, _ context: CommandContext) throws
        -> AccountDirectory
    {
        try AccountDirectory(in: Administration.folder(arguments, context))
    }
}
