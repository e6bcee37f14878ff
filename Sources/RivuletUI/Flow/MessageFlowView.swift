internal import Foundation
public import RivuletFlow
public import RivuletModel

/// What a flow asks its host to do.
@MainActor
public protocol MessageFlowViewDelegate: AnyObject {
    /// An entry of a message's menu was chosen; copying is done already.
    func flowView(_ view: MessageFlowView, perform item: MessageMenuItem, on message: Message)
    /// Nobody consumed an event, and the standard reaction is the host's to perform.
    func flowView(_ view: MessageFlowView, react reaction: MessageReaction, to message: Message)
}

/// A session on screen: the list of rows and what floats above it, driven by a `FlowController`.
public final class MessageFlowView: PlatformView, FlowObserver {
    /// The flow.
    public let controller: FlowController
    /// The rows.
    public let list: MessageListView
    /// Sees events before the standard reaction, and may consume them.
    public weak var eventDelegate: (any MessageEventDelegate)?
    /// Performs what the view cannot.
    public weak var delegate: (any MessageFlowViewDelegate)?
    /// Builds the menus.
    public var menu = MessageMenu()

    private let stickyDay = StickyDayView()
    private let jumpFace = JumpFace()
    private lazy var jump = PlatformButton(label: "Go to the newest messages", face: jumpFace) {
        [weak self] in
        self?.controller.submit(.latestRequested)
    }
    private let status = FlowStatusView()
    private let announcer = PlatformView(role: .alert)
    private var running: Task<Void, Never>?

    /// Makes the view of a flow.
    public init(controller: FlowController, registry: MessageViewRegistry = MessageViewRegistry()) {
        self.controller = controller
        list = MessageListView(controller: controller, registry: registry)
        super.init()
        clipsToBounds = true
        addSubview(list.viewport)
        addSubview(stickyDay)
        addSubview(jump)
        addSubview(status)
        addSubview(announcer)
        jump.isHidden = true
        stickyDay.alpha = 0
        status.isHidden = true
        controller.addObserver(self)
        list.onEvent = { [weak self] event, cell in self?.handle(event, on: cell) }
        list.onScroll = { [weak self] in self?.stickyDay.flash() }
        status.onRetry = { [weak self] in self?.controller.submit(.opened(.latest)) }
    }

    /// Drives the flow as long as the view lives or until ``stop()``.
    public func start(_ opening: FlowOpening = .latest) {
        controller.submit(.directionChanged(PlatformApplication.isRightToLeft ? .rightToLeft : .leftToRight))
        controller.submit(.textScaled(PlatformApplication.textScale))
        controller.submit(.opened(opening))
        running = Task { [controller] in await controller.run() }
    }

    /// Ends driving the flow.
    public func stop() {
        controller.submit(.closed)
        running?.cancel()
        running = nil
    }

    isolated deinit {
        running?.cancel()
    }

    /// Draws everything in the present theme.
    public func themeChanged() {
        list.refreshAll()
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
        case .failed(let failure): status.show(.failed(failure.message))
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
        guard let reaction = event.reaction(after: eventDelegate) else { return }
        switch reaction {
        case .openMenu: openMenu(for: event, on: cell)
        case .openLink(let address): PlatformApplication.open(address)
        default: delegate?.flowView(self, react: reaction, to: event.message)
        }
    }

    private func openMenu(for event: MessageEvent, on cell: MessageCell) {
        let message = event.message
        let view = cell.view(for: event.component) ?? cell.view(for: .content)
        let performs = cell.view(for: .content)?.canPerformMenuAction ?? false
        let items = menu.items(for: message, component: event.component, componentPerforms: performs)
        guard !items.isEmpty, let view else { return }
        let place: CGRect
        if let location = event.location {
            let origin = CGPoint(
                x: view.frame.minX + location.x, y: cell.frame.minY + view.frame.minY + location.y)
            place = CGRect(origin: origin, size: CGSize(width: 1, height: 1))
        } else {
            place = view.frame.offsetBy(dx: 0, dy: cell.frame.minY)
        }
        let selected = cell.selectedText
        PlatformMenu.show(
            items.map { item in
                PlatformMenu.Item(title: item.title) { [weak self] in
                    self?.perform(item, on: message, selected: selected)
                }
            }, on: list, at: place, onClose: { [weak cell] in cell?.focus() })
    }

    /// Performs an entry of a message's menu.
    public func perform(_ item: MessageMenuItem, on message: Message, selected: String = "") {
        if item.id == .copy {
            copyToClipboard(selected.isEmpty ? MessageText.text(of: message) : selected)
        }
        delegate?.flowView(self, perform: item, on: message)
    }
}

/// The day of the topmost row, shown while the reader scrolls.
final class StickyDayView: PlatformView {
    private var text: PlatformText?
    private var words = ""
    private var flashes = 0

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

    /// Shows the day for a moment.
    func flash() {
        flashes += 1
        let number = flashes
        alpha = 1
        Task { [weak self] in
            do { try await Task.sleep(for: .milliseconds(1_200)) } catch { return }
            guard let self, self.flashes == number else { return }
            self.alpha = 0
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
