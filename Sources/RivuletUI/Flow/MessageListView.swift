internal import Foundation
public import RivuletFlow
public import RivuletModel

/// The scrolling list of a flow's rows.
///
/// It shows a `FlowController`'s snapshot: only the rows in view have cells, which are used again as rows come and
/// go, each placed by the layout index. It applies what the controller decides and moves the reader for no other
/// reason.
public final class MessageListView: PlatformScrollView {
    /// The flow that is shown.
    public let controller: FlowController
    /// Which view shows which component.
    public let registry: MessageViewRegistry
    /// Who is who.
    public weak var directory: (any MessageDirectory)?
    /// Where pictures come from.
    public weak var images: (any MessageImageLoader)?
    /// Where sounds come from; without it, voice messages are shown and not played.
    public weak var sounds: (any MessageSoundLoader)? { didSet { player.loader = sounds } }
    /// Plays voice messages.
    public let player = SoundPlayer()
    /// Writes the times of labels.
    public var timeStyle = TimeLabelStyle()
    /// Hears of gestures and keys on rows; see ``MessageFlowView``.
    var onEvent: ((MessageEvent, MessageCell) -> Void)?
    /// Hears that the reader scrolled.
    var onScroll: (() -> Void)?
    /// What can be done with a row, by name; the same as its menu.
    var actions: ((Message, MessageCell) -> [String])?
    /// Hears that assistive technology wants one of them done.
    var onAction: ((String, MessageCell) -> Void)?
    /// Whether a message can be selected.
    var canSelect: ((Message) -> Bool)?
    /// Hears that a row was chosen while messages are being selected.
    var onToggle: ((MessageID) -> Void)?
    /// Hears that the user no longer wants to select.
    var onLeaveSelection: (() -> Void)?
    /// Hears that other messages are in view.
    var onVisibleChange: (() -> Void)?
    /// The messages in view, from top to bottom.
    private(set) var visibleMessages: [MessageID] = []
    /// How many cells exist, in use or waiting.
    public var cellCount: Int { cells.count + spareCells.count }

    private(set) var snapshot: FlowSnapshot
    private var cells: [MessageID: MessageCell] = [:]
    private var lines: [FlowRow.ID: FlowLineView] = [:]
    private var spareCells: [MessageCell] = []
    /// How many cells may wait before one of another look is taken.
    private static let spareCellCountMax = 12
    private var spareLines: [FlowLineView] = []
    private var messageIndex: [MessageID: Int] = [:]
    private var stale: Set<FlowRow.ID> = []
    /// The rows in view and a little around it.
    private var wanted: Set<FlowRow.ID> = []
    private var isAllStale = false
    /// What the user selected.
    var selection = MessageSelection() { didSet { if selection != oldValue { showSelection() } } }
    /// The row under the pointer, which shows its time.
    var hovered: MessageID? { didSet { if hovered != oldValue { showTimes() } } }
    /// What stands beside the bubbles of some messages.
    var remarks: [MessageID: String] = [:] { didSet { if remarks != oldValue { showRemarks() } } }
    /// Whether every row shows its time.
    public var revealsTimes = false { didSet { if revealsTimes != oldValue { showTimes() } } }
    private let olderEdge: FlowEdgeView
    private let newerEdge: FlowEdgeView
    private var textScale = 1.0
    private var reportedSize = CGSize.zero
    /// The way of a scroll animation under way; nil when there is none.
    private var glide: (start: Double, goal: Double)?
    /// The row at which a scroll animation ends, and how far under its top.
    private var goalRow: (id: FlowRow.ID, distance: Double)?
    private var glideNumber = 0
    private var isMeasuring = false

    /// Makes the list of a flow.
    public init(controller: FlowController, registry: MessageViewRegistry) {
        self.controller = controller
        self.registry = registry
        snapshot = controller.snapshot
        olderEdge = FlowEdgeView(controller.configuration.strings)
        newerEdge = FlowEdgeView(controller.configuration.strings)
        super.init()
        isFocusable = true
        accessibilityLabel = strings[.messages]
        addSubview(olderEdge)
        addSubview(newerEdge)
        player.onChange = { [weak self] id in self?.soundChanged(id) }
        listen()
    }

    var strings: InterfaceStrings { controller.configuration.strings }

    // MARK: applying

    /// Shows a new snapshot and scrolls as the flow decided.
    func apply(_ update: FlowUpdate) {
        let old = snapshot
        snapshot = update.snapshot
        messageIndex = [:]
        textScale = snapshot.textScale
        if update.isReload || old.width != snapshot.width {
            isAllStale = true
        } else {
            for change in update.changes.updates where snapshot.rows.indices.contains(change.new) {
                stale.insert(snapshot.rows[change.new].id)
            }
        }
        let range = controller.offsetRange
        switch update.scroll {
        case .keep(let distance):
            // An animation goes on to its goal, which moved with the rows.
            glide?.start += distance
            glide?.goal = goalOfGlide(movedBy: distance)
            setContent(range: range, page: bounds.height, offset: contentOffset + distance, isShift: true)
        case .bottom(let offset, isAnimated: false) where glide != nil:
            // The rows were measured while the way down has begun: its goal is another now.
            setContent(range: range, page: bounds.height, offset: contentOffset, isShift: false)
            glide?.goal = offset
        case .bottom(let offset, let isAnimated), .target(let offset, let isAnimated):
            setContent(range: range, page: bounds.height, offset: contentOffset, isShift: false)
            scroll(to: offset, isAnimated: isAnimated && PlatformApplication.animates && !old.rows.isEmpty)
            noteGoal(of: update)
        }
        if let highlight = update.highlight { self.highlight(highlight) }
    }

    /// Notes the row to which an animation leads: rows on the way may turn out to have another height.
    private func noteGoal(of update: FlowUpdate) {
        goalRow = nil
        guard let goal = glide?.goal else { return }
        let wanted = update.highlight.map { FlowRow.ID.message($0) }
        let index =
            snapshot.rows.firstIndex { $0.id == wanted }
            ?? snapshot.visibleRows(from: max(goal, snapshot.leadingSpace), height: 1).first
        goalRow = index.map { (snapshot.rows[$0].id, goal - snapshot.offset(ofRow: $0)) }
    }

    private func goalOfGlide(movedBy distance: Double) -> Double {
        guard let goalRow, let index = snapshot.rows.firstIndex(where: { $0.id == goalRow.id }) else {
            return (glide?.goal ?? 0) + distance
        }
        return snapshot.offset(ofRow: index) + goalRow.distance
    }

    /// Shows what is around the rows.
    func show(_ state: FlowViewState) {
        olderEdge.show(state.older)
        newerEdge.show(state.newer)
        if state.awaitsViewMeasuring { measureInFrames() }
    }

    /// Refreshes every cell, as after a change of theme.
    func refreshAll() {
        isAllStale = true
        contentDidMove()
        for cell in cells.values { cell.setNeedsDisplay() }
        for line in lines.values { line.setNeedsDisplay() }
    }

    private func measureInFrames() {
        guard !isMeasuring else { return }
        isMeasuring = true
        animate { [weak self] _ in
            guard let self else { return false }
            self.isMeasuring = self.controller.measureViews(
                within: .milliseconds(2), clock: ContinuousClock()
            ) { request in self.size(for: request) }
            return self.isMeasuring
        }
    }

    /// The size of a component by its view's own strategy.
    private func size(for request: MeasureRequest) -> LayoutSize? {
        let type = registry.type(for: request.key.component, kind: request.message.content.kind)
        let fitting = CGSize(
            width: request.fittingSize.width, height: min(request.fittingSize.height, 4_000_000))
        MessageViewContext.sized = sizingContext(of: request)
        defer { MessageViewContext.sized = nil }
        guard let strategy = type.createSizeStrategy(message: request.message, fittingSize: fitting) else {
            return request.appearance.layout.minimumSize
        }
        let size = strategy.calculateSize(type, message: request.message, fittingSize: fitting)
        return LayoutSize(width: size.width, height: size.height)
    }

    /// What the view is told when it is shown, so that it is as large then.
    private func sizingContext(of request: MeasureRequest) -> MessageViewContext {
        var context = MessageViewContext()
        context.appearance = request.appearance
        context.textScale = request.key.textScale
        context.direction = PlatformApplication.isRightToLeft ? .rightToLeft : .leftToRight
        context.directory = directory
        context.strings = strings
        context.images = images
        return context
    }

    // MARK: scrolling

    private func scroll(to offset: Double, isAnimated: Bool) {
        let start = contentOffset
        guard isAnimated, abs(offset - start) >= 1 else {
            glide = nil
            setContentOffset(offset)
            report(isByReader: false)
            return
        }
        glide = (start, offset)
        glideNumber += 1
        let number = glideNumber
        var began: Double?
        animate { [weak self] time in
            guard let self, self.glideNumber == number, let glide = self.glide else { return false }
            let from = began ?? time
            began = from
            let progress = min(1, (time - from) / 0.15)
            let eased = 1 - (1 - progress) * (1 - progress) * (1 - progress)
            self.setContentOffset(glide.start + (glide.goal - glide.start) * eased)
            if progress == 1 { self.glide = nil }
            self.report(isByReader: false)
            return progress < 1
        }
    }

    /// Tells the flow where the reader is now.
    public override func didScroll() {
        glide = nil
        report(isByReader: true)
        onScroll?()
    }

    private func report(isByReader: Bool) {
        let event = FlowEvent.scrolled(
            offset: contentOffset, version: snapshot.version, isByReader: isByReader)
        // What follows from it may add rows, which GTK does not suffer while it lays out.
        if PlatformView.layoutDepth > 0 { controller.submit(event) } else { controller.handle(event) }
    }

    private func highlight(_ id: MessageID) {
        var began: Double?
        animate { [weak self] time in
            let from = began ?? time
            began = from
            let progress = min(1, (time - from) / 1.5)
            // Without motion it does not fade: it is there, and then it is not.
            let isFading = progress >= 0.6 && PlatformApplication.animates
            self?.cells[id]?.highlight = progress == 1 ? 0 : isFading ? (1 - progress) / 0.4 : 1
            return progress < 1 && self != nil
        }
    }

    // MARK: placing

    /// Reports another size; what it changes comes back as an update.
    public override func layoutSubviews() {
        guard bounds.size != reportedSize else { return }
        reportedSize = bounds.size
        controller.submit(.resized(LayoutSize(width: bounds.width, height: bounds.height)))
    }

    /// Gives cells to what came into view and takes them from what left it.
    public override func contentDidMove() {
        let offset = contentOffset.rounded()
        let visible = snapshot.visibleRows(from: offset - 40, height: bounds.height + 80)
        wanted.removeAll(keepingCapacity: true)
        for row in visible { wanted.insert(snapshot.rows[row].id) }
        recycle()
        for row in visible { place(row, at: offset) }
        if isAllStale { stale = [] } else { stale.subtract(wanted) }
        isAllStale = false
        placeEdges(at: offset)
        setNeedsLayout()
        noteVisible(from: offset)
    }

    private func noteVisible(from offset: Double) {
        let ids = snapshot.visibleRows(from: offset, height: bounds.height)
            .map { snapshot.rows[$0] }.filter(\.isMessage).map(\.message)
        guard ids != visibleMessages else { return }
        visibleMessages = ids
        onVisibleChange?()
    }

    /// Puts aside what shows rows that are out of view.
    private func recycle() {
        // Found first: a dictionary that changes while it is gone through is copied whole.
        for id in cells.keys.filter({ !wanted.contains(.message($0)) }) {
            guard let cell = cells.removeValue(forKey: id) else { continue }
            if cell.containsFocus { focus() }
            cell.isHidden = true
            cell.prepareForReuse()
            spareCells.append(cell)
        }
        for id in lines.keys.filter({ !wanted.contains($0) }) {
            guard let line = lines.removeValue(forKey: id) else { continue }
            line.isHidden = true
            spareLines.append(line)
        }
    }

    private func place(_ row: Int, at offset: Double) {
        let flowRow = snapshot.rows[row]
        let top = snapshot.offset(ofRow: row).rounded() - offset
        let height = snapshot.offset(ofRow: row + 1).rounded() - snapshot.offset(ofRow: row).rounded()
        let frame = CGRect(x: 0, y: top, width: bounds.width, height: height)
        if flowRow.isMessage {
            placeCell(flowRow, frame: frame)
        } else {
            placeLine(flowRow, frame: frame)
        }
    }

    private func placeCell(_ row: FlowRow, frame: CGRect) {
        let known = cells[row.message]
        let isStale = known == nil || isAllStale || stale.contains(row.id)
        if !isStale, let known, known.layoutVersion == snapshot.version {
            // The reader scrolled: the row is the same, and stands elsewhere.
            known.frame = frame
            return
        }
        guard let layout = controller.rowLayout(of: row.message) else { return }
        let shown = isStale ? message(row.message) : nil
        guard let cell = known ?? shown.map(makeCell) else { return }
        cells[row.message] = cell
        if isStale {
            guard let message = shown else { return }
            let sheet = controller.configuration.appearance
            cell.configure(with: message, layout: layout, registry: registry) { component in
                var context = MessageViewContext()
                context.appearance = sheet.appearance(of: component, for: message)
                context.isRunStart = row.grouping.contains(.beginsRun)
                context.isRunEnd = row.grouping.contains(.endsRun)
                context.textScale = textScale
                context.direction = PlatformApplication.isRightToLeft ? .rightToLeft : .leftToRight
                context.directory = directory
                context.strings = strings
                context.player = player
                context.images = images
                return context
            }
            cell.accessibilityLabel = label(for: message)
            offerActions(of: message, on: cell)
            cell.selectionMark = mark(of: row.message)
            cell.revealedTime = time(of: row.message)
            cell.remark = remarks[row.message]
        } else {
            cell.place(layout)
        }
        cell.frame = frame
        cell.layoutVersion = snapshot.version
        if cell.isHidden { cell.isHidden = false }
    }

    /// Shows how far the sound of a message is.
    private func soundChanged(_ id: MessageID) {
        guard let cell = cells[id], let message = cell.message else { return }
        cell.view(for: .content)?.setNeedsDisplay()
        cell.accessibilityLabel = label(for: message)
        offerActions(of: message, on: cell)
    }

    private func offerActions(of message: Message, on cell: MessageCell) {
        guard let actions else { return }
        cell.setAccessibilityActions(actions(message, cell)) { [weak self, weak cell] name in
            guard let self, let cell else { return }
            self.onAction?(name, cell)
        }
    }

    /// A cell for a message, preferably one that showed another of its look: its views can all be used again.
    private func makeCell(for message: Message) -> MessageCell {
        let look = MessageCell.Look(message)
        if let index = spareCells.lastIndex(where: { $0.look == look }) {
            return spareCells.remove(at: index)
        }
        if spareCells.count >= Self.spareCellCountMax { return spareCells.removeFirst() }
        let cell = MessageCell()
        addSubview(cell)
        cell.onFocusChange { [weak cell] _ in
            guard let cell else { return }
            cell.showsFocus = cell.isFocused
        }
        cell.onSelect = { [weak self] selecting in
            guard let self else { return }
            for cell in self.cells.values where cell !== selecting { cell.clearSelection() }
        }
        // The keys that copy are for what was selected, wherever the keyboard was; during the drag it would end it.
        cell.onSelectionEnd = { [weak self] in
            guard let self, !self.containsFocus else { return }
            self.focus()
        }
        return cell
    }

    private func placeLine(_ row: FlowRow, frame: CGRect) {
        let isNew = lines[row.id] == nil
        let line: FlowLineView
        if let known = lines[row.id] ?? spareLines.popLast() {
            line = known
        } else {
            line = FlowLineView()
            addSubview(line)
        }
        lines[row.id] = line
        if isNew || isAllStale || stale.contains(row.id) {
            switch row.id.kind {
            case .unreadMark: line.show(unreadWords, look: .unread, scale: textScale)
            default: line.show(timeStyle.text(for: row), look: .quiet, scale: textScale)
            }
        }
        line.frame = frame
        line.isHidden = false
    }

    /// What the unread mark says: how many there are, when all of them are in the window.
    private var unreadWords: String {
        guard let unread = controller.configuration.unread, let last = snapshot.messages.last,
            last.position >= unread.newest
        else { return strings[.newMessages] }
        let count = snapshot.messages.count { message in
            // What belongs to nobody is no message that somebody wrote.
            !message.isOutgoing && message.position > unread.lastRead && message.position <= unread.newest
                && registry.type(for: .content, kind: message.content.kind) != NoticeMessageView.self
        }
        return count == 0 ? strings[.newMessages] : strings[.newMessageCount, count: count]
    }

    private func placeEdges(at offset: Double) {
        let leading = snapshot.leadingSpace
        olderEdge.isHidden = leading <= 0 || offset > leading
        olderEdge.frame = CGRect(x: 0, y: -offset, width: bounds.width, height: leading)
        let trailing = snapshot.trailingSpace
        let end = snapshot.contentHeight - trailing - offset
        newerEdge.isHidden = trailing <= 0 || end > bounds.height
        newerEdge.frame = CGRect(x: 0, y: end, width: bounds.width, height: trailing)
    }

    // MARK: rows

    /// The message of the snapshot with this identity.
    func message(_ id: MessageID) -> Message? {
        if messageIndex.isEmpty {
            for (index, message) in snapshot.messages.enumerated() { messageIndex[message.id] = index }
        }
        return messageIndex[id].map { snapshot.messages[$0] }
    }

    /// The cell that shows a message; nil when it is out of view.
    public func cell(for id: MessageID) -> MessageCell? { cells[id] }

    /// The cell under a point.
    func cell(at point: CGPoint) -> MessageCell? {
        cells.values.first { !$0.isHidden && $0.frame.contains(point) }
    }

    /// The cells in view, from top to bottom.
    public var visibleCells: [MessageCell] {
        cells.values.filter { !$0.isHidden && $0.frame.maxY > 0 && $0.frame.minY < bounds.height }
            .sorted { $0.frame.minY < $1.frame.minY }
    }

    /// What assistive technology says of a row: sender, content, time and state.
    func label(for message: Message) -> String {
        let sender =
            message.isOutgoing
            ? strings[.you] : directory?.name(of: message.sender, in: message.session) ?? ""
        let state =
            switch message.state {
            case .received: ""
            case .preparing, .sending: strings[.sending]
            case .accepted: strings[.sent]
            case .delivered: strings[.delivered]
            case .read(let count): count > 1 ? strings[.readBy, count: count] : strings[.wasRead]
            case .failed(let reason): reason.isEmpty ? strings[.notSent] : strings[.notSentBecause, reason]
            }
        let isFailedSound = player.status(of: message.id) == .failed
        let sound = isFailedSound ? strings[.soundFailed] : ""
        let isBurning = message.burnSeconds != nil && message.content != .erased
        let burning = isBurning ? strings[.burnsAfterReading] : ""
        let choice = mark(of: message.id).map { strings[$0 ? .selected : .notSelected] } ?? ""
        return [
            sender, MessageText.label(of: message, strings), sound, clock(message), state, burning, choice,
        ]
        .filter { !$0.isEmpty }.joined(separator: strings[.separator])
    }

    // MARK: selecting, and times

    private func mark(of id: MessageID) -> Bool? {
        guard selection.isActive, let message = message(id), canSelect?(message) ?? true else { return nil }
        return selection.contains(id)
    }

    private func showSelection() {
        for (id, cell) in cells {
            cell.selectionMark = mark(of: id)
            if let message = cell.message { cell.accessibilityLabel = label(for: message) }
        }
    }

    private func time(of id: MessageID) -> String? {
        guard revealsTimes || hovered == id, let message = message(id) else { return nil }
        return clock(message)
    }

    private func clock(_ message: Message) -> String {
        timeStyle.timeText(
            ofMilliseconds: message.timeMilliseconds, in: controller.configuration.zone)
    }

    private func showRemarks() {
        for (id, cell) in cells { cell.remark = remarks[id] }
    }

    private func showTimes() {
        for (id, cell) in cells { cell.revealedTime = time(of: id) }
    }

    /// Whether a point lies on an offer to load again.
    func isRetry(at point: CGPoint) -> PageDirection? {
        if !olderEdge.isHidden, olderEdge.isRetry, olderEdge.frame.contains(point) { return .older }
        if !newerEdge.isHidden, newerEdge.isRetry, newerEdge.frame.contains(point) { return .newer }
        return nil
    }

    /// What is selected in any row; empty for nothing.
    public var selectedText: String {
        for cell in visibleCells where !cell.selectedText.isEmpty { return cell.selectedText }
        return ""
    }

    /// Selects nothing.
    func clearSelection() {
        for cell in cells.values { cell.clearSelection() }
    }
}
