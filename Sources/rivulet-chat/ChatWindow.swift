import Foundation
import RivuletClientCore
import RivuletModel
import RivuletUI

/// The window: conversations beside a conversation, or one of the two where it is narrow.
final class ChatWindow {
    /// Below this width one pane is shown at a time.
    static let paneWidthMin = 720.0

    let model: AccountModel
    private let window: PlatformWindow
    private let root: RootView
    private var pane: ConversationView?
    var onClose: (() -> Void)?

    init(model: AccountModel, size: CGSize) {
        self.model = model
        root = RootView(sidebar: SidebarView(model: model))
        window = PlatformWindow(title: "Rivulet", size: size, content: root)
        window.onClose { [weak self] in self?.onClose?() }
        window.onActiveChange { [weak self] in self?.noteReader() }
        root.sidebar.onSelect = { [weak self] session in self?.open(session) }
        root.sidebar.onToggleTheme = { [weak self] in self?.toggleTheme() }
        model.onConversations = { [weak self] in
            self?.root.sidebar.update()
            self?.noteReader()
        }
        model.onConnection = { [weak self] in self?.root.show(self?.model.connection ?? .unconnected) }
        model.onProblem = { [weak self] words in self?.root.showProblem(words) }
    }

    func show() { window.show() }

    func close() {
        pane?.stop()
        window.close()
    }

    /// Shows a conversation.
    func open(_ session: Session) {
        guard pane?.session != session else { return root.showPane() }
        pane?.stop()
        let pane = ConversationView(model: ConversationModel(account: model, session: session))
        self.pane = pane
        pane.header.onBack = { [weak self] in self?.root.showSidebar() }
        root.sidebar.select(session)
        root.setPane(pane)
        pane.start()
        window.title = model.contacts.title(of: session)
        noteReader()
    }

    private func noteReader() {
        guard let pane else { return }
        if pane.isReaderPresent != window.isActive { pane.isReaderPresent = window.isActive }
        if window.isActive { model.markRead(pane.session) }
    }

    private func toggleTheme() {
        Theme.use(Theme.current.isDark ? .light : .dark)
        root.themeChanged()
    }
}

/// Places sidebar and conversation, and says when the connection is lost.
final class RootView: PlatformView {
    let sidebar: SidebarView
    private var pane: ConversationView?
    private let empty = EmptyPane()
    private let banner = BannerView()
    private var showsPane = false

    init(sidebar: SidebarView) {
        self.sidebar = sidebar
        super.init()
        mirrorsRightToLeft = true
        addSubview(sidebar)
        addSubview(empty)
        addSubview(banner)
        banner.isHidden = true
    }

    func setPane(_ pane: ConversationView) {
        self.pane?.removeFromSuperview()
        self.pane = pane
        insertSubview(pane, at: 1)
        empty.isHidden = true
        showPane()
    }

    func showPane() {
        showsPane = true
        setNeedsLayout()
    }

    func showSidebar() {
        showsPane = false
        setNeedsLayout()
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
        let text = PlatformText("Choose a conversation to begin.", style: PlatformTextStyle())
        canvas.draw(
            text, at: CGPoint(x: (bounds.width - text.size.width) / 2, y: bounds.height / 2 - 10),
            theme.dimText)
    }
}
