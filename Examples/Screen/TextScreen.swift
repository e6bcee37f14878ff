public import RivuletFlow
public import RivuletModel

/// A session on a screen of text: the part of these examples that a real app draws with widgets.
///
/// It shows what a view would show, one line for each row, and can wait until something is there.
@MainActor
public final class TextScreen: FlowObserver, DataManagerDelegate {
    /// The session's object.
    public let manager: DataManager
    private let title: String
    private var notes: [String] = []
    private let changes: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    /// Opens a session under a title.
    public init(
        _ title: String, _ session: Session, engine: Engine, configuration: SessionConfiguration,
        now: @escaping @Sendable () -> Int64, makeUUID: @escaping @Sendable () -> String
    ) {
        self.title = title
        (changes, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        manager = DataManager(
            session: session, engine: engine, configuration: configuration, now: now, makeUUID: makeUUID)
        manager.delegate = self
        manager.controller.addObserver(self)
        manager.controller.submit(.resized(LayoutSize(width: 480, height: 800)))
        manager.open()
    }

    /// The messages on screen, the oldest first.
    public var messages: [Message] { manager.controller.snapshot.messages }

    /// One line for each message.
    public var lines: [String] {
        messages.map { message in
            let state: String =
                switch message.state {
                case .received: ""
                case .failed(let reason): " [failed: \(reason)]"
                case .read(let count): " [read by \(count)]"
                default: " [\(message.state)]"
                }
            let reactions = message.reactions.map { " \($0.emoji)\($0.users.count)" }.joined()
            let edited = message.isEdited ? " (edited)" : ""
            return "\(message.sender.rawValue): \(message.content.summary)\(edited)\(reactions)\(state)"
        }
    }

    /// Waits until a line contains this.
    public func waitForLine(containing text: String) async {
        await wait { self.lines.contains { $0.contains(text) } }
    }

    /// Waits until the condition holds after something was shown.
    public func wait(until isDone: () -> Bool) async {
        manager.controller.drain()
        if isDone() { return }
        for await _ in changes where isDone() { break }
    }

    /// Prints what is on screen, and what the delegate heard.
    public func show() {
        print("── \(title)")
        for line in lines { print("   \(line)") }
        for note in notes { print("   ! \(note)") }
    }

    /// Keeps the session running while the body does.
    public func run(_ body: () async throws -> Void) async throws {
        let running = Task { [manager] in await manager.run() }
        defer { running.cancel() }
        try await body()
    }

    /// Tries something that a rule may forbid; what the rule said is shown.
    public func attempt(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let error as InteractionError where error.code == .vetoed {
            signal.yield()
        }
    }

    /// Something is shown.
    public func flow(_ controller: FlowController, didApply update: FlowUpdate) { signal.yield() }

    /// A rule said no.
    public func dataManager(
        _ manager: DataManager, didVeto call: MessageServiceCall, of message: Message, reason: String?
    ) {
        notes.append("\(call.rawValue) not allowed: \(reason ?? "no reason given")")
    }

    /// A call failed.
    public func dataManager(
        _ manager: DataManager, didFail call: MessageServiceCall, of message: Message, with error: any Error
    ) {
        notes.append("\(call.rawValue) failed")
    }
}
