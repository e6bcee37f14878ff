import Foundation
import RivuletClient
import RivuletFlow

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
        case 1: return Words.say("%1 is typing…", short[0])
        case 2: return Words.say("%1 and %2 are typing…", short[0], short[1])
        default: return Words.say("%1 people are typing…", "\(short.count)")
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
        if presence.isOnline { return Words.say("online") }
        guard let last = presence.lastSeenMilliseconds else { return "" }
        let minutes = max(0, now - last) / 60_000
        switch minutes {
        case 0: return Words.say("last seen just now")
        case 1..<60: return Words.say("last seen %1 min ago", "\(minutes)")
        default:
            let time = RowTime.text(milliseconds: last, now: now, zone: zone)
            if time.contains(":") { return Words.say("last seen at %1", time) }
            let yesterday = Words.strings.times.yesterday
            return Words.say("last seen %1", time == yesterday ? yesterday.lowercased() : time)
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
        case 1: return Words.strings.times.yesterday
        case 2...6:
            return weekday(max(0, (parts.weekday ?? 1) - 1) % 7)
        default:
            let isThisYear = calendar.component(.year, from: today) == parts.year
            return dateText(parts.year.flatMap { isThisYear ? nil : $0 }, parts.month ?? 1, parts.day ?? 1)
        }
    }

    private static var isChinese: Bool { Words.strings.times == .simplifiedChinese }

    /// A weekday, short.
    private static func weekday(_ number: Int) -> String {
        let names = Words.strings.times.weekdays
        guard names.indices.contains(number) else { return "" }
        return isChinese ? names[number] : String(names[number].prefix(3))
    }

    private static func dateText(_ year: Int?, _ month: Int, _ day: Int) -> String {
        guard isChinese else { return "\(day).\(month)." + (year.map { "\($0)" } ?? "") }
        return (year.map { "\($0)/" } ?? "") + "\(month)/\(day)"
    }
}
