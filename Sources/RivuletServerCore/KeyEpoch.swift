/// Which keys a log gives after it was put back from a copy.
///
/// Keys above the copy's own are with clients already; given to other messages, those would be missed. So the log leaves
/// a gap, and the keys behind it are a new *epoch*.
public enum KeyEpoch {
    /// The greatest key; a number of JavaScript holds it.
    public static let keyMax: Int64 = 1 << 53 - 1
    /// What may have been given since the last known key was written down.
    public static let gap: Int64 = 1 << 24
    /// 2025-01-01, in seconds since 1970.
    private static let firstSecond: Int64 = 1_735_689_600
    /// More keys than a server gives in a second, on an average of years; 2^32 seconds of them fill what there is.
    private static let keysPerSecondShift: Int64 = 21

    /// The key after which a log goes on.
    ///
    /// One copy may be put back twice, and the second log must not give the keys of the first. When nothing is left that
    /// knows them, a clock that is right does: each second since 2025 is worth more keys than were given in it.
    ///
    /// - Parameters:
    ///   - known: The last key of which anything is known, in the copy or beside it.
    ///   - now: When the log is opened.
    /// - Returns: At least `known` and the gap, and at most ``keyMax``.
    public static func start(after known: Int64, at now: WallTime) -> Int64 {
        let seconds = max(0, min(now.milliseconds / 1000 - firstSecond, 1 << 32))
        let behindGap = max(0, min(known, keyMax)) + gap
        return min(max(behindGap, seconds << keysPerSecondShift), keyMax)
    }
}
