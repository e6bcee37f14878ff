import Foundation
import RivuletClient

/// The line under a conversation's name.
nonisolated enum HeaderWords {
    /// What is known, and who is typing.
    ///
    /// - Parameters:
    ///   - standing: What is always known of the conversation, such as its number of members.
    ///   - isGroup: Whether the standing part stays beside the typing.
    ///   - typists: The names of those who type.
    /// - Returns: The line; empty when there is nothing to say.
    static func line(standing: String, isGroup: Bool, typists: [String]) -> String {
        let typing = typing(typists)
        guard !typing.isEmpty else { return standing }
        return isGroup && !standing.isEmpty ? "\(standing) · \(typing)" : typing
    }

    /// Who is typing, by first names.
    static func typing(_ names: [String]) -> String {
        let short = names.map(firstName)
        switch short.count {
        case 0: return ""
        case 1: return "\(short[0]) is typing…"
        case 2: return "\(short[0]) and \(short[1]) are typing…"
        default: return "\(short.count) people are typing…"
        }
    }

    /// The part of a name that a friend would say.
    ///
    /// The number of an unknown person ("User 17") belongs to the name.
    static func firstName(_ name: String) -> String {
        let words = name.split(separator: " ")
        guard words.count > 1, let first = words.first, Int64(words[1]) == nil else { return name }
        return String(first)
    }

    /// Whether somebody is there, or since when not.
    static func presence(_ presence: PeerPresence?, now: Int64, zone: TimeZone) -> String {
        guard let presence else { return "" }
        if presence.isOnline { return "online" }
        guard let last = presence.lastSeenMilliseconds else { return "" }
        let minutes = max(0, now - last) / 60_000
        switch minutes {
        case 0: return "last seen just now"
        case 1..<60: return "last seen \(minutes) min ago"
        default:
            let time = RowTime.text(milliseconds: last, now: now, zone: zone)
            if time.contains(":") { return "last seen at \(time)" }
            return "last seen \(time == "Yesterday" ? "yesterday" : time)"
        }
    }
}

/// A moment as a list of conversations shows it: the time today, the weekday in the last days, else the date.
nonisolated enum RowTime {
    static func text(milliseconds: Int64, now: Int64, zone: TimeZone) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
        let today = calendar.startOfDay(for: Date(timeIntervalSince1970: Double(now) / 1_000))
        let parts = calendar.dateComponents([.hour, .minute, .weekday, .day, .month, .year], from: date)
        let days = calendar.dateComponents([.day], from: calendar.startOfDay(for: date), to: today).day ?? 0
        switch days {
        case ...0: return String(format: "%02d:%02d", parts.hour ?? 0, parts.minute ?? 0)
        case 1: return "Yesterday"
        case 2...6:
            return ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][max(0, (parts.weekday ?? 1) - 1) % 7]
        default:
            let isThisYear = calendar.component(.year, from: today) == parts.year
            let day = "\(parts.day ?? 0).\(parts.month ?? 0)."
            return isThisYear ? day : "\(day)\(parts.year ?? 0)"
        }
    }
}
