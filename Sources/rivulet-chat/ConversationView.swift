import Foundation
import RivuletFlow
import RivuletModel
import RivuletStore
import RivuletUI

/// One conversation: who it is with, the flow, and the line to write in.
final class ConversationView: PlatformView, MessageFlowViewDelegate {
    let session: Session
    var onBack: (() -> Void)?
    var showsBack = false {
        didSet {
            guard showsBack != oldValue else { return }
            back.isHidden = !showsBack
            setNeedsLayout()
        }
    }

    private let model: AccountModel
    private let flow: MessageFlowView
    private let composer: ComposerView
    private let title = PlatformTextView()
    private let subtitle = PlatformTextView()
    private lazy var back = PlatformButton(label: "Back to the conversations", face: ButtonFace(.back)) {
        [weak self] in self?.onBack?()
    }

    init(model: AccountModel, session: Session) {
        self.model = model
        self.session = session
        let registry = MessageViewRegistry()
        flow = MessageFlowView(controller: model.makeFlow(session, registry: registry), registry: registry)
        composer = ComposerView(title: model.contacts.title(of: session))
        super.init()
        flow.list.directory = model.contacts
        flow.list.images = model.images
        flow.list.timeStyle = model.timeStyle
        flow.delegate = self
        addSubview(title)
        addSubview(subtitle)
        addSubview(back)
        addSubview(flow)
        addSubview(composer)
        back.isHidden = true
        composer.onSend = { [weak self] text in self?.send(text) }
        composer.onHeight = { [weak self] in self?.setNeedsLayout() }
        composer.text = model.conversations.first { $0.session == session }?.draft ?? ""
        showTitle()
    }

    func start() {
        flow.start()
        composer.focusInput()
    }

    func stop() {
        let draft = composer.text
        let known = model.conversations.first { $0.session == session }?.draft ?? ""
        if draft != known { model.setDraft(draft, in: session) }
        flow.stop()
    }

    func themeChanged() {
        showTitle()
        flow.themeChanged()
        composer.themeChanged()
        setNeedsDisplay()
    }

    private func showTitle() {
        let theme = Theme.current
        title.color = theme.text
        subtitle.color = theme.dimText
        title.show(
            model.contacts.title(of: session), style: PlatformTextStyle(isBold: true, lineCountMax: 1))
        subtitle.show(
            model.contacts.subtitle(of: session),
            style: PlatformTextStyle(size: 12, lineHeight: 16, lineCountMax: 1))
    }

    private func send(_ text: String) {
        model.send(text, to: session, reference: composer.reference)
        composer.clear()
    }

    override func layoutSubviews() {
        let left = showsBack ? 52.0 : 20
        back.frame = CGRect(x: 8, y: 6, width: 36, height: 36)
        let hasSubtitle = !subtitle.text.isEmpty
        title.frame = CGRect(
            x: left, y: hasSubtitle ? 6 : 14, width: max(0, bounds.width - left - 20), height: 20)
        subtitle.frame = CGRect(x: left, y: 25, width: max(0, bounds.width - left - 20), height: 16)
        let height = composer.height(forWidth: bounds.width)
        composer.frame = CGRect(x: 0, y: bounds.height - height, width: bounds.width, height: height)
        flow.frame = CGRect(x: 0, y: 48, width: bounds.width, height: max(0, bounds.height - 48 - 4 - height))
    }

    override func draw(_ canvas: PlatformCanvas) {
        let theme = Theme.current
        canvas.fill(bounds, theme.window)
        canvas.fill(CGRect(x: 0, y: 47, width: bounds.width, height: 1), theme.hairline)
    }

    // MARK: the flow asks

    func flowView(_ view: MessageFlowView, perform item: MessageMenuItem, on message: Message) {
        switch item.id {
        case .resend: model.resend(message)
        case .revoke: model.revoke(message)
        case .delete: model.delete(message)
        case .reply: quote(message)
        case .forward: offerForward(message)
        default: break
        }
    }

    /// Asks where to: a menu of the other conversations, at the top of this one.
    private func offerForward(_ message: Message) {
        let items = model.conversations.filter { $0.session != session }.prefix(12).map { conversation in
            PlatformMenu.Item(title: model.contacts.title(of: conversation.session)) { [model] in
                model.forward(message, to: conversation.session)
            }
        }
        guard !items.isEmpty else { return }
        PlatformMenu.show(Array(items), on: self, at: CGRect(x: 20, y: 48, width: 1, height: 1))
    }

    func flowView(_ view: MessageFlowView, react reaction: MessageReaction, to message: Message) {
        switch reaction {
        case .resend: model.resend(message)
        case .reply: quote(message)
        default: break
        }
    }

    private func quote(_ message: Message) {
        let name = message.isOutgoing ? "You" : model.contacts.name(of: message.sender, in: session)
        composer.quote(MessageText.text(of: message), of: name, uuid: message.uuid)
        setNeedsLayout()
    }
}
