import ExampleSupport
import Foundation
import RivuletClient
import RivuletEngine
import RivuletModel
import RivuletStore
import RivuletWire
import Synchronization

/// A chat in which `/share SECONDS`, `/at LATITUDE LONGITUDE` and `/stop` share a place that moves.
@main struct LocationChat {
    static func main() async throws {
        var kinds = ContentRegistry()
        try kinds.register(LiveLocation.self)
        try kinds.register(Position.self)
        let chat = try ExampleChat(arguments: CommandLine.arguments, kinds: kinds)
        let sharing = Sharing(chat)
        let viewer = Viewer(chat)
        chat.account.service.addRTMessageObserver(viewer)

        try await chat.run { line in
            if try await sharing.handle(line) { return }
            try await chat.account.send(text: line, to: chat.session)
        } change: { changes in
            for message in changes.inserted where !message.isOutgoing { await viewer.show(message) }
        }
    }
}

/// The side that shares.
final class Sharing: Sendable {
    private struct State {
        var current: LiveLocation?
        var pace = PositionPace()
    }

    private let chat: ExampleChat
    private let state = Mutex(State())

    init(_ chat: ExampleChat) {
        self.chat = chat
    }

    /// Performs a command; false when the line is none.
    func handle(_ line: String) async throws -> Bool {
        let words = line.split(separator: " ")
        switch words.first {
        case "/share":
            let seconds = words.count > 1 ? Int64(words[1]) ?? 60 : 60
            let start = LiveLocation(
                session: UUID().uuidString, untilMilliseconds: now() + max(1, min(seconds, 86_400)) * 1_000)
            state.withLock { $0.current = start }
            try await chat.account.send(.custom(start), to: chat.session)
            chat.say("sharing")
        case "/at" where words.count == 3:
            guard let latitude = Double(words[1]), let longitude = Double(words[2]) else { return false }
            try send(latitude, longitude)
        case "/stop":
            guard var end = state.withLock({ exchange(&$0.current, with: nil) }) else { return true }
            end.ended = 1
            try await chat.account.send(.custom(end), to: chat.session)
            chat.say("no longer sharing")
        default: return false
        }
        return true
    }

    private func send(_ latitude: Double, _ longitude: Double) throws {
        let now = now()
        let session = state.withLock { state -> String? in
            guard let current = state.current, current.untilMilliseconds > now, state.pace.allows(now) else {
                return nil
            }
            return current.session
        }
        guard let session else { return chat.say("not sent") }
        let position = Position(
            session: session, latitude: latitude, longitude: longitude, timeMilliseconds: now)
        let content = try chat.account.codec.encode(.custom(position), envelope: ContentEnvelope())
        let message = RTMessage(
            sender: chat.account.user.rawValue, receiver: chat.partner.rawValue, content: content)
        chat.say(chat.account.service.sendRTMessage(message) ? "sent" : "not sent")
    }

    private func now() -> Int64 { ChatAccount.systemTime() }
}

/// The side that looks on.
@MainActor final class Viewer: RTMessageObserver {
    private let chat: ExampleChat
    private var places = SharedPlaces()

    init(_ chat: ExampleChat) {
        self.chat = chat
    }

    /// A stored message: the start or the end of a sharing, or anything else.
    func show(_ message: Message) {
        chat.say("\(message.sender.rawValue): \(message.content.summary)")
        guard case .custom(let box) = message.content, let location = box.cast(to: LiveLocation.self) else {
            return
        }
        places.take(location, from: message.sender, at: ChatAccount.systemTime())
    }

    /// A live message; others than positions are not for this program.
    func onRTMessage(_ message: RTMessage) {
        guard case .custom(let box)? = chat.account.codec.decode(message.content).control,
            let position = box.cast(to: Position.self),
            places.take(position, from: UserID(message.sender), at: ChatAccount.systemTime())
        else { return }
        chat.say("\(message.sender) is at \(position.summary)")
        Task {
            try await Task.sleep(for: .milliseconds(SharedPlaces.staleMilliseconds))
            let isLast = places.places[position.session]?.position == position
            if isLast, SharedPlaces.isStale(position, at: ChatAccount.systemTime()) {
                chat.say("\(message.sender) was at \(position.summary) 30 s ago")
            }
        }
    }
}

/// Puts a new value into a variable and answers the old one.
private func exchange<Value>(_ variable: inout Value, with new: Value) -> Value {
    defer { variable = new }
    return variable
}
