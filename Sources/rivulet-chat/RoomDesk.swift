import RivuletEngine
import RivuletFlow
import RivuletModel
import RivuletStore

/// The chat rooms of the list: which ones the user entered, and what was said there last.
///
/// Nothing of rooms is kept on this device but the user's choices, and a connection is in one room at a time: what is
/// said in the room that was opened last is heard as long as the program runs.
final class RoomDesk {
    /// Hears that the list of rooms changed.
    var onChange: (() -> Void)?
    /// Hears which rooms there are now, to keep them for the next start.
    var onRooms: (([Int64]) -> Void)?
    /// The conversation that somebody looks at; what comes there is not unread.
    var watched: Session?

    /// The rooms as lines of the list.
    private(set) var lines: [Conversation] = []
    let rooms: RoomEngine
    private let account: ChatAccount
    private var tuned: Session?
    private var listening: Task<Void, Never>?
    private var readings: [Task<Void, Never>] = []

    init(account: ChatAccount, history: (any SessionMessageProvider)?) {
        self.account = account
        rooms = RoomEngine(account: account, history: history)
    }

    /// Puts the rooms of the last time on the list, and listens to the first one.
    func load(_ ids: [Int64]) async {
        for id in ids where id > 0 && !lines.contains(where: { $0.session == .room(id) }) {
            lines.append(Conversation(session: .room(id)))
        }
        await readChoices()
        // A server that does not answer must not keep the window closed.
        readings.append(
            Task { [weak self] in
                for session in self?.lines.map(\.session) ?? [] { await self?.readLast(session) }
            })
        if let first = lines.first { tune(first.session) }
    }

    func stop() {
        listening?.cancel()
        for task in readings { task.cancel() }
    }

    /// Enters a room, which is on the list from then on.
    func enter(_ session: Session) {
        guard session.kind == .room else { return }
        if !lines.contains(where: { $0.session == session }) {
            lines.append(Conversation(session: session))
            onRooms?(lines.map(\.session.id))
            readings.append(
                Task { [weak self] in
                    await self?.readChoices()
                    await self?.readLast(session)
                })
        }
        tune(session)
        onChange?()
    }

    /// Leaves a room and takes it off the list.
    func remove(_ session: Session) {
        lines.removeAll { $0.session == session }
        onRooms?(lines.map(\.session.id))
        if tuned == session {
            listening?.cancel()
            tuned = nil
            if let next = lines.first { tune(next.session) }
        }
        onChange?()
    }

    /// Listens to what is said in a room, instead of the one before.
    private func tune(_ session: Session) {
        guard tuned != session else { return }
        listening?.cancel()
        tuned = session
        let events = rooms.events(in: session)
        listening = Task { [weak self] in
            for await event in events {
                if case .arrived(let messages) = event { self?.take(messages) }
            }
        }
    }

    private func take(_ messages: [Message]) {
        for message in messages {
            guard let place = lines.firstIndex(where: { $0.session == message.session }) else { continue }
            lines[place].lastMessage = message
            if !message.isOutgoing, message.session != watched { lines[place].unreadCount += 1 }
        }
        onChange?()
    }

    /// Takes note that these messages were in view.
    func see(_ messages: [Message]) {
        guard let last = messages.last(where: { $0.session.kind == .room }),
            let place = lines.firstIndex(where: { $0.session == last.session })
        else { return }
        let known = lines[place].lastMessage?.timeMilliseconds ?? 0
        guard last.timeMilliseconds > known || lines[place].unreadCount > 0 else { return }
        if last.timeMilliseconds > known { lines[place].lastMessage = last }
        lines[place].unreadCount = 0
        onChange?()
    }

    func markRead(_ session: Session) {
        guard let place = lines.firstIndex(where: { $0.session == session }) else { return }
        lines[place].unreadCount = 0
        onChange?()
    }

    /// Reads what the user chose for the rooms: pinned, muted.
    func readChoices() async {
        for session in lines.map(\.session) {
            let choices: Conversation?
            do {
                choices = try await account.store.conversation(session)
            } catch {
                // The room is there without them.
                continue
            }
            guard let place = lines.firstIndex(where: { $0.session == session }) else { continue }
            lines[place].isPinned = choices?.isPinned ?? false
            lines[place].isMuted = choices?.isMuted ?? false
        }
        onChange?()
    }

    /// Reads what was said last, from the server's history.
    private func readLast(_ session: Session) async {
        do {
            let page = try await rooms.messages(
                in: session, anchorMessage: nil, direction: .older, limit: 1)
            guard let place = lines.firstIndex(where: { $0.session == session }),
                lines[place].lastMessage == nil
            else { return }
            lines[place].lastMessage = page.messages.last
            onChange?()
        } catch {
            // Without history the line fills with what is said from now on.
            return
        }
    }
}
