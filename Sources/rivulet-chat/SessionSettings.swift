import RivuletEngine
import RivuletFlow
import RivuletModel
import RivuletStore
import RivuletUI

nonisolated extension MessageMenuItem.ID {
    /// Changes the text of one's own message.
    static let edit = MessageMenuItem.ID(rawValue: "edit")
    /// Puts an emoji under the message.
    static let react = MessageMenuItem.ID(rawValue: "react")
    /// Begins to select messages.
    static let select = MessageMenuItem.ID(rawValue: "select")
}

extension AccountModel {
    /// The largest group whose members each get word that somebody has read their message.
    static let receiptMemberCountMax = 50

    /// What this app decides about a conversation; everything else is the interaction layer's own.
    func configuration(of session: Session, registry: MessageViewRegistry) -> SessionConfiguration {
        var configuration = SessionConfiguration()
        configuration.strings = Words.strings
        configuration.flow.sizing = registry.sizing(measurer: measurer)
        configuration.flow.zone = ZoneOffsets.system(around: ChatAccount.systemTime())
        configuration.timeLabelStyle = timeStyle
        configuration.timeLabelRule = .any([.gapToPrevious(.seconds(600)), .dayChange])
        configuration.showsDays = false
        for kind in [MessageKind.text, .image] {
            configuration.look.configure(.footer, for: .kind(kind)) {
                $0.visibility = .always
                $0.layout.spacing = 0
            }
        }
        let isRoom = session.kind == .room
        if !isRoom { configuration.menu = MessageMenu(edit: Self.editMenu) }
        configuration.prechecks = [LengthPrecheck()]
        configuration.preparations = [PicturePreparation()]
        if !isRoom {
            configuration.provider = QuotingProvider(
                base: account.engine.provider, store: account.store, quotes: contacts.quotes)
        }
        configuration.selection.isAllowed = !isRoom
        configuration.receipts = isRoom ? .none : wantsReceipts(session) ? .eachMessage : .mark
        let names = contacts.names
        configuration.userName = { names[$0] ?? Words.say("User %1", "\($0.rawValue)") }
        return configuration
    }

    private func wantsReceipts(_ session: Session) -> Bool {
        switch session.kind {
        case .peer: true
        case .group: contacts.memberCount(of: session).map { $0 <= Self.receiptMemberCountMax } ?? false
        default: false
        }
    }

    private nonisolated static let editMenu: MessageMenu.Edit = { items, message, _ in
        guard message.content != .revoked, message.uuid != nil else { return }
        let isOut = !message.state.isPending && !message.state.isFailed
        guard isOut, items.contains(where: { $0.id == .reply }) else { return }
        items.insert(MessageMenuItem(id: .react, title: Words.say("React …")), at: 0)
        let end = items.firstIndex { $0.isDestructive } ?? items.endIndex
        if message.isOutgoing, message.content.kind == .text {
            items.insert(MessageMenuItem(id: .edit, title: Words.say("Edit")), at: end)
        }
        items.insert(
            MessageMenuItem(id: .select, title: Words.say("Select")),
            at: items.firstIndex { $0.isDestructive } ?? end)
    }
}

/// Refuses a text that no frame can carry, before anything happens.
nonisolated struct LengthPrecheck: MessageServicePrechecker {
    /// The frame has 32,767 bytes; the rest is for what surrounds the text, which JSON may write longer.
    static let byteCountMax = 24_000

    func shouldSend(message: Message, in session: Session) -> Bool {
        (message.content.text?.utf8.count ?? 0) <= Self.byteCountMax
    }

    func vetoReason(for call: MessageServiceCall, message: Message) -> String? {
        Words.say("This text is too long for one message.")
    }
}

/// Gives the account's pages, and looks up the messages that those in a page answer, so that they can be quoted.
nonisolated struct QuotingProvider: SessionMessageProvider {
    let base: any SessionMessageProvider
    let store: any AccountStore
    let quotes: QuoteCache

    func messages(
        in session: Session, anchorMessage: Message?, direction: PageDirection, limit: Int
    ) async throws -> MessagePage {
        try await quoting {
            try await base.messages(
                in: session, anchorMessage: anchorMessage, direction: direction, limit: limit)
        }
    }

    func messages(in session: Session, around id: MessageID, limit: Int) async throws -> MessagePage {
        try await quoting { try await base.messages(in: session, around: id, limit: limit) }
    }

    func message(in session: Session, sentFrom milliseconds: Int64) async throws -> Message? {
        try await base.message(in: session, sentFrom: milliseconds)
    }

    func readPosition(in session: Session) async throws -> MessagePosition? {
        try await base.readPosition(in: session)
    }

    private func quoting(_ read: () async throws -> MessagePage) async throws -> MessagePage {
        do {
            let page = try await read()
            for message in page.messages { quotes.keep(message) }
            for case let uuid? in page.messages.map(\.reference) where quotes.message(uuid) == nil {
                if let quoted = try await store.message(uuid: uuid) { quotes.keep(quoted) }
            }
            return page
        } catch let error as StoreError {
            throw FlowFailure(
                code: "\(error.code)", message: Words.say("The messages on this device could not be read."))
        }
    }
}
