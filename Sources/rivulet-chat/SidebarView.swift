import Foundation
import RivuletEngine
import RivuletFlow
import RivuletModel
import RivuletStore
import RivuletUI

/// The conversations, the newest first, with a field that narrows them down.
final class SidebarView: PlatformView {
    var onSelect: ((Session) -> Void)?
    var onToggleTheme: (() -> Void)?

    private let model: AccountModel
    private let search = PlatformTextField(placeholder: "Search chats")
    private let list: ConversationListView
    private lazy var page = PlatformPageView(list) { [weak list] _ in list?.fullHeight ?? 0 }
    private lazy var contrast = PlatformButton(
        label: "Switch between light and dark", face: ButtonFace(.contrast)
    ) {
        [weak self] in self?.onToggleTheme?()
    }
    private let title = PlatformTextView()
    private let lens = SearchLens()

    init(model: AccountModel) {
        self.model = model
        list = ConversationListView(model: model)
        super.init()
        clipsToBounds = true
        mirrorsRightToLeft = true
        addSubview(title)
        addSubview(contrast)
        addSubview(search)
        addSubview(lens)
        addSubview(page.viewport)
        search.onChange { [weak self] in self?.update() }
        list.onSelect = { [weak self] session in self?.onSelect?(session) }
        update()
    }

    func select(_ session: Session) {
        list.selected = session
        list.update()
    }

    func update() {
        title.color = Theme.current.text
        title.show(
            "Rivulet", style: PlatformTextStyle(size: 14, lineHeight: 20, isBold: true, lineCountMax: 1))
        let words = search.text.lowercased()
        list.conversations = model.conversations.filter { conversation in
            words.isEmpty || model.contacts.title(of: conversation.session).lowercased().contains(words)
                || (conversation.lastMessage?.content.summary.lowercased().contains(words) ?? false)
        }
        list.update()
        page.setNeedsLayout()
        setNeedsDisplay()
    }

    func themeChanged() {
        update()
        contrast.setNeedsDisplay()
        for view in [title, contrast, search, lens, page.viewport] as [PlatformView] {
            view.setNeedsDisplay()
        }
    }

    override func layoutSubviews() {
        title.frame = CGRect(x: 60, y: 14, width: max(0, bounds.width - 120), height: 20)
        contrast.frame = CGRect(x: bounds.width - 48, y: 6, width: 36, height: 36)
        search.frame = CGRect(x: 12, y: 52, width: max(0, bounds.width - 24), height: 34)
        lens.frame = CGRect(x: 22, y: 61, width: 16, height: 16)
        page.viewport.frame = CGRect(x: 0, y: 92, width: bounds.width, height: max(0, bounds.height - 92))
    }

    override func draw(_ canvas: PlatformCanvas) {
        let theme = Theme.current
        canvas.fill(bounds, theme.sidebar)
        canvas.fill(CGRect(x: bounds.width - 1, y: 0, width: 1, height: bounds.height), theme.hairline)
        let name = model.contacts.name(of: model.account.user, in: .peer(model.account.user))
        AvatarDrawing.draw(
            name, identity: model.account.user.rawValue, in: CGRect(x: 12, y: 8, width: 32, height: 32),
            size: 12,
            on: canvas)
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

/// One entry a conversation.
final class ConversationListView: PlatformView {
    static let rowHeight = 60.0

    var conversations: [Conversation] = []
    var selected: Session?
    var onSelect: ((Session) -> Void)?
    private let model: AccountModel
    private var rows: [ConversationRow] = []

    init(model: AccountModel) {
        self.model = model
        super.init(role: .list)
        mirrorsRightToLeft = true
        accessibilityLabel = "Conversations"
    }

    var fullHeight: Double { Double(conversations.count) * Self.rowHeight + 12 }

    func update() {
        while rows.count < conversations.count {
            let row = ConversationRow()
            rows.append(row)
            addSubview(row)
            row.onTap { [weak self, weak row] tap in
                guard let session = row?.session, !tap.isSecondary else { return }
                self?.onSelect?(session)
            }
            row.onKey { [weak self, weak row] key in
                guard key.name == .enter || key.name == .space, let session = row?.session else {
                    return false
                }
                self?.onSelect?(session)
                return true
            }
        }
        for (index, row) in rows.enumerated() {
            row.isHidden = index >= conversations.count
            guard index < conversations.count else { continue }
            row.show(conversations[index], model: model, isSelected: conversations[index].session == selected)
        }
        setNeedsLayout()
    }

    override func layoutSubviews() {
        for (index, row) in rows.enumerated() {
            row.frame = CGRect(
                x: 6, y: 2 + Double(index) * Self.rowHeight, width: max(0, bounds.width - 13),
                height: Self.rowHeight)
        }
    }
}

/// A conversation: picture, name, last message, time and what is unread.
final class ConversationRow: PlatformView {
    private(set) var session: Session?
    private var conversation: Conversation?
    private var title = ""
    private var preview = ""
    private var isDraft = false
    private var time = ""
    private var isSelected = false
    private var isHovered = false

    init() {
        super.init(role: .listItem)
        mirrorsRightToLeft = true
        isFocusable = true
        onHover { [weak self] point in
            guard let self, self.isHovered != (point != nil) else { return }
            self.isHovered = point != nil
            self.setNeedsDisplay()
        }
        onFocusChange { [weak self] _ in self?.setNeedsDisplay() }
    }

    func show(_ conversation: Conversation, model: AccountModel, isSelected: Bool) {
        self.conversation = conversation
        session = conversation.session
        self.isSelected = isSelected
        title = model.contacts.title(of: conversation.session)
        isDraft = !(conversation.draft ?? "").isEmpty && !isSelected
        preview = isDraft ? conversation.draft ?? "" : Self.preview(of: conversation, model: model)
        time = Self.time(of: conversation, model: model)
        let unread = conversation.unreadCount > 0 ? ", \(conversation.unreadCount) unread" : ""
        accessibilityLabel = "\(title), \(preview), \(time)\(unread)"
        setNeedsDisplay()
    }

    private static func preview(of conversation: Conversation, model: AccountModel) -> String {
        guard let message = conversation.lastMessage else { return "" }
        let words =
            MessageText.text(of: message).split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        guard conversation.session.kind == .group, !message.isOutgoing, message.sender.rawValue != 0 else {
            return words
        }
        let name = model.contacts.name(of: message.sender, in: message.session)
        return "\(name.split(separator: " ").first ?? ""): \(words)"
    }

    private static func time(of conversation: Conversation, model: AccountModel) -> String {
        guard let message = conversation.lastMessage else { return "" }
        return RowTime.text(
            milliseconds: message.timeMilliseconds, now: ChatAccount.systemTime(), zone: .current)
    }

    override func draw(_ canvas: PlatformCanvas) {
        let theme = Theme.current
        if isSelected || isHovered {
            canvas.fill(
                bounds, corners: PlatformCorners(12), isSelected ? theme.fill : theme.fill.opacity(0.55))
        }
        if isFocused {
            canvas.stroke(
                bounds.insetBy(dx: 1, dy: 1), corners: PlatformCorners(11), width: 2,
                theme.accent.opacity(0.7))
        }
        AvatarDrawing.draw(
            title, identity: session?.id ?? 0, in: CGRect(x: 12, y: 8, width: 44, height: 44), size: 15,
            on: canvas)
        let right = bounds.width - 12
        let timeText = PlatformText(time, style: PlatformTextStyle(size: 12, lineHeight: 16))
        canvas.draw(timeText, at: CGPoint(x: right - timeText.size.width, y: 12), theme.dimText)
        let titleText = PlatformText(
            title, style: PlatformTextStyle(isBold: true, lineCountMax: 1),
            width: right - timeText.size.width - 8 - 68)
        canvas.draw(titleText, at: CGPoint(x: 68, y: 10), theme.text)
        let badge = drawBadge(on: canvas, right: right)
        drawPreview(on: canvas, width: right - badge - 68)
    }

    private func drawPreview(on canvas: PlatformCanvas, width: Double) {
        let theme = Theme.current
        let prefix = isDraft ? "Draft: " : ""
        let spans =
            isDraft ? [PlatformTextSpan(0..<prefix.utf8.count, .colored(theme.failure))] : []
        let text = PlatformText(
            prefix + preview, style: PlatformTextStyle(size: 13, lineHeight: 18, lineCountMax: 1),
            width: width,
            spans: spans)
        canvas.draw(text, at: CGPoint(x: 68, y: 31), theme.dimText)
    }

    /// Draws the number of unread messages; answers the room that it takes.
    private func drawBadge(on canvas: PlatformCanvas, right: Double) -> Double {
        guard let conversation, conversation.unreadCount > 0 else { return 0 }
        let theme = Theme.current
        let words = conversation.unreadCount > 99 ? "99+" : "\(conversation.unreadCount)"
        let text = PlatformText(words, style: PlatformTextStyle(size: 11, lineHeight: 14, isBold: true))
        let width = max(18, text.size.width + 10)
        let rect = CGRect(x: right - width, y: 32, width: width, height: 18)
        canvas.fill(rect, corners: PlatformCorners(9), conversation.isMuted ? theme.dimText : theme.badge)
        canvas.draw(
            text, at: CGPoint(x: rect.midX - text.size.width / 2, y: rect.minY + 2),
            conversation.isMuted ? theme.sidebar : PlatformColor(0xFFFFFF))
        return width + 8
    }
}

/// Draws a name's initials on its colour.
enum AvatarDrawing {
    static func draw(
        _ name: String, identity: Int64, in rect: CGRect, size: Double, on canvas: PlatformCanvas
    ) {
        canvas.fill(rect, corners: PlatformCorners(rect.width / 2), Theme.identityColor(identity))
        let text = PlatformText(
            Initials.of(name), style: PlatformTextStyle(size: size, lineHeight: size + 6, isBold: true))
        canvas.draw(
            text,
            at: CGPoint(
                x: (rect.midX - text.size.width / 2).rounded(),
                y: (rect.midY - text.size.height / 2).rounded()),
            PlatformColor(0xFFFFFF))
    }
}
