import RivuletModel

/// What is known about the size of every row: measured sizes, estimates, and what is still asked for.
struct MeasureBook {
    /// Everything but the message on which sizes depend.
    struct Environment: Equatable {
        var width = 0.0
        var textScale = 1.0
        var styleEpoch = 0
        var direction = ReadingDirection.leftToRight
    }

    struct Entry {
        var revision = 0
        var sizes = ComponentValues<LayoutSize> { _ in .zero }
        /// The widths for which the sizes were measured or asked for.
        var widths = ComponentValues<Double> { _ in -1 }
        /// The numbers of the requests under way; 0 for none.
        var tickets = ComponentValues<Int> { _ in 0 }
        /// The components whose size is measured or estimated at all.
        var known: ComponentSet = []
        /// The components whose size is measured.
        var exact: ComponentSet = []
        /// The components that the row shows.
        var shown: ComponentSet = []
        /// The sizes with which the row was last applied, from which its frames are made.
        var applied: ComponentValues<LayoutSize>?

        var isExact: Bool { shown.isSubset(of: exact) }
    }

    private(set) var environment = Environment()
    private(set) var snapshots: LayoutSnapshots
    private(set) var estimator = SizeEstimator()
    /// The messages of which a component waits for widgets.
    private(set) var awaitingViews: Set<MessageID> = []
    private var entries: [MessageID: Entry] = [:]
    private var shapes = RowShapes()
    private var sizing: SizingTable
    private var strings: InterfaceStrings
    private var lastTicket = 0

    init(configuration: FlowConfiguration) {
        snapshots = LayoutSnapshots(countMax: configuration.snapshotCountMax)
        sizing = configuration.sizing
        strings = configuration.strings
        shapes.sheet = configuration.appearance
    }

    func entry(of id: MessageID) -> Entry? {
        entries[id]
    }

    // MARK: what invalidates

    /// Changes what all sizes depend on; the present ones serve as estimates until measured anew.
    mutating func setEnvironment(_ environment: Environment) {
        guard environment != self.environment else { return }
        let isSameLook =
            environment.textScale == self.environment.textScale
            && environment.styleEpoch == self.environment.styleEpoch
        self.environment = environment
        if !isSameLook { estimator = SizeEstimator() }
        shapes.reset(environment: environment)
        for id in Array(entries.keys) { invalidate(id) }
    }

    /// Takes over looks and sizing; the caller also begins a new style epoch.
    mutating func configure(_ configuration: FlowConfiguration) {
        if configuration.snapshotCountMax != snapshots.countMax {
            snapshots = LayoutSnapshots(countMax: configuration.snapshotCountMax)
        }
        sizing = configuration.sizing
        strings = configuration.strings
        shapes.sheet = configuration.appearance
        shapes.reset(environment: environment)
    }

    /// Forgets which sizes of a message are right; they stay as estimates.
    mutating func invalidate(_ id: MessageID, components: ComponentSet = .all) {
        entries[id]?.exact.subtract(components)
        for component in MessageComponent.allCases where components.contains(component) {
            entries[id]?.tickets[component] = 0
        }
    }

    mutating func forget(_ id: MessageID) {
        entries[id] = nil
        awaitingViews.remove(id)
    }

    mutating func forgetAll() {
        entries = [:]
        awaitingViews = []
    }

    mutating func clearSnapshots(of id: MessageID) {
        snapshots.clear(message: id)
    }

    /// Forgets snapshots and returns the messages among those given whose sizes must be found anew.
    mutating func clear(_ scope: SnapshotScope, among messages: [Message]) -> [MessageID] {
        switch scope {
        case .message(let id): snapshots.clear(message: id)
        case .kind(let kind): snapshots.clear(kind: kind)
        case .all: snapshots.clearAll()
        }
        let affected = messages.filter { message in
            switch scope {
            case .message(let id): message.id == id
            case .kind(let kind): message.content.kind == kind
            case .all: true
            }
        }.map(\.id)
        for id in affected { invalidate(id) }
        return affected
    }

    // MARK: asking

    /// Brings the entry of a row up to date and appends the requests that this takes.
    ///
    /// Snapshots answer at once. Sizes for widgets are not appended but noted in ``awaitingViews``.
    mutating func refresh(
        _ message: Message, grouping: FlowRow.Grouping, into requests: inout [MeasureRequest]
    ) {
        var entry = entries[message.id] ?? Entry()
        if entry.revision != message.revision {
            entry.revision = message.revision
            entry.exact = []
            entry.tickets = ComponentValues { _ in 0 }
        }
        let shape = shapes.shape(for: message, grouping: grouping)
        entry.shown = shape.shown
        var awaitsViews = false
        for component in MessageComponent.allCases where shape.shown.contains(component) {
            let fitting = shape.fitting[component]
            if entry.widths[component] != fitting.width {
                entry.widths[component] = fitting.width
                entry.exact.remove(component)
                entry.tickets[component] = 0
            }
            guard !entry.exact.contains(component) else { continue }
            let isView = sizing.sizing(of: component, kind: message.content.kind).isView
            guard entry.tickets[component] == 0 else {
                awaitsViews = awaitsViews || isView
                continue
            }
            let key = key(of: component, message: message, width: fitting.width)
            if shape.appearances[component].layout.usesSnapshots, let size = snapshots.size(for: key) {
                entry.sizes[component] = size
                entry.exact.insert(component)
                entry.known.insert(component)
                continue
            }
            if !entry.known.contains(component) {
                entry.known.insert(component)
                entry.sizes[component] = estimator.estimate(
                    of: component, kind: message.content.kind, width: fitting.width,
                    appearance: shape.appearances[component])
            }
            lastTicket += 1
            entry.tickets[component] = lastTicket
            if isView {
                awaitsViews = true
            } else {
                requests.append(
                    MeasureRequest(
                        ticket: lastTicket, key: key, message: message, fittingSize: fitting,
                        appearance: shape.appearances[component], strings: strings))
            }
        }
        entries[message.id] = entry
        if awaitsViews { awaitingViews.insert(message.id) } else { awaitingViews.remove(message.id) }
    }

    /// The requests of one message that widgets have to answer.
    mutating func viewRequests(
        for message: Message, grouping: FlowRow.Grouping
    ) -> [MeasureRequest] {
        guard awaitingViews.contains(message.id), let entry = entries[message.id] else { return [] }
        let shape = shapes.shape(for: message, grouping: grouping)
        var requests: [MeasureRequest] = []
        for component in MessageComponent.allCases
        where shape.shown.contains(component) && !entry.exact.contains(component)
            && sizing.sizing(of: component, kind: message.content.kind).isView
        {
            requests.append(
                MeasureRequest(
                    ticket: entry.tickets[component],
                    key: key(of: component, message: message, width: shape.fitting[component].width),
                    message: message, fittingSize: shape.fitting[component],
                    appearance: shape.appearances[component], strings: strings))
        }
        return requests
    }

    // MARK: answers

    /// Takes an answer over if it is still wanted.
    ///
    /// - Returns: Whether the size of the row may have changed.
    mutating func take(_ measurement: Measurement, message: Message, grouping: FlowRow.Grouping) -> Bool {
        let component = measurement.key.component
        guard var entry = entries[message.id], measurement.ticket != 0,
            entry.tickets[component] == measurement.ticket
        else { return false }
        entry.tickets[component] = 0
        let shape = shapes.shape(for: message, grouping: grouping)
        let before = entry.sizes[component]
        if let size = measurement.size?.sanitized {
            entry.sizes[component] = size
            estimator.add(
                size, of: component, kind: message.content.kind, width: shape.fitting[component].width)
            if shape.appearances[component].layout.usesSnapshots {
                snapshots.insert(size, kind: message.content.kind, for: measurement.key)
            }
        }
        // A size that could not be found stays an estimate for good, or it would be asked for without end.
        entry.exact.insert(component)
        entries[message.id] = entry
        if awaitingViews.contains(message.id), viewRequests(for: message, grouping: grouping).isEmpty {
            awaitingViews.remove(message.id)
        }
        return entry.sizes[component] != before
    }

    /// Takes over a size that changed late.
    mutating func set(
        _ size: LayoutSize, of component: MessageComponent, message: Message, grouping: FlowRow.Grouping
    ) -> Bool {
        guard var entry = entries[message.id] else { return false }
        let shape = shapes.shape(for: message, grouping: grouping)
        let before = entry.sizes[component]
        entry.sizes[component] = size.sanitized
        entry.tickets[component] = 0
        entry.exact.insert(component)
        entry.known.insert(component)
        entry.widths[component] = shape.fitting[component].width
        entries[message.id] = entry
        if shape.appearances[component].layout.usesSnapshots {
            let key = key(of: component, message: message, width: shape.fitting[component].width)
            snapshots.insert(size.sanitized, kind: message.content.kind, for: key)
        }
        return before != size.sanitized
    }

    // MARK: results

    /// The height of a message's row, from measured sizes and estimates.
    mutating func height(of message: Message, grouping: FlowRow.Grouping) -> Double {
        guard let entry = entries[message.id] else { return 0 }
        let shape = shapes.shape(for: message, grouping: grouping)
        return shape.composer.compose(sizes: entry.sizes, appearances: shape.appearances).height
    }

    /// Notes that the row is shown with the present sizes.
    mutating func markApplied(_ id: MessageID) {
        let sizes = entries[id]?.sizes
        entries[id]?.applied = sizes
    }

    /// The frames of a row's components as last applied.
    mutating func rowLayout(of message: Message, grouping: FlowRow.Grouping) -> RowLayout? {
        guard let sizes = entries[message.id]?.applied else { return nil }
        let shape = shapes.shape(for: message, grouping: grouping)
        return shape.composer.compose(sizes: sizes, appearances: shape.appearances)
    }

    private func key(of component: MessageComponent, message: Message, width: Double) -> MeasureKey {
        MeasureKey(
            message: message.id, component: component, revision: message.revision, width: width,
            textScale: environment.textScale, styleEpoch: environment.styleEpoch)
    }
}
