internal import EditLineKit
internal import Foundation
internal import RivuletModel

/// A chat on a terminal: a line to type in, and everything else above it.
struct InteractiveChat: Sendable {
    let backend: any ChatBackend
    let peer: UserID
    let formatter: ChatFormatter
    let editor: LineEditor
    /// How many messages of the store are shown at the start.
    var historyCount = ChatInput.historyCountDefault
    /// A line to begin with.
    var greeting: String?

    private enum Event: Sendable {
        case typed(EditorInput)
        case chat(ChatModel.Event)
    }

    /// Chats until the person leaves; the terminal is then as it was before.
    ///
    /// - Returns: the exit status.
    func run() async throws -> Int32 {
        let (events, feed) = AsyncStream<Event>.makeStream()
        let reader = readLines(feed)
        let forwarder = Task {
            for await event in backend.events { feed.yield(.chat(event)) }
        }
        var model = ChatModel(peer: peer, formatter: formatter)
        let result: Result<Int32, any Error>
        do {
            if let greeting { editor.show(formatter.notice(greeting)) }
            try await backend.start()
            perform(model.handle(.history(try await backend.history(with: peer, limit: historyCount))))
            result = .success(try await chat(events, &model))
        } catch {
            result = .failure(error)
        }
        editor.cancel()
        await reader.value
        // From here on Ctrl-C ends a program whose server or disk does not let it go.
        editor.releaseSignals()
        await backend.stop()
        forwarder.cancel()
        if model.pendingCount > 0 {
            editor.show(formatter.notice("\(model.pendingCount) not sent yet; kept for the next time"))
        }
        editor.flush()
        return try result.get()
    }

    private func chat(_ events: AsyncStream<Event>, _ model: inout ChatModel) async throws -> Int32 {
        for await event in events {
            switch event {
            case .chat(let event): perform(model.handle(event))
            case .typed(.line(let line)):
                guard try await handle(ChatInput(line), &model) else { return ExitStatus.success }
            case .typed(.signal(let signal)): return 128 + signal.number
            case .typed(.endOfInput), .typed(.cancelled): return ExitStatus.success
            }
        }
        return ExitStatus.success
    }

    /// Does what a line says; false to leave.
    private func handle(_ input: ChatInput, _ model: inout ChatModel) async throws -> Bool {
        switch input {
        case .nothing: break
        case .quit: return false
        case .help: for line in ChatInput.helpLines { editor.show(formatter.notice(line)) }
        case .mistake(let text): editor.show(formatter.notice(text))
        case .history(let count):
            perform(model.handle(.recall(try await backend.history(with: peer, limit: count))))
        case .text(let text):
            do {
                _ = try await backend.send(text, to: peer)
            } catch {
                editor.show(formatter.notice("not sent: \(error)"))
            }
        }
        return true
    }

    private func perform(_ actions: [ChatModel.Action]) {
        for action in actions {
            switch action {
            case .show(let text, let id): editor.show(text, id: id)
            case .update(let id, let text, let otherwise): editor.update(id, text: text, otherwise: otherwise)
            }
        }
    }

    /// Reads lines on a thread of its own, since the editor blocks the one that it is on.
    private func readLines(_ feed: AsyncStream<Event>.Continuation) -> Task<Void, Never> {
        let editor = editor
        let (done, finish) = AsyncStream<Void>.makeStream()
        Thread.detachNewThread {
            while true {
                let input = editor.readLine()
                feed.yield(.typed(input))
                guard case .line(let line) = input, ChatInput(line) != .quit else { break }
            }
            finish.finish()
        }
        return Task { for await _ in done {} }
    }
}
