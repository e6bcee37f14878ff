public import Foundation
public import RivuletFlow
public import RivuletModel

/// What a flow asks its host to do.
@MainActor
public protocol MessageFlowViewDelegate: AnyObject {
    /// An entry of a message's menu was chosen; what the view can do itself is done already, and not told.
    ///
    /// That is copying, and over a `DataManager` sending again, withdrawing, removing and beginning a reply.
    func flowView(_ view: MessageFlowView, perform item: MessageMenuItem, on message: Message)
    /// Nobody consumed an event, and the standard reaction is the host's to perform.
    func flowView(_ view: MessageFlowView, react reaction: MessageReaction, to message: Message)
    /// The reader tapped an emoji under a message.
    func flowView(_ view: MessageFlowView, toggle emoji: String, on message: Message)
    /// These rows have been in view for a moment while the reader was there (``MessageFlowView/isReaderPresent``).
    func flowView(_ view: MessageFlowView, sees messages: [Message])
    /// A menu is about to open; true when the host shows one of its own instead.
    func flowView(
        _ view: MessageFlowView, presents items: [MessageMenuItem], for message: Message, at place: CGRect
    ) -> Bool
}

extension MessageFlowViewDelegate {
    /// Nothing.
    public func flowView(_ view: MessageFlowView, sees messages: [Message]) {}
    /// Nothing.
    public func flowView(_ view: MessageFlowView, toggle emoji: String, on message: Message) {}
    /// The system's menu is shown.
    public func flowView(
        _ view: MessageFlowView, presents items: [MessageMenuItem], for message: Message, at place: CGRect
    ) -> Bool { false }
}

/// A session on screen: the list of rows and what floats above it.
///
/// Over a `DataManager` it drives the session, performs the standard entries of menus, and tells what the reader has
/// seen. Over a `FlowController` alone it shows, and leaves the rest to the host.
public final class MessageFlowView: PlatformView, FlowObserver {
    /// The flow.
    public let controller: FlowController
    /// The session's messages; nil for a view over a flow alone.
    public let manager: DataManager?
    /// The rows.
    public let list: MessageListView
    /// Sees events before the standard reaction, and may consume them.
    public weak var eventDelegate: (any MessageEventDelegate)?
    /// Performs what the view cannot.
    public weak var delegate: (any MessageFlowViewDelegate)?
    /// Builds the menus instead of the configuration's; nil for that one.
    public var menu: MessageMenu?
    /// Whether somebody looks at the window, so that rows in view count as seen.
    public var isReaderPresent = false { didSet { if isReaderPresent { noteSeen() } } }

    private let stickyDay = StickyDayView()
    private let jumpFace = JumpFace()
    private lazy var jump = PlatformButton(label: strings[.goToNewest], face: jumpFace) { [weak self] in
        self?.controller.submit(.latestRequested)
    }
    private let status: FlowStatusView
    private var strings: InterfaceStrings { controller.configuration.strings }
    private let announcer = PlatformView(role: .alert)
    private var running: Task<Void, Never>?
    private var seeing: Task<Void, Never>?

    /// Makes the view of a session.
    public convenience init(manager: DataManager, registry: MessageViewRegistry = MessageViewRegistry()) {
        self.init(controller: manager.controller, manager: manager, registry: registry)
    }

    /// Makes the view of a flow.
    public convenience init(
        controller: FlowController, registry: MessageViewRegistry = MessageViewRegistry()
    ) {
        self.init(controller: controller, manager: nil, registry: registry)
    }

    private init(controller: FlowController, manager: DataManager?, registry: MessageViewRegistry) {
        self.controller = controller
        self.manager = manager
        list = MessageListView(controller: controller, registry: registry)
        status = FlowStatusView(controller.configuration.strings)
        super.init()
        clipsToBounds = true
        mirrorsRightToLeft = true
        addSubview(list.viewport)
        addSubview(stickyDay)
        addSubview(jump)
        addSubview(status)
        addSubview(announcer)
        announcer.accessibilityLabel = controller.configuration.strings[.newMessages]
        jump.isHidden = true
        stickyDay.alpha = 0
        status.isHidden = true
        controller.addObserver(self)
        list.onEvent = { [weak self] event, cell in self?.handle(event, on: cell) }
        list.onScroll = { [weak self] in self?.stickyDay.flash() }
        list.onVisibleChange = { [weak self] in self?.noteSeen() }
        list.actions = { [weak self] message, cell in
            self?.menuItems(for: message, component: .content, on: cell).map(\.id.rawValue) ?? []
        }
        list.onAction = { [weak self] name, cell in self?.performAction(name, on: cell) }
        list.canSelect = { [weak manager] in manager?.configuration.selection.allows($0) ?? true }
        list.onToggle = { [weak self] id in self?.manager?.toggleSelection(of: id) }
        list.onLeaveSelection = { [weak self] in self?.manager?.endSelection() }
        status.onRetry = { [weak self] in self?.open(.latest) }
    }

    /// Drives the flow as long as the view lives or until ``stop()``.
    public func start(_ opening: FlowOpening = .latest) {
        controller.submit(.directionChanged(PlatformApplication.isRightToLeft ? .rightToLeft : .leftToRight))
        controller.submit(.textScaled(PlatformApplication.textScale))
        open(opening)
        if let manager {
            running = Task { await manager.run() }
        } else {
            running = Task { [controller] in await controller.run() }
        }
    }

    private func open(_ opening: FlowOpening) {
        if let manager { manager.open(opening) } else { controller.submit(.opened(opening)) }
    }

    /// Ends driving the flow.
    public func stop() {
        if let manager { manager.close() } else { controller.submit(.closed) }
        running?.cancel()
        running = nil
        seeing?.cancel()
        seeing = nil
        list.player.stop()
    }

    isolated deinit {
        running?.cancel()
        seeing?.cancel()
    }

    /// Tells what is in view, once it has been for a moment: a row that flies past is not read.
    private func noteSeen() {
        guard let manager, isReaderPresent, running != nil, seeing == nil else { return }
        seeing = Task { [weak self] in
            do { try await Task.sleep(for: .milliseconds(300)) } catch { return }
            guard let self else { return }
            self.seeing = nil
            guard self.isReaderPresent else { return }
            let seen = self.list.visibleMessages
            self.delegate?.flowView(self, sees: seen.compactMap { self.list.message($0) })
            await manager.noteSeen(seen)
        }
    }

    /// The messages that are shown as selected; while there is a selection, a tap on a row changes it.
    public var selection: MessageSelection {
        get { list.selection }
        set { list.selection = newValue }
    }

    /// A few characters beside the bubbles of some messages, such as how long they may be read.
    public var remarks: [MessageID: String] {
        get { list.remarks }
        set { list.remarks = newValue }
    }

    /// Where the bubble of a message is in this view; nil when it is out of view.
    public func place(of id: MessageID) -> CGPoint? {
        guard let bubble = list.cell(for: id)?.view(for: .content) else { return nil }
        return bubble.convert(.zero, to: self)
    }

    /// Draws everything in the present theme.
    public func themeChanged() {
        list.refreshAll()
        status.themeChanged()
        for view in [stickyDay, jumpFace, status] { view.setNeedsDisplay() }
    }

    /// Places the list and what floats above it.
    public override func layoutSubviews() {
        list.viewport.frame = bounds
        stickyDay.frame = CGRect(x: 0, y: 6, width: bounds.width, height: 28)
        jump.frame = CGRect(x: bounds.width - 64, y: bounds.height - 68, width: 48, height: 56)
        status.frame = bounds
        announcer.frame = .zero
    }

    // MARK: observing

    /// Shows a new picture of the rows.
    public func flow(_ controller: FlowController, didApply update: FlowUpdate) {
        list.apply(update)
        announce(update)
    }

    /// Shows what is around the rows.
    public func flow(_ controller: FlowController, didShow state: FlowViewState) {
        list.show(state)
        stickyDay.show(state.stickyDay)
        let isAway = state.opening == .shown && !state.isFollowing
        jumpFace.show(state.newMessageCount)
        jump.isHidden = !isAway
        let isEmpty = controller.snapshot.rows.isEmpty
        switch state.opening {
        case .failed: status.show(.failed)
        case .loading where isEmpty: status.show(.loading)
        case .shown where isEmpty: status.show(.empty)
        default: status.show(.none)
        }
    }

    /// Assistive technology hears of new messages of others while the reader is in the conversation.
    private func announce(_ update: FlowUpdate) {
        guard update.reasons.contains(.live), let row = update.changes.insertions.last,
            update.snapshot.rows.indices.contains(row), update.snapshot.rows[row].isMessage,
            let message = list.message(update.snapshot.rows[row].message), !message.isOutgoing
        else { return }
        announcer.accessibilityLabel = list.label(for: message)
    }

    // MARK: events

    private func handle(_ event: MessageEvent, on cell: MessageCell) {
        if let eventDelegate, eventDelegate.consume(event) { return }
        guard let reaction = event.standardReaction else { return toggleEmoji(event, on: cell) }
        switch reaction {
        case .openMenu: openMenu(for: event, on: cell)
        case .openContent where canPlay(event.message): list.player.toggle(event.message)
        case .openLink(let address): PlatformApplication.open(address)
        case .resend where manager != nil: perform(.resend, on: event.message)
        case .reply where manager != nil: perform(.reply, on: event.message)
        default: delegate?.flowView(self, react: reaction, to: event.message)
        }
    }

    private func toggleEmoji(_ event: MessageEvent, on cell: MessageCell) {
        guard event.gesture == .tap, let place = event.location,
            let chips = cell.view(for: event.component) as? ReactionsMessageView,
            let emoji = chips.emoji(at: CGPoint(x: place.x, y: place.y))
        else { return }
        delegate?.flowView(self, toggle: emoji, on: event.message)
    }

    /// The entries of a message's menu, which are also the actions of its row for assistive technology.
    func menuItems(for message: Message, component: MessageComponent, on cell: MessageCell)
        -> [MessageMenuItem]
    {
        let performs = cell.view(for: .content)?.canPerformMenuAction ?? false
        let items = (menu ?? controller.configuration.menu).items(
            for: message, component: component, componentPerforms: performs, strings: strings)
        guard performs, canPlay(message) else { return items }
        let title = strings[list.player.isActive(message.id) ? .pause : .play]
        return [MessageMenuItem(id: .play, title: title)] + items
    }

    private func canPlay(_ message: Message) -> Bool {
        guard list.sounds != nil, case .audio = message.content else { return false }
        return true
    }

    private func openMenu(for event: MessageEvent, on cell: MessageCell) {
        let message = event.message
        let view = cell.view(for: event.component) ?? cell.view(for: .content)
        let items = menuItems(for: message, component: event.component, on: cell)
        guard !items.isEmpty, let view else { return }
        let place: CGRect
        if let location = event.location {
            let origin = CGPoint(
                x: view.frame.minX + location.x, y: cell.frame.minY + view.frame.minY + location.y)
            place = CGRect(origin: origin, size: CGSize(width: 1, height: 1))
        } else {
            place = view.frame.offsetBy(dx: 0, dy: cell.frame.minY)
        }
        if delegate?.flowView(self, presents: items, for: message, at: place) ?? false { return }
        let selected = cell.selectedText
        PlatformMenu.show(
            items.map { item in
                PlatformMenu.Item(title: item.title) { [weak self] in
                    self?.perform(item, on: message, selected: selected)
                }
            }, on: list, at: place, onClose: { [weak cell] in cell?.focus() })
    }

    /// Does what assistive technology asks for.
    private func performAction(_ name: String, on cell: MessageCell) {
        guard let message = cell.message,
            let item = menuItems(for: message, component: .content, on: cell)
                .first(where: { $0.id.rawValue == name })
        else { return }
        perform(item, on: message)
    }

    /// Performs an entry of a message's menu.
    public func perform(_ item: MessageMenuItem, on message: Message, selected: String = "") {
        if item.id == .copy {
            copyToClipboard(selected.isEmpty ? MessageText.text(of: message, strings) : selected)
        }
        if item.id == .play { return list.player.toggle(message) }
        if manager != nil, Self.ownItems.contains(item.id) {
            perform(item.id, on: message)
        } else {
            delegate?.flowView(self, perform: item, on: message)
        }
    }

    /// What a session does by itself.
    private static let ownItems: Set<MessageMenuItem.ID> = [.copy, .resend, .revoke, .delete, .reply]

    /// Has the session do what a standard entry says; its delegate hears of what fails.
    private func perform(_ item: MessageMenuItem.ID, on message: Message) {
        guard let manager else { return }
        Task {
            do {
                try await manager.perform(item, on: message)
            } catch {
                // The session's delegate has been told, or the row is gone and there is nothing to tell.
                return
            }
        }
    }
}

/// The day of the topmost row, shown while the reader scrolls.
final class StickyDayView: PlatformView {
    private var text: PlatformText?
    private var words = ""
    private var shownUntil = ContinuousClock.now
    private var hiding: Task<Void, Never>?

    init() {
        super.init(role: .decoration)
        isUserInteractionEnabled = false
    }

    func show(_ words: String) {
        guard words != self.words else { return }
        self.words = words
        text =
            words.isEmpty
            ? nil : PlatformText(words, style: PlatformTextStyle(size: 12, lineHeight: 16, isBold: true))
        setNeedsDisplay()
    }

    /// Shows the day for a moment, which begins anew each time.
    func flash() {
        shownUntil = ContinuousClock.now + .milliseconds(1_200)
        alpha = 1
        guard hiding == nil else { return }
        // One that waits, however often the reader scrolls meanwhile.
        hiding = Task { [weak self] in
            while let end = self?.shownUntil, end > ContinuousClock.now {
                do { try await Task.sleep(until: end, clock: .continuous) } catch { break }
            }
            self?.alpha = 0
            self?.hiding = nil
        }
    }

    override func draw(_ canvas: PlatformCanvas) {
        guard let text else { return }
        let theme = Theme.current
        let rect = CGRect(
            x: ((bounds.width - text.size.width) / 2 - 12).rounded(), y: 2, width: text.size.width + 24,
            height: 24)
        canvas.shadow(rect, corners: PlatformCorners(12), PlatformColor(0, alpha: 0.18), dy: 1, blur: 3)
        canvas.fill(rect, corners: PlatformCorners(12), theme.incomingBubble)
        canvas.draw(text, at: CGPoint(x: rect.minX + 12, y: rect.minY + 4), theme.dimText)
    }
}
