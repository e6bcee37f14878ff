import Foundation
import RivuletClient
import RivuletClientCore
import RivuletEngine
import RivuletFlow
import RivuletModel
import RivuletStore
import RivuletUI

/// The account as the window sees it: its conversations and its connection, kept up to date from the store.
final class AccountModel {
    /// How many conversations the list shows.
    static let conversationCountMax = 200
    /// How long live news may wait for each other before the list shows them.
    static let listPause = Duration.milliseconds(60)

    let account: ChatAccount
    let contacts: Contacts
    let images: ImageStore
    let sounds = SoundStore()
    let live: LiveSigns
    let rooms: RoomDesk
    let engines: SessionEngines
    let measurer = PlatformTextMeasurer()
    let timeStyle = TimeLabelStyle(Words.strings.times)
    private(set) var conversations: [Conversation] = []
    private(set) var connection: ConnectionState = .unconnected
    /// Where the reader left each conversation in this run.
    var positions: [Session: FlowPosition] = [:]
    /// Hears that the conversations changed.
    var onConversations: (() -> Void)?
    /// Hears that the connection changed.
    var onConnection: (() -> Void)?
    /// Hears what went wrong with something that the user did.
    var onProblem: ((String) -> Void)?

    /// Hears that other countdowns stand beside bubbles.
    var onRemarks: (([MessageID: String]) -> Void)?

    /// Hears that a conversation is no longer on the list.
    var onRemoved: ((Session) -> Void)?

    private var stored: [Conversation] = []
    private var showing: Task<Void, Never>?
    private var burning = BurnClock()
    private var countingDown: Task<Void, Never>?
    private let started = ContinuousClock.now
    private var tasks: [Task<Void, Never>] = []
    private var isReading = false
    private var isStale = false

    /// Makes the model of an account.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - contacts: Who is who.
    ///   - images: Where pictures come from.
    ///   - roomHistory: Gives what was said in rooms before; nil for a server without.
    init(
        account: ChatAccount, contacts: Contacts, images: ImageStore,
        roomHistory: (any SessionMessageProvider)? = nil
    ) {
        self.account = account
        self.contacts = contacts
        self.images = images
        live = LiveSigns(account: account)
        rooms = RoomDesk(account: account, history: roomHistory)
        engines = SessionEngines(
            account.engine, [.room: rooms.rooms.engine], makeUUID: ChatAccount.systemUUID)
        contacts.reader = account.user
        rooms.onChange = { [weak self] in self?.showSoon() }
        live.onAny = { [weak self] in self?.showSoon() }
    }

    /// Connects and begins to listen.
    func start() {
        let changes = account.changes()
        tasks.append(
            Task { [weak self] in
                for await change in changes { self?.take(change) }
            })
        let states = account.service.connectionStates()
        tasks.append(
            Task { [weak self] in
                for await state in states {
                    self?.take(state)
                }
            })
        live.start()
        account.start()
        readConversations()
    }

    /// Reads the conversations once, before the first one is opened.
    func load() async throws {
        try await readPeople()
        stored = try await account.conversations(limit: Self.conversationCountMax)
        showConversations()
    }

    private func take(_ state: ConnectionState) {
        connection = state
        if state == .authenticated { live.askForPresence() } else { live.forgetPresence() }
        onConnection?()
    }

    func stop() {
        live.stop()
        rooms.stop()
        for task in tasks { task.cancel() }
        tasks = []
        countingDown?.cancel()
        showing?.cancel()
    }

    // MARK: what burns

    /// What stands beside the bubbles that burn.
    var remarks: [MessageID: String] { burning.remarks(at: elapsed) }

    private var elapsed: Duration { ContinuousClock.now - started }

    /// Takes note that rows were in view, where the countdown of what burns begins.
    func see(_ messages: [Message]) {
        for message in messages { burning.see(message, at: elapsed) }
        guard !burning.isEmpty, countingDown == nil else { return }
        countingDown = Task { [weak self] in
            while let self, !self.burning.isEmpty, !Task.isCancelled {
                self.burnDue()
                self.onRemarks?(self.remarks)
                do { try await Task.sleep(for: .milliseconds(250)) } catch { break }
            }
            self?.countingDown = nil
        }
    }

    private func burnDue() {
        for burnt in burning.takeDue(at: elapsed) {
            do {
                // Through the outbox, so that the other side hears of it in any case.
                try account.post(.custom(BurnedNote(msgid: burnt.uuid)), to: burnt.session)
            } catch {
                onProblem?(Words.say("A message that should have burned is still there."))
            }
        }
    }

    func conversation(_ session: Session) -> Conversation? {
        conversations.first { $0.session == session }
    }

    private func take(_ changes: StoreChanges) {
        live.noteMessages(changes.inserted)
        for message in changes.inserted + changes.updated { contacts.quotes.keep(message) }
        if !changes.groups.isEmpty || !changes.contacts.isEmpty { readPeopleAgain() }
        if !changes.sessions.isEmpty || !changes.cleared.isEmpty { readConversations() }
    }

    /// Reads who is who, as far as the store knows: contacts, and groups as the server told of them.
    private func readPeople() async throws {
        for contact in try await account.store.contacts() { contacts.keep(contact) }
        for group in try await account.store.groups() {
            contacts.keep(group, memberCount: try await account.store.members(of: group.id).count)
        }
    }

    private func readPeopleAgain() {
        Task { [weak self] in
            do {
                try await self?.readPeople()
                self?.showConversations()
            } catch {
                // Names stay as they were.
                return
            }
        }
    }

    /// Shows the list once for all that happens within a moment: a busy room must not keep the window busy.
    private func showSoon() {
        guard showing == nil else { return }
        showing = Task { [weak self] in
            do { try await Task.sleep(for: Self.listPause) } catch { return }
            self?.showing = nil
            self?.showConversations()
        }
    }

    private func showConversations() {
        conversations = Self.merged(stored, rooms: rooms.lines)
        onConversations?()
    }

    /// Reads the list anew; one read at a time, and one more when something changed meanwhile.
    private func readConversations() {
        guard !isReading else {
            isStale = true
            return
        }
        isReading = true
        Task { [weak self] in
            guard let self else { return }
            repeat {
                isStale = false
                do {
                    stored = try await account.conversations(limit: Self.conversationCountMax)
                    showConversations()
                } catch {
                    onProblem?(Words.say("The conversations on this device could not be read."))
                }
            } while isStale
            isReading = false
        }
    }

    /// Marks as read what has no name by which a mark could be told: messages of the oldest clients.
    func markRead(_ session: Session) {
        guard let conversation = conversation(session), conversation.unreadCount > 0,
            let last = conversation.lastMessage, last.uuid == nil
        else { return }
        Task { [account, weak self] in
            do {
                try await account.markRead(session)
            } catch {
                self?.onProblem?(Words.say("What was read could not be kept."))
            }
        }
    }
}

extension ZoneOffsets {
    /// The system's time zone with its changes in the years around a time.
    static func system(around milliseconds: Int64) -> ZoneOffsets {
        let zone = TimeZone.current
        let start = Date(timeIntervalSince1970: Double(milliseconds) / 1_000 - 3 * 366 * 86_400)
        var transitions: [Transition] = []
        var moment = start
        while transitions.count < 16, let next = zone.nextDaylightSavingTimeTransition(after: moment) {
            transitions.append(
                Transition(
                    atSeconds: Int64(next.timeIntervalSince1970),
                    offsetSeconds: Int32(zone.secondsFromGMT(for: next))))
            moment = next.addingTimeInterval(1)
        }
        return ZoneOffsets(
            firstOffsetSeconds: Int32(zone.secondsFromGMT(for: start)), transitions: transitions)
    }
}
