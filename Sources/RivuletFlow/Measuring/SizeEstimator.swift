public import RivuletModel

/// Guesses the size of a component that nobody has measured yet: the running average of its kind at a like width.
///
/// Widths count as alike when they fall into the same band. A kind that was never measured at this width borrows its
/// average at any width, and one never measured at all gets a constant.
public struct SizeEstimator: Sendable {
    private struct Slot: Hashable {
        var component: MessageComponent
        var kind: MessageKind
        var band: Int
    }

    private struct Average: Sendable {
        var size = LayoutSize.zero
        var count = 0

        mutating func add(_ sample: LayoutSize) {
            count = min(count + 1, SizeEstimator.weightMax)
            size.width += (sample.width - size.width) / Double(count)
            size.height += (sample.height - size.height) / Double(count)
        }
    }

    /// The number of samples after which old ones begin to fade.
    public static let weightMax = 64
    /// The breadth of a band of widths that count as alike, in points.
    public static let bandBreadth = 64.0

    private var averages: [Slot: Average] = [:]

    /// Makes an estimator that has seen nothing.
    public init() {}

    /// Learns from a measured size.
    public mutating func add(
        _ size: LayoutSize, of component: MessageComponent, kind: MessageKind, width: Double
    ) {
        let band = Self.band(of: width)
        averages[Slot(component: component, kind: kind, band: band), default: Average()].add(size)
        averages[Slot(component: component, kind: kind, band: Self.anyBand), default: Average()].add(size)
    }

    /// The guess for a component with this appearance.
    public func estimate(
        of component: MessageComponent, kind: MessageKind, width: Double, appearance: ComponentAppearance
    ) -> LayoutSize {
        let size: LayoutSize
        if let near = averages[Slot(component: component, kind: kind, band: Self.band(of: width))] {
            size = near.size
        } else if let any = averages[Slot(component: component, kind: kind, band: Self.anyBand)] {
            size = any.size
        } else {
            let style = appearance.style
            size = LayoutSize(
                width: width, height: component == .content ? style.lineHeight * 2 : style.lineHeight)
        }
        return appearance.layout.clamp(size, toWidth: width)
    }

    /// Forgets everything, as after a change of style.
    public mutating func reset() {
        averages = [:]
    }

    private static let anyBand = -1

    private static func band(of width: Double) -> Int {
        guard width.isFinite, width > 0 else { return 0 }
        return Int(min(width, 1_000_000) / bandBreadth)
    }
}
