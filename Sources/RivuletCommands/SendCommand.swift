internal import RivuletArguments
internal import RivuletModel

/// `rivulet send`: one message, and the server's word for it.
struct SendCommand: Sendable {
    let backend: any ChatBackend
    let peer: UserID
    let text: String
    let timeout: Duration
    let console: Console

    static let spec = CommandSpec(
        "send", summary: "Send one message and wait until the server has it.",
        discussion: """
            The exit status is 0 only when the server acknowledged the message. One that was not acknowledged in time \
            stays in the store and goes out with the next command that connects.
            """,
        options: ClientOptions.options + [
            Option("--to", "-t", value: "ID", isRequired: true, help: "The receiver's user number."),
            Option("--timeout", value: "TIME", default: "10s", help: "How long to wait."),
        ],
        positionals: [
            Positional(
                "TEXT", isRepeated: true,
                help: "The text; several words are joined. '-' reads standard input.")
        ])

    static func run(_ arguments: Arguments, _ context: CommandContext) async throws -> Int32 {
        let peer = try ClientOptions.positive("--to", arguments)
        let timeout = try arguments.required("--timeout", as: Duration.self)
        let options = try ClientOptions.read(arguments, context)
        let command = SendCommand(
            backend: IMBackend(options, now: context.now), peer: peer,
            text: try text(arguments, input: context.input), timeout: timeout, console: context.console)
        return try await Interruptible.run { try await command.run() }
    }

    private enum Outcome: Sendable {
        case accepted
        case failed(String)
        case late(ChatConnection?)
    }

    /// The text that the arguments name.
    static func text(_ arguments: Arguments, input: Int32) throws -> String {
        let words = arguments.strings("TEXT")
        var text = words == ["-"] ? LineReader(descriptor: input).rest() : words.joined(separator: " ")
        // The line break at the end of a file is no part of the message.
        if text.hasSuffix("\n") { text.removeLast() }
        guard text.contains(where: { !$0.isWhitespace }) else {
            throw arguments.usageError("the text is empty")
        }
        return text
    }

    func run() async throws -> Int32 {
        let outcome: Outcome
        do {
            try await backend.start()
            outcome = try await send()
        } catch {
            await backend.stop()
            throw error
        }
        await backend.stop()
        switch outcome {
        case .accepted:
            try console.line("✓ accepted")
            return ExitStatus.success
        case .failed(let reason):
            console.error("rivulet: not sent: \(reason)")
        case .late(let connection):
            console.error(
                "rivulet: not acknowledged in \(timeout.words); kept in the store and sent the next time"
                    + PipedChat.hint(connection))
        }
        return ExitStatus.failure
    }

    private func send() async throws -> Outcome {
        try await withThrowingTaskGroup(of: Outcome?.self) { group in
            group.addTask { try await watch() }
            group.addTask {
                try await Task.sleep(for: timeout)
                return nil
            }
            defer { group.cancelAll() }
            if case .some(.some(let outcome)) = try await group.next() { return outcome }
            // The time is over: the watcher ends now and knows how the connection stands.
            group.cancelAll()
            return try await group.next().flatMap(\.self) ?? .late(nil)
        }
    }

    /// Sends and follows the message; cancelled when the time is over.
    private func watch() async throws -> Outcome {
        let uuid = try await backend.send(text, to: peer)
        var connection: ChatConnection?
        for await event in backend.events {
            switch event {
            case .connection(.ended(let reason)): return .failed(reason)
            case .connection(let new): connection = new
            case .message(let message) where message.uuid == uuid && !message.state.isPending:
                if case .failed(let reason) = message.state { return .failed(reason) }
                return .accepted
            default: break
            }
        }
        return .late(connection)
    }
}

extension Duration {
    /// `10 s` or `0.5 s`, for sentences.
    var words: String {
        let (seconds, attoseconds) = components
        let tenths = attoseconds / 100_000_000_000_000_000
        return tenths == 0 ? "\(seconds) s" : "\(seconds).\(tenths) s"
    }
}
