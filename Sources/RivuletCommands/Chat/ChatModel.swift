internal import RivuletModel

/// How the connection of a chat stands.
enum ChatConnection: Hashable, Sendable {
    case connecting
    case connected
    /// Not connected; it is tried again after so many seconds, nil when that is not known.
    case offline(reason: String, retrySeconds: Int?)
    /// Over for good, such as after a refused token.
    case ended(reason: String)
}

/// What a chat shows, as a value: told what happens, it says what to print.
struct ChatModel {
    enum Event: Sendable {
        /// The latest messages of the store, at the start.
        case history([Message])
        /// The latest messages again, because the person asked.
        case recall([Message])
        /// A message came, was sent or changed.
        case message(Message)
        case connection(ChatConnection)
    }

    enum Action: Hashable {
        /// Print a text; the number finds it again.
        case show(String, id: Int?)
        /// Replace the text with this number if it is still the last, else print the other text.
        case update(Int, text: String, otherwise: String)
    }

    let peer: UserID
    private let formatter: ChatFormatter
    private var lastDay: String?
    private var shown: [MessageID: (number: Int, state: Message.State, text: String)] = [:]
    private var order: [MessageID] = []
    private var nextNumber = 1
    private var connection: ChatConnection?
    private var connectionNumber: Int?

    /// How many messages are remembered in order to update them; older ones are shown no more changes.
    private static let rememberedCountMax = 1000

    init(peer: UserID, formatter: ChatFormatter) {
        self.peer = peer
        self.formatter = formatter
    }

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .history(let messages): messages.flatMap { show($0) }
        case .recall(let messages): recall(messages)
        case .message(let message): changed(message)
        case .connection(let connection): changed(connection)
        }
    }

    /// The messages that the user sent here and that are not done.
    var pendingCount: Int {
        shown.values.count { $0.state.isPending }
    }

    /// Whether a message of the user failed.
    var hasFailed: Bool {
        shown.values.contains { $0.state.isFailed }
    }

    private mutating func changed(_ message: Message) -> [Action] {
        guard message.session == .peer(peer) else {
            // Another conversation: say that something came, not what.
            guard !message.isOutgoing, message.session.kind == .peer else { return [] }
            return [.show(formatter.notice("message from \(message.sender.rawValue)"), id: nil)]
        }
        guard let known = shown[message.id] else { return show(message) }
        let text = formatter.message(message)
        shown[message.id] = (known.number, message.state, text)
        // A message also changes in ways that no line shows, such as its place in the conversation.
        guard known.text != text else { return [] }
        connectionNumber = nil
        return [.update(known.number, text: text, otherwise: formatter.later(message))]
    }

    private mutating func show(_ message: Message) -> [Action] {
        guard shown[message.id] == nil else { return changed(message) }
        var actions: [Action] = []
        let day = formatter.time.day(message.timeMilliseconds)
        if day != lastDay {
            lastDay = day
            actions.append(.show(formatter.dayLine(message.timeMilliseconds), id: nil))
        }
        remember(message)
        connectionNumber = nil
        actions.append(.show(formatter.message(message), id: shown[message.id]?.number))
        return actions
    }

    private mutating func recall(_ messages: [Message]) -> [Action] {
        connectionNumber = nil
        var day: String?
        var lines = [formatter.notice(messages.isEmpty ? "no messages yet" : "the last \(messages.count)")]
        for message in messages {
            let next = formatter.time.day(message.timeMilliseconds)
            if next != day { lines.append(formatter.dayLine(message.timeMilliseconds)) }
            day = next
            lines.append(formatter.message(message))
        }
        return lines.map { .show($0, id: nil) }
    }

    private mutating func remember(_ message: Message) {
        shown[message.id] = (takeNumber(), message.state, formatter.message(message))
        order.append(message.id)
        guard order.count > ChatModel.rememberedCountMax else { return }
        // What still waits is kept: whether all was sent is asked of it.
        let oldest = order.removeFirst()
        if shown[oldest]?.state.isPending == true { order.append(oldest) } else { shown[oldest] = nil }
    }

    private mutating func changed(_ new: ChatConnection) -> [Action] {
        guard new != connection else { return [] }
        connection = new
        let text = formatter.notice(ChatModel.text(new))
        if let number = connectionNumber { return [.update(number, text: text, otherwise: text)] }
        let number = takeNumber()
        connectionNumber = number
        return [.show(text, id: number)]
    }

    private mutating func takeNumber() -> Int {
        defer { nextNumber += 1 }
        return nextNumber
    }

    static func text(_ connection: ChatConnection) -> String {
        switch connection {
        case .connecting: return "connecting…"
        case .connected: return "connected"
        case .offline(let reason, let seconds):
            let when = seconds.map { $0 > 0 ? ", retrying in \($0) s" : ", retrying" } ?? ""
            return "offline" + when + (reason.isEmpty ? "" : ": \(reason)")
        case .ended(let reason): return "disconnected: \(reason)"
        }
    }
}
