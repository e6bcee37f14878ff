/// Where the components of one row stand, measured from the row's left top corner.
public struct RowLayout: Hashable, Sendable {
    /// The height of the whole row, the space above it included.
    public var height: Double
    /// The frames of the components that the row shows; nil for the others.
    public var frames: ComponentValues<LayoutRect?>

    /// Makes a layout.
    public init(height: Double, frames: ComponentValues<LayoutRect?>) {
        self.height = height
        self.frames = frames
    }
}

/// Puts the five components of a row together.
///
/// Header, content and footer stand in a column, from top to bottom; the avatar stands beside the column at its top,
/// the accessory beside the content at its bottom line. Rows of the reader are the mirror of rows of others, and in
/// a right-to-left interface everything is mirrored once more.
public struct RowComposer: Hashable, Sendable {
    /// The width of the flow.
    public var width: Double
    /// The space between the flow's edges and the row.
    public var margin: Double
    /// The space above the row.
    public var gapAbove: Double
    /// Whether the reader wrote the message.
    public var isOutgoing: Bool
    /// Whether the row is the first of a sender's run.
    public var isRunStart: Bool
    /// Whether the row is the last of a sender's run.
    public var isRunEnd: Bool
    /// The direction in which the interface reads.
    public var direction: ReadingDirection

    /// Makes the composer of one row.
    public init(
        width: Double, margin: Double = FlowTokens.standard.flowMargin, gapAbove: Double = 0,
        isOutgoing: Bool = false, isRunStart: Bool = true, isRunEnd: Bool = true,
        direction: ReadingDirection = .leftToRight
    ) {
        self.width = width
        self.margin = margin
        self.gapAbove = gapAbove
        self.isOutgoing = isOutgoing
        self.isRunStart = isRunStart
        self.isRunEnd = isRunEnd
        self.direction = direction
    }

    /// Whether this row shows the component.
    public func shows(_ appearance: ComponentAppearance) -> Bool {
        appearance.visibility.isShown(isOutgoing: isOutgoing, isRunStart: isRunStart, isRunEnd: isRunEnd)
    }

    /// The greatest size that the component may take; its height is unbounded unless its layout bounds it.
    public func fittingSize(
        of component: MessageComponent, in appearances: ComponentValues<ComponentAppearance>
    ) -> LayoutSize {
        let layout = appearances[component].layout
        var available = max(0, width - 2 * margin)
        if component != .avatar, appearances[.content].layout.alignment == .side {
            available -= avatarColumn(in: appearances)
        }
        if component == .content, shows(appearances[.accessory]), layout.alignment == .side {
            let accessory = appearances[.accessory].layout
            available -= accessory.minimumSize.width + accessory.spacing
        }
        let bounded = min(available, layout.maximumWidth, layout.maximumWidthFraction * width)
        return LayoutSize(width: max(0, bounded), height: layout.maximumHeight)
    }

    /// The layout of the row from the sizes of its components; sizes of components that are not shown are ignored.
    public func compose(
        sizes: ComponentValues<LayoutSize>, appearances: ComponentValues<ComponentAppearance>
    ) -> RowLayout {
        var frames = ComponentValues<LayoutRect?> { _ in nil }
        let column = margin + avatarColumn(in: appearances)
        var y = gapAbove
        for component in [MessageComponent.header, .content, .footer] where shows(appearances[component]) {
            let layout = appearances[component].layout
            let fitting = fittingSize(of: component, in: appearances)
            let size = layout.clamp(sizes[component], toWidth: fitting.width)
            if component == .footer { y += layout.spacing }
            frames[component] = horizontal(layout.alignment, size: size, y: y, column: column)
            y += size.height
            if component == .header { y += layout.spacing }
        }
        var bottom = y
        if shows(appearances[.accessory]), let content = frames[.content] {
            let layout = appearances[.accessory].layout
            let room = width - margin - content.maxX - layout.spacing
            let size = layout.clamp(sizes[.accessory], toWidth: room)
            let top = max(gapAbove, content.maxY - size.height)
            frames[.accessory] = LayoutRect(
                x: content.maxX + layout.spacing, y: top, width: size.width, height: size.height)
            bottom = max(bottom, top + size.height)
        }
        if shows(appearances[.avatar]) {
            let size = appearances[.avatar].layout.clamp(sizes[.avatar], toWidth: max(0, width - 2 * margin))
            frames[.avatar] = LayoutRect(x: margin, y: gapAbove, width: size.width, height: size.height)
            bottom = max(bottom, gapAbove + size.height)
        }
        if isOutgoing != (direction == .rightToLeft) {
            for component in MessageComponent.allCases {
                frames[component] = frames[component]?.mirrored(inWidth: width)
            }
        }
        return RowLayout(height: bottom, frames: frames)
    }

    /// The width that the avatar takes from the column, the space beside it included.
    private func avatarColumn(in appearances: ComponentValues<ComponentAppearance>) -> Double {
        let avatar = appearances[.avatar]
        guard shows(avatar) || avatar.visibility.reservesColumn(isOutgoing: isOutgoing) else { return 0 }
        return avatar.layout.minimumSize.width + avatar.layout.spacing
    }

    private func horizontal(
        _ alignment: ComponentLayout.Alignment, size: LayoutSize, y: Double, column: Double
    ) -> LayoutRect {
        switch alignment {
        case .side: LayoutRect(x: column, y: y, width: size.width, height: size.height)
        case .center: LayoutRect(x: (width - size.width) / 2, y: y, width: size.width, height: size.height)
        case .fill:
            LayoutRect(x: margin, y: y, width: max(0, width - 2 * margin), height: size.height)
        }
    }
}
