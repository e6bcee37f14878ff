internal import RivuletArguments
internal import RivuletModel
internal import RivuletStore

/// `rivulet tail`: each message that arrives, as a line.
struct TailCommand: Sendable {
    let backend: any ChatBackend
    let formatter: MessageLines
    let console: Console
    /// After how many messages to end; nil for never.
    let count: Int?
    /// After how long to end; nil for never.
    let timeout: Duration?

    static let spec = CommandSpec(
        "tail", summary: "Print each message that arrives, until stopped.",
        discussion: """
            Messages that came while you were away are printed first. With --count, the exit status is 1 when fewer \
            messages came in the time of --timeout.
            """,
        options: ClientOptions.options + [
            Option("--json", help: "Print one JSON object a line."),
            Option("--count", "-n", value: "N", help: "End after this many messages."),
            Option("--timeout", value: "TIME", help: "End after this long."),
        ])

    static func run(_ arguments: Arguments, _ context: CommandContext) async throws -> Int32 {
        let count = try arguments.value("--count", as: Int.self)
        if let count, count < 0 { throw arguments.usageError("--count must be 0 or more") }
        let timeout = try arguments.value("--timeout", as: Duration.self)
        let options = try ClientOptions.read(arguments, context)
        let command = TailCommand(
            backend: IMBackend(options, now: context.now),
            formatter: MessageLines(isJSON: arguments.flag("--json"), time: context.time),
            console: context.console,
            count: count, timeout: timeout)
        return try await Interruptible.run { try await command.run() }
    }

    func run() async throws -> Int32 {
        let status: Int32
        do {
            try await backend.start()
            status = try await follow()
        } catch {
            await backend.stop()
            throw error
        }
        await backend.stop()
        return status
    }

    private func follow() async throws -> Int32 {
        try await withThrowingTaskGroup(of: Int32.self) { group in
            group.addTask { try await printMessages() }
            if let timeout {
                group.addTask {
                    try await Task.sleep(for: timeout)
                    return count == nil ? ExitStatus.success : ExitStatus.failure
                }
            }
            defer { group.cancelAll() }
            return try await group.next() ?? ExitStatus.failure
        }
    }

    private func printMessages() async throws -> Int32 {
        var left = count
        if left == 0 { return ExitStatus.success }
        // A message comes again when it changes; it is printed once.
        var seen: Set<MessageID> = []
        for await event in backend.events {
            switch event {
            case .message(let message) where !message.isOutgoing && seen.insert(message.id).inserted:
                try console.line(formatter.line(message))
                left = left.map { $0 - 1 }
                if left == 0 { return ExitStatus.success }
            case .connection(.ended(let reason)):
                console.error("rivulet: \(reason)")
                return ExitStatus.failure
            default: break
            }
        }
        return ExitStatus.failure
    }
}

/// `rivulet history`: messages of the store, without a connection.
enum HistoryCommand {
    static let spec = CommandSpec(
        "history", summary: "Print the messages of a conversation from the store.",
        options: [
            Option(
                "--user", "-u", value: "ID", environment: "RIVULET_USER", isRequired: true,
                help: "Your user number.")
        ] + ClientOptions.storeOptions + [
            ClientOptions.serverOption,
            Option("--with", "-w", value: "ID", isRequired: true, help: "The other user's number."),
            Option("--limit", "-n", value: "N", default: "50", help: "How many, the latest ones."),
            Option("--json", help: "Print one JSON object a line."),
        ])

    /// How many messages one call prints at most.
    static let limitMax = 1_000_000

    static func run(_ arguments: Arguments, _ context: CommandContext) async throws -> Int32 {
        let user = try ClientOptions.user(arguments)
        let peer = try ClientOptions.positive("--with", arguments)
        let limit = try limit(arguments)
        let file = StoreFile(
            folder: try ClientOptions.storeFolder(arguments, context), user: user,
            server: try ClientOptions.server(arguments))
        guard let store = try file.openExisting() else {
            throw CommandError(
                "there is no store for user \(user.rawValue) at \(file.path); "
                    + "name its folder with --store and its server with --server")
        }
        let lines = MessageLines(isJSON: arguments.flag("--json"), time: context.time)
        let result: Result<Void, any Error>
        do {
            for message in try await newest(limit, of: .peer(peer), in: store) {
                try context.console.line(try lines.line(message))
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await store.close()
        try result.get()
        return ExitStatus.success
    }

    /// The newest messages, oldest first; more than a page is read page by page.
    private static func newest(
        _ limit: Int, of session: Session, in store: any AccountStore
    ) async throws -> [Message] {
        var messages: [Message] = []
        var place = PageQuery.Place.newest
        while messages.count < limit {
            let query = PageQuery(session: session, place: place, limit: limit - messages.count)
            let page = try await store.page(query)
            messages = page.messages + messages
            guard page.hasOlder, let first = page.messages.first else { break }
            place = .before(first.position)
        }
        return messages
    }

    private static func limit(_ arguments: Arguments) throws -> Int {
        let limit = try arguments.required("--limit", as: Int.self)
        guard (1...limitMax).contains(limit) else {
            throw arguments.usageError("--limit must lie between 1 and \(limitMax)")
        }
        return limit
    }
}
