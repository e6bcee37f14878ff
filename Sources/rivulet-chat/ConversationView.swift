import Foundation
import RivuletEngine
import RivuletFlow
import RivuletModel
import RivuletStore
import RivuletUI

/// One conversation: who it is with, the flow, and the line to write in.
final class ConversationView: PlatformView, MessageFlowViewDelegate {
    var session: Session { model.session }
    let header = HeaderView()
    /// Whether somebody looks at the window.
    var isReaderPresent: Bool {
        get { flow.isReaderPresent }
        set { flow.isReaderPresent = newValue }
    }

    private let model: ConversationModel
    private let flow: MessageFlowView
    private let composer: ComposerView
    private let selection = SelectionBar()
    private let finding: FindModel
    private let findBar: FindBar

    private var contacts: Contacts { model.account.contacts }

    init(model: ConversationModel) {
        self.model = model
        flow = MessageFlowView(manager: model.manager, registry: model.registry)
        finding = FindModel(session: model.session, store: model.account.account.store)
        findBar = FindBar(model: finding)
        composer = ComposerView(title: model.account.contacts.title(of: model.session))
        super.init()
        mirrorsRightToLeft = true
        flow.list.directory = contacts
        flow.list.images = model.account.images
        flow.list.sounds = model.account.sounds
        flow.list.timeStyle = model.account.timeStyle
        flow.delegate = self
        for view in [header, flow, composer, selection, findBar] as [PlatformView] { addSubview(view) }
        selection.isHidden = true
        findBar.isHidden = true
        composer.onWrite = { [weak model] text in model?.write(text) }
        composer.onSend = { [weak model] in model?.send() }
        composer.onEdit = { [weak model] message, text in model?.edit(message, text: text) }
        composer.onEndEdit = { [weak self] in
            guard let self else { return }
            self.model.keepDraft()
            self.show(self.model.manager.draft)
        }
        composer.onAttach = { [weak self] in
            self?.askForPicture(Words.say("Send a Picture")) { [weak model] path in
                model?.sendPictures([path])
            }
        }
        onDrop(
            files: { [weak model] paths in model?.sendPictures(paths) },
            text: { [weak composer] text in composer?.insert(text) })
        composer.onCancelReply = { [weak model] in model?.cancelReply() }
        composer.onHeight = { [weak self] in self?.setNeedsLayout() }
        model.account.onRemarks = { [weak self] remarks in self?.flow.remarks = remarks }
        flow.remarks = model.account.remarks
        model.onDraft = { [weak self] draft in self?.show(draft) }
        model.onSelection = { [weak self] selection in self?.show(selection) }
        listenToSelectionBar()
        listenToHeader()
        showTitle()
    }

    func start() {
        watchSigns()
        flow.start(model.opening)
        composer.focusInput()
    }

    func stop() {
        model.account.live.onChange = nil
        model.account.live.watch(nil)
        finding.stop()
        model.stop()
        flow.stop()
    }

    func themeChanged() {
        showTitle()
        header.themeChanged()
        findBar.show()
        flow.themeChanged()
        composer.themeChanged()
        selection.themeChanged()
        setNeedsDisplay()
    }

    private func showTitle() {
        let live = model.account.live
        var standing = contacts.subtitle(of: session)
        if session.kind == .peer {
            standing = HeaderWords.presence(
                live.presence(of: UserID(session.id)), now: ChatAccount.systemTime(), zone: .current)
        }
        let typists = live.typists(in: session).map { contacts.name(of: $0, in: session) }
        header.show(
            contacts.title(of: session),
            line: HeaderWords.line(standing: standing, isGroup: session.kind == .group, typists: typists))
    }

    /// Keeps the header's line up to date with who types and who is there.
    private func watchSigns() {
        let live = model.account.live
        live.onChange = { [weak self] session in
            if session == self?.session { self?.showTitle() }
        }
        live.watch(session.kind == .peer ? UserID(session.id) : nil)
    }

    private func show(_ draft: Draft) {
        let quoted = draft.reference.flatMap { uuid in
            model.manager.message(uuid: uuid) ?? contacts.message(uuid: uuid, in: session)
        }
        composer.show(draft, quoted: quoted, by: quoted.map(author) ?? "")
        setNeedsLayout()
    }

    private func author(of message: Message) -> String {
        message.isOutgoing ? Words.say("You") : contacts.name(of: message.sender, in: session)
    }

    override func layoutSubviews() {
        header.frame = CGRect(x: 0, y: 0, width: bounds.width, height: HeaderView.height)
        let height = selection.isHidden ? composer.height(forWidth: bounds.width) : SelectionBar.height
        let bottom = CGRect(x: 0, y: bounds.height - height, width: bounds.width, height: height)
        composer.frame = bottom
        selection.frame = bottom
        var top = HeaderView.height
        if !findBar.isHidden {
            findBar.frame = CGRect(x: 0, y: top, width: bounds.width, height: FindBar.height)
            top += FindBar.height
        }
        flow.frame = CGRect(
            x: 0, y: top, width: bounds.width, height: max(0, bounds.height - top - 4 - height))
    }

    override func draw(_ canvas: PlatformCanvas) {
        canvas.fill(bounds, Theme.current.window)
    }

    // MARK: the whole conversation

    private func listenToHeader() {
        if session.kind != .room { header.onFind = { [weak self] in self?.beginFind() } }
        header.onMenu = { [weak self] place in self?.openMenu(at: place) }
        findBar.onClose = { [weak self] in self?.endFind() }
        finding.onProblem = { [weak model] words in model?.account.onProblem?(words) }
        finding.onChange = { [weak self] in
            guard let self else { return }
            self.findBar.show()
            if let id = self.finding.cursor.current { self.model.jump(to: id) }
        }
    }

    /// Takes the keyboard to the line to write in.
    func focusComposer() { composer.focusInput() }

    /// Shows the line with which the conversation is searched.
    func beginFind() {
        guard header.onFind != nil else { return }
        findBar.isHidden = false
        setNeedsLayout()
        findBar.begin()
    }

    private func endFind() {
        findBar.isHidden = true
        finding.search("")
        setNeedsLayout()
        composer.focusInput()
    }

    /// Goes to a message and lights it up.
    func jump(to id: MessageID) { model.jump(to: id) }

    /// Shows text in another size.
    func textScaled() {
        flow.controller.submit(.textScaled(PlatformApplication.textScale))
        themeChanged()
        setNeedsLayout()
    }

    private func openMenu(at place: CGRect) {
        let session = session
        let account = model.account
        let known = account.conversation(session) ?? Conversation(session: session)
        var items: [PlatformMenu.Item] = []
        if header.onFind != nil {
            items.append(PlatformMenu.Item(title: Words.say("Find …")) { [weak self] in self?.beginFind() })
        }
        var actions = account.actions(for: known)
        if session.kind != .room { actions.insert(account.clearing(session), at: actions.count - 1) }
        items += actions.map { $0.menuItem(on: header, at: place) }
        PlatformMenu.show(
            items, on: header, at: place, onClose: { [weak composer] in composer?.focusInput() })
    }

    // MARK: selecting

    private func listenToSelectionBar() {
        selection.onCancel = { [weak model] in model?.manager.endSelection() }
        selection.onForward = { [weak self] in
            guard let self else { return }
            self.offerForward(self.model.manager.selectedMessages)
        }
        selection.onDelete = { [weak self] in
            guard let self else { return }
            self.model.delete(self.model.manager.selectedMessages)
            self.model.manager.endSelection()
        }
    }

    private func show(_ selected: MessageSelection) {
        flow.selection = selected
        selection.show(selected.count)
        selection.isHidden = !selected.isActive
        composer.isHidden = selected.isActive
        if !selected.isActive { composer.focusInput() }
        setNeedsLayout()
    }

    // MARK: the flow asks

    func flowView(_ view: MessageFlowView, perform item: MessageMenuItem, on message: Message) {
        switch item.id {
        case .forward: offerForward([message])
        case .edit: composer.edit(message)
        case .react: offerEmoji(for: message)
        case .select: model.manager.beginSelection(with: message.id)
        default: break
        }
    }

    func flowView(_ view: MessageFlowView, react reaction: MessageReaction, to message: Message) {}

    func flowView(_ view: MessageFlowView, sees messages: [Message]) {
        model.account.see(messages)
        if session.kind == .room { model.account.rooms.see(messages) }
    }

    func flowView(_ view: MessageFlowView, toggle emoji: String, on message: Message) {
        model.react(to: message, with: emoji)
    }

    /// Asks where to: a menu of the other conversations, at the top of this one.
    private func offerForward(_ messages: [Message]) {
        guard !messages.isEmpty else { return }
        let items = model.account.conversations.filter { $0.session != session }.prefix(12).map {
            [model] conversation in
            PlatformMenu.Item(title: model.account.contacts.title(of: conversation.session)) {
                model.forward(messages, to: conversation.session)
                model.manager.endSelection()
            }
        }
        guard !items.isEmpty else { return }
        PlatformMenu.show(
            Array(items), on: self,
            at: CGRect(x: isMirrored ? bounds.width - 21 : 20, y: 48, width: 1, height: 1))
    }

    private func offerEmoji(for message: Message) {
        let items = ["👍", "❤️", "😂", "😮", "🙏", "🎉"].map { [model] emoji in
            PlatformMenu.Item(title: emoji) { model.react(to: message, with: emoji) }
        }
        let place = flow.place(of: message.id).flatMap { flow.convert($0, to: self) }
        let origin = place ?? CGPoint(x: 20, y: 48)
        // The menu that led here closes first.
        Task { [weak self] in
            guard let self else { return }
            PlatformMenu.show(items, on: self, at: CGRect(origin: origin, size: CGSize(width: 1, height: 1)))
        }
    }
}

/// What can be done with the selected messages, in the place of the line to write in.
final class SelectionBar: PlatformView {
    static let height = 64.0

    var onCancel: (() -> Void)?
    var onForward: (() -> Void)?
    var onDelete: (() -> Void)?
    private let count = PlatformTextView()
    private lazy var cancel = PlatformButton(
        label: Words.say("Cancel selecting"), face: ButtonFace(.close, side: 16)
    ) {
        [weak self] in self?.onCancel?()
    }
    private lazy var forward = PlatformButton(
        label: Words.say("Forward"), face: ButtonFace(words: Words.say("Forward"))
    ) {
        [weak self] in self?.onForward?()
    }
    private lazy var delete = PlatformButton(
        label: Words.say("Delete"),
        face: ButtonFace(words: Words.say("Delete"), ground: { $0.fill }, ink: { $0.failure })
    ) {
        [weak self] in self?.onDelete?()
    }

    init() {
        super.init()
        mirrorsRightToLeft = true
        for view in [count, cancel, forward, delete] as [PlatformView] { addSubview(view) }
    }

    func show(_ number: Int) {
        count.color = Theme.current.text
        count.show(
            number == 0 ? Words.say("Choose messages") : Words.say("%1 selected", "\(number)"),
            style: PlatformTextStyle(isBold: true, lineCountMax: 1))
        forward.isEnabled = number > 0
        delete.isEnabled = number > 0
        setNeedsLayout()
    }

    func themeChanged() {
        count.color = Theme.current.text
        for view in [count, cancel, forward, delete] as [PlatformView] { view.setNeedsDisplay() }
        setNeedsDisplay()
    }

    override func layoutSubviews() {
        cancel.frame = CGRect(x: 12, y: 14, width: 36, height: 36)
        count.frame = CGRect(x: 60, y: 22, width: max(0, bounds.width - 290), height: 20)
        forward.frame = CGRect(x: bounds.width - 216, y: 14, width: 96, height: 36)
        delete.frame = CGRect(x: bounds.width - 112, y: 14, width: 96, height: 36)
    }

    override func draw(_ canvas: PlatformCanvas) {
        canvas.fill(bounds, Theme.current.window)
        canvas.fill(CGRect(x: 0, y: 0, width: bounds.width, height: 1), Theme.current.hairline)
    }
}
