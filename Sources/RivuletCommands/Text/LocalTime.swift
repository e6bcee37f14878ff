internal import Foundation

/// Days and times as a person in one time zone reads them.
struct LocalTime: Sendable {
    private let calendar: Calendar

    init(timeZone: TimeZone = .current) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        self.calendar = calendar
    }

    private static let weekdays = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ]
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
        "November", "December",
    ]

    /// `Monday, 30 November 2026`.
    func day(_ milliseconds: Int64) -> String {
        let parts = calendar.dateComponents(
            [.weekday, .day, .month, .year], from: LocalTime.date(milliseconds))
        let weekday = LocalTime.weekdays[((parts.weekday ?? 1) - 1) % 7]
        let month = LocalTime.months[((parts.month ?? 1) - 1) % 12]
        return "\(weekday), \(parts.day ?? 1) \(month) \(parts.year ?? 1970)"
    }

    /// `09:05`.
    func time(_ milliseconds: Int64) -> String {
        let parts = calendar.dateComponents([.hour, .minute], from: LocalTime.date(milliseconds))
        return "\(twoDigits(parts.hour)):\(twoDigits(parts.minute))"
    }

    /// `2026-11-30 09:05`.
    func stamp(_ milliseconds: Int64) -> String {
        let parts = calendar.dateComponents([.year, .month, .day], from: LocalTime.date(milliseconds))
        return "\(parts.year ?? 1970)-\(twoDigits(parts.month))-\(twoDigits(parts.day)) \(time(milliseconds))"
    }

    private func twoDigits(_ number: Int?) -> String {
        let number = number ?? 0
        return number < 10 ? "0\(number)" : "\(number)"
    }

    private static func date(_ milliseconds: Int64) -> Date {
        // Some hundred thousand years either way, which the calendar can count; a peer's clock may say anything.
        let bounded = min(max(milliseconds, -9_000_000_000_000_000), 9_000_000_000_000_000)
        return Date(timeIntervalSince1970: Double(bounded) / 1000)
    }
}
