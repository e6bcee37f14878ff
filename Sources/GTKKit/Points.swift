internal import Foundation

extension Int32 {
    /// The nearest whole number that GTK can take; 0 for what is no number and for what has no end.
    ///
    /// A rectangle that is shrunk below nothing is at infinity (`CGRect.null`), and no view may end a program by that.
    nonisolated init(points value: Double, max limit: Double = 1e8) {
        guard value.isFinite else {
            self = 0
            return
        }
        // GTK adds extents up, so there has to be room above.
        self = Int32(Swift.min(limit, Swift.max(-limit, value.rounded())))
    }
}

extension CGRect {
    /// The rectangle, or an empty one where it is nowhere.
    nonisolated var somewhere: CGRect { isNull || isInfinite ? .zero : self }
}
