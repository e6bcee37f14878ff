internal import RivuletArguments
internal import RivuletServer

/// `rivulet token`: who may log in.
enum TokenCommand {
    /// How many tokens one call makes at most.
    private static let tokensPerCallMax: Int64 = 100_000

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
                    Administration.json,
                ]),
            CommandSpec(
                "list", summary: "List the tokens, without their secret parts.",
                options: [
                    Administration.data,
                    Option("--user", "-u", value: "ID", help: "Only those of this user."),
                    Administration.json,
                ]),
            CommandSpec(
                "revoke", summary: "Revoke tokens: logins with them fail, and their connections end.",
                options: Administration.options,
                positionals: [
                    Positional("TOKEN", isRepeated: true, help: "A token, or its id from the list.")
                ]),
        ])

    static func run(_ arguments: Arguments, _ context: CommandContext) async throws -> Int32 {
        switch arguments.path.last {
        case "create": try await create(arguments, context)
        case "list": try await list(arguments, context)
        default: try await revoke(arguments, context)
        }
    }

    private static func create(_ arguments: Arguments, _ context: CommandContext) async throws -> Int32 {
        let users = try users(arguments)
        let lifetime = try arguments.value("--expires", as: Duration.self)
        if let lifetime, lifetime < .seconds(1) { throw arguments.usageError("--expires must be 1s or more") }
        let request = AdminRequest.createTokens(
            first: users.lowerBound, last: users.upperBound, label: arguments.string("--label") ?? "",
            lifetime: lifetime.map { $0.components.seconds * 1000 })
        return try await Administration.run(request, arguments, context) { answer in
            for made in answer.tokens ?? [] {
                let token = made.token ?? ""
                try context.console.line(
                    arguments.string("--users") == nil ? token : "\(made.user) \(token)")
            }
        }
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

    private static func list(_ arguments: Arguments, _ context: CommandContext) async throws -> Int32 {
        let user = try arguments.value("--user", as: Int64.self)
        let now = context.now()
        return try await Administration.run(.listTokens(user: user), arguments, context) { answer in
            var rows = [["ID", "USER", "MADE", "ENDS", "STATE", "LABEL"]]
            for token in answer.tokens ?? [] {
                let state =
                    token.revokedMilliseconds != nil ? "revoked" : token.isValid(at: now) ? "valid" : "ended"
                rows.append([
                    token.id, "\(token.user)", context.time.stamp(token.createdMilliseconds),
                    token.expiresMilliseconds.map { context.time.stamp($0) } ?? "never", state,
                    UntrustedText.line(token.label),
                ])
            }
            for line in Table.lines(rows) { try context.console.line(line) }
        }
    }

    private static func revoke(_ arguments: Arguments, _ context: CommandContext) async throws -> Int32 {
        var unknown = 0
        let request = AdminRequest.revokeTokens(tokens: arguments.strings("TOKEN"))
        let status = try await Administration.run(request, arguments, context) { answer in
            for token in answer.tokens ?? [] {
                try context.console.line("revoked \(token.id) of user \(token.user)")
            }
            unknown = answer.unknownCount ?? 0
        }
        // The word may be a secret with a typing error: do not repeat it.
        for _ in 0..<unknown {
            context.console.error("rivulet: no such token; 'rivulet token list' shows the ids")
        }
        return unknown > 0 ? ExitStatus.failure : status
    }
}
