import RivuletModel
import Synchronization

@testable import RivuletCommands

/// A chat's other side under the control of a test.
final class FakeBackend: ChatBackend {
    let events: AsyncStream<ChatModel.Event>
    private let feed: AsyncStream<ChatModel.Event>.Continuation
    private let state = Mutex(State())

    private struct State {
        var sent: [Message] = []
        var isStopped = false
        var nextID: Int64 = 1
    }

    let stored: [Message]
    /// What becomes of each message as soon as it is sent; nil leaves it on its way.
    let answer: Message.State?

    init(stored: [Message] = [], answer: Message.State? = nil) {
        (events, feed) = AsyncStream.makeStream()
        self.stored = stored
        self.answer = answer
    }

    func start() async throws {
        feed.yield(.connection(.connected))
    }

    func history(with peer: UserID, limit: Int) async throws -> [Message] {
        Array(stored.suffix(limit))
    }

    func send(_ text: String, to peer: UserID) async throws -> String {
        let message = state.withLock { state in
            defer { state.nextID += 1 }
            var message = Message.sample(
                1000 + state.nextID, from: 7, with: peer.rawValue, text: text, state: .sending)
            message.uuid = "uuid-\(state.nextID)"
            state.sent.append(message)
            return message
        }
        feed.yield(.message(message))
        if let answer { settle(message, answer) }
        return message.uuid ?? ""
    }

    func stop() async {
        state.withLock { $0.isStopped = true }
        feed.finish()
    }

    func settle(_ message: Message, _ newState: Message.State) {
        var message = message
        message.state = newState
        feed.yield(.message(message))
    }

    func tell(_ event: ChatModel.Event) {
        feed.yield(event)
    }

    var sent: [Message] { state.withLock { $0.sent } }
    var isStopped: Bool { state.withLock { $0.isStopped } }
}

extension Message {
    /// 2026-11-30 10:42 UTC.
    static let sampleTime: Int64 = 1_796_035_320_000

    /// A message between user 7, who sits at the terminal, and another.
    static func sample(
        _ id: Int64, from sender: Int64, with peer: Int64 = 8, text: String, state: State = .received,
        time: Int64 = sampleTime
    ) -> Message {
        Message(
            id: MessageID(id), session: .peer(UserID(peer)), sender: UserID(sender), isOutgoing: sender == 7,
            position: MessagePosition(id), timeMilliseconds: time, content: .text(text), state: state)
    }
}
