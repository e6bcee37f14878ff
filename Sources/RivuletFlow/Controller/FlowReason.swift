/// Why rows are applied; it decides whether the reader may be moved and what is animated.
///
/// Applies are coalesced, so one may have several reasons.
///
/// | reason | a reader at the bottom | a reader further up |
/// |---|---|---|
/// | ``firstLoad`` | the opening's place | the opening's place |
/// | ``historyPage``, ``newerPage`` | the anchor is kept | the anchor is kept |
/// | ``live`` | follows the bottom, animated | the anchor is kept, the message is counted |
/// | ``ownSend`` | follows the bottom, animated | goes to the bottom, animated |
/// | ``jump`` | goes to the target | goes to the target |
/// | ``edit``, ``reload``, ``resize``, ``restyle``, ``measurement``, ``clock`` | stays at the bottom | the anchor is kept |
///
/// While the reader drags, every reason keeps the anchor; what would have gone to a target does so afterwards.
public struct FlowReason: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt16

    /// Makes reasons of these bits.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The first page of the session.
    public static let firstLoad = FlowReason(rawValue: 1)
    /// A page before the oldest message.
    public static let historyPage = FlowReason(rawValue: 1 << 1)
    /// A page after the newest message of the window.
    public static let newerPage = FlowReason(rawValue: 1 << 2)
    /// Messages that just arrived.
    public static let live = FlowReason(rawValue: 1 << 3)
    /// A message that the reader sends.
    public static let ownSend = FlowReason(rawValue: 1 << 4)
    /// Messages that changed or went: acknowledged, edited, withdrawn, deleted.
    public static let edit = FlowReason(rawValue: 1 << 5)
    /// A wish to see a certain message or the newest ones.
    public static let jump = FlowReason(rawValue: 1 << 6)
    /// The window was read anew.
    public static let reload = FlowReason(rawValue: 1 << 7)
    /// The viewport has another size.
    public static let resize = FlowReason(rawValue: 1 << 8)
    /// Style, text size, reading direction or configuration changed.
    public static let restyle = FlowReason(rawValue: 1 << 9)
    /// Sizes became known or changed late.
    public static let measurement = FlowReason(rawValue: 1 << 10)
    /// A new day began, or the time zone changed.
    public static let clock = FlowReason(rawValue: 1 << 11)

    /// The reasons whose new rows a reader at the bottom sees slide in.
    static let animated: FlowReason = [.live, .ownSend]
    /// The reasons that never move a reader, not even one at the bottom.
    static let anchoring: FlowReason = [.historyPage, .newerPage]
}
