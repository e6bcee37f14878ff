internal import Foundation
internal import RivuletModel
internal import Synchronization

/// A chat without a terminal: each line of standard input is sent, each message that arrives is printed as a line.
struct PipedChat: Sendable {
    let backend: any ChatBackend
    let peer: UserID
    let formatter: ChatFormatter
    let console: Console
    /// How long to wait for the server after the last line.
    let timeout: Duration
    /// How many messages the other side sends by itself; nil does not wait for answers.
    ///
    /// Otherwise the chat ends when each line was answered, too.
    var greetingCount: Int?

    /// How many sent messages may be without an answer before the next line is read.
    static let inFlightMax = 64

    private enum Event: Sendable {
        case line(String)
        case endOfInput
        case chat(ChatModel.Event)
        case timeout
    }

    private struct State {
        var waiting: Set<String> = []
        var settled: Set<String> = []
        var seen: Set<MessageID> = []
        var sentCount = 0
        var isAtEnd = false
        var hasFailed = false
        var connection: ChatConnection?
    }

    /// Chats until the input has ended and everything was answered.
    ///
    /// - Parameter input: the descriptor to read lines from.
    /// - Returns: the exit status: 1 if something was not sent.
    /// - Throws: what the backend cannot do at all, and ``OutputClosed``.
    func run(input: Int32) async throws -> Int32 {
        let (events, feed) = AsyncStream<Event>.makeStream()
        let forwarder = Task {
            for await event in backend.events { feed.yield(.chat(event)) }
        }
        defer { forwarder.cancel() }
        try await backend.start()
        // Made empty and then filled: libdispatch traps when a semaphore goes away below the value it was made with.
        let slots = DispatchSemaphore(value: 0)
        for _ in 0..<PipedChat.inFlightMax { slots.signal() }
        readLines(input, feed, slots)
        let timer = Mutex<Task<Void, Never>?>(nil)
        defer { timer.withLock { $0?.cancel() } }
        var state = State()
        do {
            for await event in events {
                try await handle(event, &state, slots)
                if case .endOfInput = event {
                    timer.withLock { [timeout] in
                        $0 = Task {
                            // Cancelled: nobody waits for the end any more.
                            guard (try? await Task.sleep(for: timeout)) != nil else { return }
                            feed.yield(.timeout)
                        }
                    }
                }
                if case .timeout = event { break }
                if isDone(state) { break }
                if case .ended = state.connection { break }
            }
        } catch {
            await backend.stop()
            throw error
        }
        await backend.stop()
        if !state.waiting.isEmpty {
            console.error(
                "rivulet: \(state.waiting.count) not acknowledged in time; kept in the store and sent the next time"
                    + PipedChat.hint(state.connection))
        }
        return state.hasFailed || !state.waiting.isEmpty ? ExitStatus.failure : ExitStatus.success
    }

    private func isDone(_ state: State) -> Bool {
        guard state.isAtEnd, state.waiting.isEmpty else { return false }
        guard let greetingCount else { return true }
        return state.seen.count >= greetingCount + state.sentCount
    }

    private func handle(_ event: Event, _ state: inout State, _ slots: DispatchSemaphore) async throws {
        switch event {
        case .line(let line):
            do {
                let uuid = try await backend.send(line, to: peer)
                state.sentCount += 1
                if state.settled.remove(uuid) == nil { state.waiting.insert(uuid) } else { slots.signal() }
            } catch {
                state.hasFailed = true
                console.error("rivulet: not sent: \(error)")
                slots.signal()
            }
        case .endOfInput: state.isAtEnd = true
        case .chat(.message(let message)): try received(message, &state, slots)
        case .chat(.connection(let connection)):
            state.connection = connection
            if case .ended(let reason) = connection {
                state.hasFailed = true
                console.error("rivulet: \(reason)")
            }
        case .chat, .timeout: break
        }
    }

    private func received(_ message: Message, _ state: inout State, _ slots: DispatchSemaphore) throws {
        guard message.isOutgoing else {
            guard message.session == .peer(peer), state.seen.insert(message.id).inserted else { return }
            try console.line(formatter.message(message))
            return
        }
        guard !message.state.isPending else { return }
        if case .failed(let reason) = message.state {
            state.hasFailed = true
            console.error("rivulet: not sent" + (reason.isEmpty ? "" : ": \(UntrustedText.line(reason))"))
        }
        // The answer may overtake the return of `send`.
        guard let uuid = message.uuid else { return }
        if state.waiting.remove(uuid) != nil { slots.signal() } else { state.settled.insert(uuid) }
    }

    static func hint(_ connection: ChatConnection?) -> String {
        guard let connection, connection != .connected else { return "" }
        return " (\(ChatModel.text(connection)))"
    }

    private func readLines(
        _ input: Int32, _ feed: AsyncStream<Event>.Continuation, _ slots: DispatchSemaphore
    ) {
        Thread.detachNewThread {
            let reader = LineReader(descriptor: input)
            while let line = reader.next() {
                guard line.contains(where: { !$0.isWhitespace }) else { continue }
                slots.wait()
                feed.yield(.line(line))
            }
            feed.yield(.endOfInput)
        }
    }
}
