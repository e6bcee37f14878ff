import Foundation
import RivuletArguments
import RivuletClientCore
import RivuletEngine
import RivuletModel
import RivuletUI

/// The window: conversations beside a conversation, or one of the two where it is narrow.
final class ChatWindow {
    /// Below this width one pane is shown at a time.
    static let paneWidthMin = 720.0

    let model: AccountModel
    private let window: PlatformWindow
    private let root: RootView
    private let settings: SettingsDesk
    private var pane: ConversationView?
    var onClose: (() -> Void)?

    init(model: AccountModel, settings: SettingsDesk, size: CGSize) {
        self.model = model
        self.settings = settings
        root = RootView(sidebar: SidebarView(model: model))
        window = PlatformWindow(title: "Rivulet", size: size, content: root)
        window.onClose { [weak self] in self?.onClose?() }
        window.onActiveChange { [weak self] in self?.noteReader() }
        root.onKey(isFirst: true) { [weak self] key in self?.take(key) ?? false }
        root.sidebar.onSelect = { [weak self] session in self?.open(session) }
        root.sidebar.onSelectHit = { [weak self] message in
            self?.open(message.session, at: message.id)
        }
        root.sidebar.onLeave = { [weak self] in
            guard let self, let pane = self.pane else { return }
            self.root.showPane()
            pane.focusComposer()
        }
        root.sidebar.onMenu = { [weak self] place in self?.openMenu(at: place) }
        model.onConversations = { [weak self] in
            self?.root.sidebar.update()
            self?.noteReader()
        }
        model.onRemoved = { [weak self] session in self?.forget(session) }
        model.onConnection = { [weak self] in self?.root.show(self?.model.connection ?? .unconnected) }
        model.onProblem = { [weak self] words in self?.root.showProblem(words) }
        settings.onChange = { [weak self] in self?.showSettings() }
        settings.onProblem = { [weak self] words in self?.root.showProblem(words) }
    }

    func show() { window.show() }

    func close() {
        pane?.stop()
        window.close()
    }

    /// Shows a conversation, at a message if one is named.
    func open(_ session: Session, at target: MessageID? = nil) {
        model.rooms.enter(session)
        guard pane?.session != session else {
            root.showPane()
            if let target { pane?.jump(to: target) }
            return
        }
        pane?.stop()
        let pane = ConversationView(
            model: ConversationModel(account: model, session: session, target: target))
        self.pane = pane
        pane.header.onBack = { [weak self] in self?.root.showSidebar() }
        root.sidebar.select(session)
        root.setPane(pane)
        pane.start()
        if let target { pane.jump(to: target) }
        window.title = model.contacts.title(of: session)
        noteReader()
    }

    /// Shows nothing in the place of a conversation that is gone.
    private func forget(_ session: Session) {
        guard pane?.session == session else { return }
        pane?.stop()
        pane = nil
        root.setPane(nil)
        root.sidebar.select(nil)
        window.title = "Rivulet"
    }

    private func noteReader() {
        guard let pane else { return }
        model.rooms.watched = window.isActive ? pane.session : nil
        if pane.isReaderPresent != window.isActive { pane.isReaderPresent = window.isActive }
        if window.isActive { model.markRead(pane.session) }
    }

    // MARK: keys and menu

    private func take(_ key: PlatformKey) -> Bool {
        guard key.isControl, case .letter(let letter) = key.name, !root.hasSheet else { return false }
        switch letter {
        case "k", "K":
            root.withSidebar { $0.beginSearch() }
        case "n", "N":
            root.withSidebar { $0.enter(.newConversation) }
        case "f", "F":
            guard let pane else { return false }
            root.showPane()
            pane.beginFind()
        case ",": root.withSidebar { $0.openMenu() }
        default: return false
        }
        return true
    }

    private func openMenu(at place: CGRect) {
        var items = settings.menuItems()
        items.append(
            PlatformMenu.Item(title: Words.say("Text size …")) { [weak self] in
                // The menu that led here closes first.
                Task {
                    guard let self else { return }
                    PlatformMenu.show(self.settings.textItems(), on: self.root.sidebar, at: place)
                }
            })
        items.append(
            PlatformMenu.Item(title: Words.say("Keyboard shortcuts")) { [weak self] in
                self?.root.show(InfoSheet(title: Words.say("Keyboard shortcuts"), lines: InfoSheet.keys))
            })
        items.append(
            PlatformMenu.Item(title: Words.say("About Rivulet")) { [weak self] in
                guard let self else { return }
                self.root.show(InfoSheet(title: "Rivulet", lines: self.about))
            })
        items.append(
            PlatformMenu.Item(title: Words.say("Quit")) { [weak self] in self?.onClose?() })
        PlatformMenu.show(items, on: root.sidebar, at: place)
    }

    private var about: [InfoSheet.Line] {
        let user = model.account.user
        return [
            InfoSheet.Line(name: Words.say("Version"), text: ChatProgram.command.version ?? ""),
            InfoSheet.Line(
                name: Words.say("You are"),
                text: Words.say(
                    "%1, user %2", model.contacts.name(of: user, in: .peer(user)), "\(user.rawValue)")),
            InfoSheet.Line(name: Words.say("Made with"), text: "RivuletUI, RivuletEngine and GTK 4"),
        ]
    }

    private func showSettings() {
        root.themeChanged()
        pane?.textScaled()
    }
}

/// Places sidebar and conversation, and says when the connection is lost.
final class RootView: PlatformView {
    let sidebar: SidebarView
    private var pane: ConversationView?
    private let empty = EmptyPane()
    private let banner = BannerView()
    private var showsPane = false
    private var sheet: InfoSheet?
    /// Whether a card lies over everything.
    var hasSheet: Bool { sheet != nil }

    init(sidebar: SidebarView) {
        self.sidebar = sidebar
        super.init()
        mirrorsRightToLeft = true
        addSubview(sidebar)
        addSubview(empty)
        addSubview(banner)
        banner.isHidden = true
    }

    /// Shows a conversation, or none.
    func setPane(_ pane: ConversationView?) {
        self.pane?.removeFromSuperview()
        self.pane = pane
        guard let pane else { return showSidebar() }
        insertSubview(pane, at: 1)
        empty.isHidden = true
        showPane()
    }

    /// Lays a card over everything.
    func show(_ sheet: InfoSheet) {
        self.sheet?.removeFromSuperview()
        self.sheet = sheet
        sheet.onClose = { [weak self, weak sheet] in
            sheet?.removeFromSuperview()
            self?.sheet = nil
            self?.pane?.focusComposer()
        }
        addSubview(sheet)
        // The menu that led here closes first.
        Task { sheet.begin() }
    }

    func showPane() {
        showsPane = true
        setNeedsLayout()
    }

    func showSidebar() {
        showsPane = false
        setNeedsLayout()
    }

    /// Does something with the list of conversations, once it is on the screen: what is hidden takes neither the
    /// keyboard nor a menu.
    func withSidebar(_ action: @escaping (SidebarView) -> Void) {
        guard sidebar.isHidden else { return action(sidebar) }
        showSidebar()
        var frameCount = 0
        animate { [weak self] _ in
            frameCount += 1
            // The first frame lays it out.
            guard frameCount > 2, let self else { return self != nil }
            if !self.sidebar.isHidden { action(self.sidebar) }
            return false
        }
    }

    func show(_ state: ConnectionStateName) {
        banner.show(state)
        setNeedsLayout()
    }

    func showProblem(_ words: String) {
        banner.showProblem(words) { [weak self] in self?.setNeedsLayout() }
        setNeedsLayout()
    }

    func themeChanged() {
        sidebar.themeChanged()
        pane?.themeChanged()
        banner.setNeedsDisplay()
        empty.setNeedsDisplay()
        sheet?.setNeedsLayout()
        setNeedsDisplay()
    }

    override func layoutSubviews() {
        let isNarrow = bounds.width < ChatWindow.paneWidthMin
        let width = isNarrow ? bounds.width : 320
        sidebar.isHidden = isNarrow && showsPane
        pane?.isHidden = isNarrow && !showsPane
        pane?.header.showsBack = isNarrow
        sidebar.frame = CGRect(x: 0, y: 0, width: width, height: bounds.height)
        let rest =
            isNarrow
            ? bounds : CGRect(x: width, y: 0, width: max(0, bounds.width - width), height: bounds.height)
        pane?.frame = rest
        sheet?.frame = bounds
        empty.frame = rest
        if isNarrow { empty.isHidden = true } else { empty.isHidden = pane != nil }
        let bannerWidth = min(420, max(0, rest.width - 32))
        banner.frame = CGRect(
            x: (rest.midX - bannerWidth / 2).rounded(), y: 56, width: bannerWidth, height: 40)
    }
}

/// What stands where no conversation was chosen yet.
final class EmptyPane: PlatformView {
    init() { super.init(role: .label) }

    override func draw(_ canvas: PlatformCanvas) {
        let theme = Theme.current
        canvas.fill(bounds, theme.window)
        let text = PlatformText(Words.say("Choose a conversation to begin."), style: PlatformTextStyle())
        canvas.draw(
            text, at: CGPoint(x: (bounds.width - text.size.width) / 2, y: bounds.height / 2 - 10),
            theme.dimText)
    }
}
