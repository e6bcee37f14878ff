/// Local time as whole numbers: the offsets of one time zone, and days and dates by arithmetic.
///
/// The zone comes in from outside as a function from a time to its offset; the table keeps the moments at which
/// the offset changes. So the flow needs no library of zones, and a lookup takes nanoseconds:
///
/// ```swift
/// let zone = TimeZone.current
/// let local = ZoneOffsets { zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double($0))) }
/// ```
public struct ZoneOffsets: Hashable, Sendable {
    /// A moment from which on another offset holds.
    public struct Transition: Hashable, Sendable {
        /// Seconds since 1970.
        public var atSeconds: Int64
        /// Seconds by which local time is ahead of UTC from then on.
        public var offsetSeconds: Int32

        /// Makes a transition.
        public init(atSeconds: Int64, offsetSeconds: Int32) {
            self.atSeconds = atSeconds
            self.offsetSeconds = offsetSeconds
        }
    }

    /// Seconds by which local time is ahead of UTC before the first transition.
    public private(set) var firstOffsetSeconds: Int32
    /// The changes of the offset, ascending.
    public private(set) var transitions: [Transition]

    /// Coordinated universal time.
    public static let utc = ZoneOffsets(fixedSeconds: 0)

    /// Makes a zone that never changes its offset.
    public init(fixedSeconds: Int32) {
        firstOffsetSeconds = fixedSeconds
        transitions = []
    }

    /// Makes a zone of known transitions, in any order.
    public init(firstOffsetSeconds: Int32, transitions: [Transition]) {
        self.firstOffsetSeconds = firstOffsetSeconds
        self.transitions = transitions.sorted { $0.atSeconds < $1.atSeconds }
    }

    /// Makes a zone by asking for its offset at many moments.
    ///
    /// The offset is asked for once a week, and each change found is narrowed down to the second. Two changes
    /// within one week that cancel each other out are not seen. About 4,000 questions for the default stretch.
    ///
    /// - Parameters:
    ///   - seconds: The stretch to cover, in seconds since 1970; the offsets at its ends hold beyond them. The
    ///     default is 1970 to 2050.
    ///   - offset: The offset at a moment, both in seconds.
    public init(covering seconds: Range<Int64> = 0..<2_524_608_000, offset: (Int64) -> Int) {
        let week: Int64 = 7 * 86_400
        var known = Int32(clamping: offset(seconds.lowerBound))
        firstOffsetSeconds = known
        transitions = []
        for start in stride(from: seconds.lowerBound, to: seconds.upperBound, by: Int64.Stride(week)) {
            let end = min(start + week, seconds.upperBound)
            var low = start
            while true {
                let next = Int32(clamping: offset(end))
                guard next != known else { break }
                // The first moment at which the offset is no longer the known one.
                var high = end
                while high - low > 1 {
                    let middle = low + (high - low) / 2
                    if Int32(clamping: offset(middle)) == known { low = middle } else { high = middle }
                }
                known = Int32(clamping: offset(high))
                transitions.append(Transition(atSeconds: high, offsetSeconds: known))
                low = high
                guard high < end else { break }
            }
        }
    }

    /// Seconds by which local time is ahead of UTC at a time given in milliseconds since 1970.
    public func offsetSeconds(atMilliseconds time: Int64) -> Int32 {
        let seconds = time.flooredQuotient(by: 1000)
        guard let last = transitions.last, let first = transitions.first, seconds >= first.atSeconds else {
            return firstOffsetSeconds
        }
        if seconds >= last.atSeconds { return last.offsetSeconds }
        var (low, high) = (0, transitions.count - 1)
        while high - low > 1 {
            let middle = (low + high) / 2
            if transitions[middle].atSeconds <= seconds { low = middle } else { high = middle }
        }
        return transitions[low].offsetSeconds
    }

    /// The local day of a time given in milliseconds since 1970: days since 1 January 1970.
    public func day(ofMilliseconds time: Int64) -> Int64 {
        let local = time.flooredQuotient(by: 1000) + Int64(offsetSeconds(atMilliseconds: time))
        return local.flooredQuotient(by: 86_400)
    }

    /// The time at which a local day begins, in milliseconds since 1970.
    ///
    /// Where the clock is put forward at midnight, it is the first moment of the day.
    public func beginning(ofDay day: Int64) -> Int64 {
        // No offset exceeds a day, so the day begins within two days around its UTC namesake.
        let bounded = min(max(day, -100_000_000), 100_000_000)
        var low = (bounded - 1) * 86_400
        var high = (bounded + 1) * 86_400
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if self.day(ofMilliseconds: middle * 1000) < bounded { low = middle } else { high = middle }
        }
        return high * 1000
    }
}

/// A date of the Gregorian calendar, extended over all times.
public struct CivilDate: Hashable, Sendable {
    /// The year; 0 is 1 BC.
    public var year: Int
    /// The month, 1 to 12.
    public var month: Int
    /// The day of the month, 1 to 31.
    public var day: Int

    /// Makes the date of a day counted from 1 January 1970.
    ///
    /// The arithmetic counts years from 1 March, so that the leap day comes last, in cycles of 400 years.
    public init(day number: Int64) {
        let sinceMarchOfYear0 = Int(number) + 719_468
        let era = sinceMarchOfYear0.flooredQuotient(by: 146_097)
        let dayOfEra = sinceMarchOfYear0 - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The weekday of a day counted from 1 January 1970: 0 is Sunday.
    public static func weekday(ofDay number: Int64) -> Int {
        // 1 January 1970 was a Thursday.
        let shifted = number.flooredRemainder(by: 7) + 4
        return Int(shifted % 7)
    }
}

extension FixedWidthInteger {
    /// The quotient rounded down, for a positive divisor.
    func flooredQuotient(by divisor: Self) -> Self {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }

    /// What remains after rounding down, from 0 up to the positive divisor.
    func flooredRemainder(by divisor: Self) -> Self {
        let remainder = self % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}
