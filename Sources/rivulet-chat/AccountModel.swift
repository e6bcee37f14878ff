import Foundation
import RivuletClient
import RivuletClientCore
import RivuletEngine
import RivuletFlow
import RivuletModel
import RivuletStore
import RivuletUI

/// The account as the window sees it: conversations, connection and flows, kept up to date from the store.
final class AccountModel {
    let account: ChatAccount
    let contacts: Contacts
    let images: ImageStore
    let measurer = PlatformTextMeasurer()
    let timeStyle = TimeLabelStyle()
    private(set) var conversations: [Conversation] = []
    private(set) var connection: ConnectionState = .unconnected
    /// Hears that the conversations changed.
    var onConversations: (() -> Void)?
    /// Hears that the connection changed.
    var onConnection: (() -> Void)?
    /// Hears what went wrong with something that the user did.
    var onProblem: ((String) -> Void)?

    private var flows: [WeakFlow] = []
    private var tasks: [Task<Void, Never>] = []
    private var isReading = false
    private var isStale = false

    private struct WeakFlow {
        weak var controller: FlowController?
    }

    init(account: ChatAccount, contacts: Contacts, images: ImageStore) {
        self.account = account
        self.contacts = contacts
        self.images = images
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
                    self?.connection = state
                    self?.onConnection?()
                }
            })
        account.start()
        readConversations()
    }

    /// Reads the conversations once, before the first one is opened.
    func load() async throws {
        conversations = try await account.conversations(limit: 200)
        onConversations?()
    }

    func stop() {
        for task in tasks { task.cancel() }
        tasks = []
    }

    // MARK: flows

    /// Makes the flow of a conversation.
    func makeFlow(_ session: Session, registry: MessageViewRegistry) -> FlowController {
        let store = account.store
        let quotes = contacts.quotes
        var configuration = FlowConfiguration()
        configuration.sizing = registry.sizing(measurer: measurer)
        configuration.zone = ZoneOffsets.system(around: ChatAccount.systemTime())
        configuration.timeLabelStyle = timeStyle
        configuration.decoration = DecorationRules(
            timeLabel: .any([.gapToPrevious(.seconds(600)), .dayChange]), showsDays: false)
        configuration.unread = unreadStretch(of: session)
        for kind in [MessageKind.text, .image] {
            configuration.appearance.configure(.footer, for: .kind(kind)) {
                $0.visibility = .always
                $0.layout.spacing = 0
            }
        }
        let controller = FlowController(
            session: session, configuration: configuration, now: ChatAccount.systemTime
        ) { request in
            try await Self.page(request, in: session, of: store, quotes: quotes)
        }
        flows.removeAll { $0.controller == nil }
        flows.append(WeakFlow(controller: controller))
        return controller
    }

    private func unreadStretch(of session: Session) -> UnreadStretch? {
        guard let conversation = conversations.first(where: { $0.session == session }),
            conversation.unreadCount > 0,
            let read = conversation.readPosition, let last = conversation.lastMessage
        else { return nil }
        return UnreadStretch(after: read, through: last.position)
    }

    @concurrent
    private nonisolated static func page(
        _ request: FlowLoadRequest, in session: Session, of store: any AccountStore, quotes: QuoteCache
    ) async throws -> MessagePage {
        let place: PageQuery.Place =
            switch request.target {
            case .latest: .newest
            case .older(let message): .before(message.position)
            case .newer(let message): .after(message.position)
            case .around(let id): .around(id)
            }
        do {
            let page = try await store.page(PageQuery(session: session, place: place, limit: request.limit))
            for message in page.messages { quotes.keep(message) }
            for case let uuid? in page.messages.map(\.reference) where quotes.message(uuid) == nil {
                if let quoted = try await store.message(uuid: uuid) { quotes.keep(quoted) }
            }
            return MessagePage(messages: page.messages, hasOlder: page.hasOlder, hasNewer: page.hasNewer)
        } catch {
            throw FlowFailure(code: "store", message: "The messages on this device could not be read.")
        }
    }

    private func take(_ changes: StoreChanges) {
        for message in changes.inserted + changes.updated { contacts.quotes.keep(message) }
        for entry in flows {
            guard let controller = entry.controller else { continue }
            let session = controller.session
            let sent = changes.inserted.filter {
                $0.session == session && $0.isOutgoing && $0.state.isPending
            }
            let arrived = changes.inserted.filter {
                $0.session == session && !($0.isOutgoing && $0.state.isPending)
            }
            if !sent.isEmpty { controller.submit(.sent(sent)) }
            if !arrived.isEmpty { controller.submit(.arrived(arrived)) }
            let updated = changes.updated.filter { $0.session == session }
            if !updated.isEmpty { controller.submit(.updated(updated)) }
            if !changes.deleted.isEmpty { controller.submit(.deleted(changes.deleted)) }
            if changes.cleared.contains(session) { controller.submit(.reloadRequested) }
        }
        if !changes.sessions.isEmpty || !changes.cleared.isEmpty { readConversations() }
    }

    /// Reads the list anew; one read at a time, and one more when something changed meanwhile.
    private func readConversations() {
        guard !isReading else {
            isStale = true
            return
        }
        isReading = true
        tasks.append(
            Task { [weak self] in
                guard let self else { return }
                repeat {
                    isStale = false
                    do {
                        conversations = try await account.conversations(limit: 200)
                        onConversations?()
                    } catch {
                        onProblem?("The conversations on this device could not be read.")
                    }
                } while isStale
                isReading = false
            })
    }

    // MARK: what the user does

    func send(_ text: String, to session: Session, reference: String? = nil) {
        attempt("The message could not be sent.") { account in
            try account.post(.text(text), to: session, reference: reference)
        }
    }

    func resend(_ message: Message) {
        attempt("The message could not be sent again.") { try await $0.resend(message) }
    }

    func forward(_ message: Message, to session: Session) {
        attempt("The message could not be forwarded.") { try $0.post(message.content, to: session) }
    }

    func revoke(_ message: Message) {
        attempt("The message could not be recalled.") { try await $0.revoke(message) }
    }

    func delete(_ message: Message) {
        attempt("The message could not be deleted.") { _ = try await $0.store.apply([.delete(message.id)]) }
    }

    func markRead(_ session: Session) {
        guard conversations.first(where: { $0.session == session })?.unreadCount ?? 0 > 0 else { return }
        attempt("") { try await $0.markRead(session) }
    }

    func setDraft(_ text: String, in session: Session) {
        attempt("") { _ = try await $0.store.apply([.setDraft(session, text)]) }
    }

    private func attempt(_ problem: String, _ work: @escaping @Sendable (ChatAccount) async throws -> Void) {
        let account = account
        tasks.removeAll { $0.isCancelled }
        tasks.append(
            Task { [weak self] in
                do {
                    try await work(account)
                } catch {
                    guard !problem.isEmpty, !(error is CancellationError) else { return }
                    self?.onProblem?(problem)
                }
            })
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
