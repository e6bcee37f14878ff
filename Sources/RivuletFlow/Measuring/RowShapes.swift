import RivuletModel

/// Some of the five components.
struct ComponentSet: OptionSet, Hashable, Sendable {
    let rawValue: UInt8

    static let all = ComponentSet(rawValue: 0b11111)

    init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    init(_ component: MessageComponent) {
        rawValue = 1 << UInt8(component.rawValue)
    }

    func contains(_ component: MessageComponent) -> Bool {
        contains(ComponentSet(component))
    }

    mutating func insert(_ component: MessageComponent) {
        formUnion(ComponentSet(component))
    }

    mutating func remove(_ component: MessageComponent) {
        subtract(ComponentSet(component))
    }
}

/// What all rows of one kind, direction and place in a run have in common.
///
/// It is large and shared by many rows, hence a class; it never changes.
final class RowShape: Sendable {
    let composer: RowComposer
    let appearances: ComponentValues<ComponentAppearance>
    let shown: ComponentSet
    let fitting: ComponentValues<LayoutSize>

    init(composer: RowComposer, appearances: ComponentValues<ComponentAppearance>) {
        self.composer = composer
        self.appearances = appearances
        var shown: ComponentSet = []
        for component in MessageComponent.allCases where composer.shows(appearances[component]) {
            shown.insert(component)
        }
        self.shown = shown
        fitting = ComponentValues { composer.fittingSize(of: $0, in: appearances) }
    }
}

/// The shapes of rows, made once per kind unless the looks depend on the single message.
struct RowShapes {
    private struct Key: Hashable {
        var kind: MessageKind
        var session: Session.Kind
        var isOutgoing: Bool
        var grouping: FlowRow.Grouping
    }

    var sheet = AppearanceSheet()
    private var environment = MeasureBook.Environment()
    private var shapes: [Key: RowShape] = [:]

    mutating func reset(environment: MeasureBook.Environment) {
        self.environment = environment
        shapes = [:]
    }

    mutating func shape(for message: Message, grouping: FlowRow.Grouping) -> RowShape {
        guard sheet.messageEdit == nil else { return makeShape(for: message, grouping: grouping) }
        let key = Key(
            kind: message.content.kind, session: message.session.kind, isOutgoing: message.isOutgoing,
            grouping: grouping)
        if let shape = shapes[key] { return shape }
        let shape = makeShape(for: message, grouping: grouping)
        shapes[key] = shape
        return shape
    }

    private func makeShape(for message: Message, grouping: FlowRow.Grouping) -> RowShape {
        let tokens = sheet.tokens
        let composer = RowComposer(
            width: environment.width, margin: tokens.flowMargin,
            gapAbove: grouping.contains(.beginsRun) ? tokens.groupGap : tokens.runGap,
            isOutgoing: message.isOutgoing, isRunStart: grouping.contains(.beginsRun),
            isRunEnd: grouping.contains(.endsRun), direction: environment.direction)
        return RowShape(composer: composer, appearances: sheet.appearances(for: message))
    }
}
