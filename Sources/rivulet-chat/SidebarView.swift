import Foundation
import RivuletClient
import RivuletEngine
import RivuletFlow
import RivuletModel
import RivuletStore
import RivuletUI

/// The conversations, the newest first; what is searched for in them; and with whom another one can begin.
final class SidebarView: PlatformView {
    /// What the list shows while nothing is searched for.
    enum Mode {
        case conversations
        case newConversation
    }

    var onSelect: ((Session) -> Void)?
    /// Hears that a message was chosen among those that were found.
    var onSelectHit: ((Message) -> Void)?
    /// Hears that the keyboard is done here.
    var onLeave: (() -> Void)?
    /// Hears that the program's menu is wanted, which opens at this place of the sidebar.
    var onMenu: ((CGRect) -> Void)?
    private(set) var mode = Mode.conversations

    private let model: AccountModel
    private let search: SearchModel
    private let field = PlatformTextField(placeholder: SidebarView.searchHint)
    private let list = SidebarList()
    private lazy var page = PlatformPageView(list) { [weak list] _ in list?.fullHeight ?? 0 }
    private lazy var menu: PlatformButton = PlatformButton(
        label: Words.say("Main menu"), face: ButtonFace(.menu)
    ) {
        [weak self] in
        guard let self else { return }
        self.onMenu?(self.shownFrame(of: self.menu))
    }
    private lazy var add = PlatformButton(label: Words.say("New conversation"), face: ButtonFace(.add)) {
        [weak self] in self?.enter(.newConversation)
    }
    private lazy var back = PlatformButton(
        label: Words.say("Back to the conversations"), face: ButtonFace(.back)
    ) {
        [weak self] in self?.enter(.conversations)
    }
    private let title = PlatformTextView()
    private let lens = SearchLens()
    private var selected: Session?

    private static let searchHint = Words.say("Search chats and messages")
    private static let newHint = Words.say("Name or number")

    init(model: AccountModel) {
        self.model = model
        search = SearchModel(model: model)
        super.init()
        clipsToBounds = true
        mirrorsRightToLeft = true
        for view in [title, back, add, menu, field, lens, page.viewport] as [PlatformView] {
            addSubview(view)
        }
        back.isHidden = true
        listen()
        update()
    }

    private func listen() {
        field.onChange { [weak self] in
            guard let self else { return }
            if self.mode == .conversations { self.search.search(self.field.text) }
            self.update()
        }
        search.onChange = { [weak self] in self?.update() }
        search.onProblem = { [weak self] words in self?.model.onProblem?(words) }
        list.onLeaveUp = { [weak self] in self?.field.focus() }
        list.onFocus = { [weak self] row in self?.reveal(row) }
        field.onKey(isFirst: true) { [weak self] key in
            guard let self else { return false }
            switch key.name {
            case .down: return self.list.focusFirst()
            case .enter: self.list.openFirst()
            case .escape: self.leave()
            default: return false
            }
            return true
        }
        list.onKey { [weak self] key in
            guard key.name == .escape else { return false }
            self?.leave()
            return true
        }
    }

    func select(_ session: Session?) {
        selected = session
        update()
    }

    /// Opens the program's menu, as the button does.
    func openMenu() { onMenu?(shownFrame(of: menu)) }

    /// Takes the keyboard to the field in which is searched, for something new.
    func beginSearch() {
        enter(.conversations)
        field.focus()
    }

    /// Shows conversations, or those with whom one can begin.
    func enter(_ mode: Mode) {
        self.mode = mode
        field.text = ""
        field.placeholder = mode == .conversations ? Self.searchHint : Self.newHint
        search.search("")
        update()
        page.setContentOffset(0)
        if mode == .newConversation { field.focus() }
    }

    /// Escape: what was typed goes first, then the list that it was typed for, then the keyboard.
    private func leave() {
        if !field.text.isEmpty {
            field.text = ""
            field.focus()
        } else if mode != .conversations {
            enter(.conversations)
        } else {
            onLeave?()
        }
    }

    private func open(_ session: Session) {
        if mode != .conversations { enter(.conversations) }
        onSelect?(session)
    }

    // MARK: what is listed

    func update() {
        let isNew = mode == .newConversation
        title.color = Theme.current.text
        title.show(
            isNew ? Words.say("New conversation") : "Rivulet",
            style: PlatformTextStyle(
                size: 14 * PlatformApplication.textScale, lineHeight: 20, isBold: true, lineCountMax: 1))
        back.isHidden = !isNew
        add.isHidden = isNew
        menu.isHidden = isNew
        search.matchNames()
        list.accessibilityLabel =
            isNew
            ? Words.say("People") : search.isActive ? Words.say("Search results") : Words.say("Conversations")
        list.show(isNew ? newConversationItems() : search.isActive ? searchItems() : conversationItems())
        page.setNeedsLayout()
        setNeedsDisplay()
    }

    private func conversationItems() -> [SidebarItem] {
        guard !model.conversations.isEmpty else {
            return [.hint(Words.say("No conversations yet. Begin one with +."))]
        }
        return model.conversations.map { .entry(entry($0)) }
    }

    private func entry(_ conversation: Conversation) -> SidebarEntry {
        let session = conversation.session
        let face = RowFace.conversation(
            conversation, contacts: model.contacts, typists: model.live.typists(in: session),
            isSelected: session == selected, now: ChatAccount.systemTime(), zone: .current)
        return SidebarEntry(
            face: face, isSelected: session == selected, open: { [weak self] in self?.open(session) },
            actions: model.actions(for: conversation))
    }

    private func searchItems() -> [SidebarItem] {
        var items: [SidebarItem] = []
        if !search.conversations.isEmpty {
            items.append(.heading(Words.say("Chats")))
            for conversation in search.conversations {
                var entry = entry(conversation)
                entry.face.markTitle(search.words)
                items.append(.entry(entry))
            }
        }
        if !search.messages.isEmpty {
            items.append(.heading(Words.say("Messages")))
            for message in search.messages {
                let face = RowFace.hit(
                    message, query: search.words, contacts: model.contacts, now: ChatAccount.systemTime(),
                    zone: .current)
                items.append(
                    .entry(
                        SidebarEntry(face: face, open: { [weak self] in self?.onSelectHit?(message) })))
            }
        }
        if items.isEmpty {
            items.append(
                .hint(
                    search.isSearching
                        ? Words.say("Searching …") : Words.say("Nothing found for “%1”.", search.words)))
        }
        return items
    }

    private func newConversationItems() -> [SidebarItem] {
        let offers = NewConversation.offers(
            for: field.text, contacts: model.contacts, appID: model.account.service.appID)
        var items: [SidebarItem] = []
        for offer in offers {
            if let heading = offer.heading { items.append(.heading(heading)) }
            items.append(
                .entry(
                    SidebarEntry(face: offer.face, open: { [weak self] in self?.open(offer.session) })))
        }
        return items.isEmpty
            ? [.hint(Words.say("Nobody is called so. Type a number to write to any user."))] : items
    }

    // MARK: place and look

    /// Scrolls so that a row that has the keyboard is in view.
    private func reveal(_ row: PlatformView) {
        let (top, bottom) = (row.frame.minY, row.frame.maxY)
        let height = page.bounds.height
        if top < page.contentOffset {
            page.setContentOffset(top)
        } else if bottom > page.contentOffset + height {
            page.setContentOffset(bottom - height)
        }
    }

    func themeChanged() {
        update()
        list.drawAll()
        for view in [title, back, add, menu, field, lens, page.viewport] as [PlatformView] {
            view.setNeedsDisplay()
        }
        setNeedsLayout()
    }

    override func layoutSubviews() {
        let isNew = mode == .newConversation
        back.frame = CGRect(x: 8, y: 6, width: 36, height: 36)
        let left = isNew ? 52.0 : 60
        title.frame = CGRect(x: left, y: 14, width: max(0, bounds.width - left - 100), height: 24)
        menu.frame = CGRect(x: bounds.width - 48, y: 6, width: 36, height: 36)
        add.frame = CGRect(x: bounds.width - 90, y: 6, width: 36, height: 36)
        field.frame = CGRect(x: 12, y: 52, width: max(0, bounds.width - 24), height: 34)
        lens.frame = CGRect(x: 22, y: 61, width: 16, height: 16)
        page.viewport.frame = CGRect(x: 0, y: 92, width: bounds.width, height: max(0, bounds.height - 92))
    }

    override func draw(_ canvas: PlatformCanvas) {
        let theme = Theme.current
        canvas.fill(bounds, theme.sidebar)
        canvas.fill(CGRect(x: bounds.width - 1, y: 0, width: 1, height: bounds.height), theme.hairline)
        guard mode == .conversations else { return }
        let name = model.contacts.name(of: model.account.user, in: .peer(model.account.user))
        AvatarDrawing.draw(
            Initials.of(name), identity: model.account.user.rawValue,
            in: CGRect(x: 12, y: 8, width: 32, height: 32), size: 12, on: canvas)
    }
}

/// The sign in the field in which is searched.
final class SearchLens: PlatformView {
    init() {
        super.init(role: .decoration)
        isUserInteractionEnabled = false
    }

    override func draw(_ canvas: PlatformCanvas) {
        canvas.draw(.search, in: bounds.insetBy(dx: 1, dy: 1), Theme.current.dimText, width: 1.5)
    }
}
