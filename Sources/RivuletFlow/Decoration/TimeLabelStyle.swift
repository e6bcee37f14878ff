import RivuletModel

/// How times and days are written: words, order and clock of a language, and the calendar that counts the years.
///
/// A label needs nothing but its row, whose age says how much has to be written: the time for today, "Yesterday" and
/// the time, the weekday within a week, the date before that. Texts are made when a row is drawn.
///
/// ```swift
/// let style = TimeLabelStyle(.english, clock: .hours24)
/// style.text(for: row)    // "Yesterday 09:41"
/// ```
///
/// `localized(_:calendar:)` writes as any locale and calendar of Foundation do. Another language without Foundation is
/// another value of `TimeLabelLanguage`; an app with a formatter of its own sets `custom`.
public struct TimeLabelStyle: Sendable {
    /// How the hour is written.
    public enum Clock: Hashable, Sendable {
        /// From 1 to 12, with the half of the day.
        case hours12
        /// From 0 to 23.
        case hours24
    }

    /// Which calendar counts the years; months and days are those of the Gregorian one.
    public enum YearCount: Hashable, Sendable {
        /// From the birth of Christ.
        case gregorian
        /// The Buddhist era of Thailand: 543 years more.
        case buddhist
        /// Since the Republic of China: 1911 years less.
        case minguo
    }

    /// What a label says, taken apart.
    public struct Parts: Hashable, Sendable {
        /// Whether it is a line for a day, which has no time.
        public var isDay: Bool
        /// How far back it lies.
        public var age: TimeAge
        /// The Gregorian date.
        public var date: CivilDate
        /// 0 for Sunday to 6.
        public var weekday: Int
        /// 0 to 23.
        public var hour: Int
        /// 0 to 59.
        public var minute: Int
        /// What a local clock shows, as seconds since a local 1970: UTC plus the zone's offset.
        public var localSeconds: Int64
    }

    /// The words.
    public var language: TimeLabelLanguage
    /// How the hour is written.
    public var clock: Clock
    /// Which calendar counts the years.
    public var years: YearCount
    /// Writes labels in place of the language; nil by default, and where it returns nil the language writes.
    public var custom: (@Sendable (Parts) -> String?)?

    /// Makes a style.
    public init(
        _ language: TimeLabelLanguage = .english, clock: Clock = .hours24, years: YearCount = .gregorian,
        custom: (@Sendable (Parts) -> String?)? = nil
    ) {
        self.language = language
        self.clock = clock
        self.years = years
        self.custom = custom
    }

    /// The text of a day or a time label; empty for other rows.
    public func text(for row: FlowRow) -> String {
        guard row.id.kind == .day || row.id.kind == .timeLabel else { return "" }
        return text(Self.parts(of: row))
    }

    /// The day of any row as a sticky line above the flow shows it.
    ///
    /// - Parameters:
    ///   - row: The topmost visible row.
    ///   - context: The zone and the present.
    /// - Returns: The text, such as "Today".
    public func dayText(above row: FlowRow, in context: DecorationContext) -> String {
        let dated = DecorationPass(rules: DecorationRules(), context: context, messages: [])
            .dated(.day(of: row.message), time: row.timeMilliseconds)
        return text(for: dated)
    }

    /// The time of day of a message, such as it stands in a bubble.
    public func timeText(ofMilliseconds time: Int64, in zone: ZoneOffsets) -> String {
        let row = FlowRow(
            id: .timeLabel(of: .init(0)), zoneSeconds: zone.offsetSeconds(atMilliseconds: time),
            timeMilliseconds: time)
        return timeText(Self.parts(of: row))
    }

    /// Takes the time of a row apart.
    public static func parts(of row: FlowRow) -> Parts {
        let local = row.timeMilliseconds.flooredQuotient(by: 1000) + Int64(row.zoneSeconds)
        let day = local.flooredQuotient(by: 86_400)
        let minuteOfDay = Int(local.flooredRemainder(by: 86_400) / 60)
        return Parts(
            isDay: row.id.kind == .day, age: row.age, date: CivilDate(day: day),
            weekday: CivilDate.weekday(ofDay: day), hour: minuteOfDay / 60, minute: minuteOfDay % 60,
            localSeconds: local)
    }

    private func text(_ parts: Parts) -> String {
        if let text = custom?(parts) { return text }
        let time = parts.isDay ? "" : timeText(parts)
        let day: String
        switch parts.age {
        case .today: day = parts.isDay ? language.today : ""
        case .yesterday: day = language.yesterday
        case .thisWeek: day = language.weekdays.element(parts.weekday)
        case .thisYear: day = dateText(parts, pattern: language.date)
        case .anotherYear: day = dateText(parts, pattern: language.dateWithYear)
        }
        return day.isEmpty ? time : time.isEmpty ? day : day + language.betweenDayAndTime + time
    }

    private func timeText(_ parts: Parts) -> String {
        let minute = parts.minute.twoDigits
        switch clock {
        case .hours24: return "\(parts.hour.twoDigits):\(minute)"
        case .hours12:
            let hour = parts.hour % 12 == 0 ? 12 : parts.hour % 12
            return Self.filled(
                language.time12, "\(hour):\(minute)", language.dayPart(parts.hour), "")
        }
    }

    private func dateText(_ parts: Parts, pattern: String) -> String {
        let year =
            switch years {
            case .gregorian: parts.date.year
            case .buddhist: parts.date.year + 543
            case .minguo: parts.date.year - 1911
            }
        return Self.filled(
            pattern, String(year), language.months.element(parts.date.month - 1), String(parts.date.day))
    }

    /// Puts texts in the place of `%1`, `%2` and `%3`.
    private static func filled(_ pattern: String, _ first: String, _ second: String, _ third: String)
        -> String
    {
        var result = ""
        var isPlace = false
        for character in pattern {
            if isPlace {
                result += character == "1" ? first : character == "2" ? second : third
                isPlace = false
            } else if character == "%" {
                isPlace = true
            } else {
                result.append(character)
            }
        }
        return result
    }
}

/// The words that time labels are made of in one language.
public struct TimeLabelLanguage: Hashable, Sendable {
    /// The word for the present day.
    public var today: String
    /// The word for the day before.
    public var yesterday: String
    /// The weekdays from Sunday on.
    public var weekdays: [String]
    /// The months as they stand in a date.
    public var months: [String]
    /// A date in the present year; `%2` is the month and `%3` the day of the month.
    public var date: String
    /// A date in another year; `%1` is the year.
    public var dateWithYear: String
    /// A time on a clock of 12 hours; `%1` is the time and `%2` the part of the day.
    public var time12: String
    /// The parts of the day: the hour from which each holds, ascending from 0, and its name.
    public var dayParts: [DayPart]
    /// What stands between a day and a time.
    public var betweenDayAndTime: String

    /// A part of the day, such as the afternoon.
    public struct DayPart: Hashable, Sendable {
        /// The first hour of it, 0 to 23.
        public var fromHour: Int
        /// Its name.
        public var name: String

        /// Makes a part of the day.
        public init(fromHour: Int, name: String) {
            self.fromHour = fromHour
            self.name = name
        }
    }

    /// Makes a language from all its words.
    public init(
        today: String, yesterday: String, weekdays: [String], months: [String], date: String,
        dateWithYear: String, time12: String, dayParts: [DayPart], betweenDayAndTime: String = " "
    ) {
        self.today = today
        self.yesterday = yesterday
        self.weekdays = weekdays
        self.months = months
        self.date = date
        self.dateWithYear = dateWithYear
        self.time12 = time12
        self.dayParts = dayParts
        self.betweenDayAndTime = betweenDayAndTime
    }

    /// English.
    public static let english = TimeLabelLanguage(
        today: "Today", yesterday: "Yesterday",
        weekdays: ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"],
        months: ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],
        date: "%2 %3", dateWithYear: "%2 %3, %1", time12: "%1 %2",
        dayParts: [DayPart(fromHour: 0, name: "AM"), DayPart(fromHour: 12, name: "PM")])

    /// Simplified Chinese.
    public static let simplifiedChinese = TimeLabelLanguage(
        today: "今天", yesterday: "昨天",
        weekdays: ["星期日", "星期一", "星期二", "星期三", "星期四", "星期五", "星期六"],
        months: (1...12).map(String.init),
        date: "%2月%3日", dateWithYear: "%1年%2月%3日", time12: "%2%1",
        dayParts: [
            DayPart(fromHour: 0, name: "凌晨"), DayPart(fromHour: 6, name: "上午"),
            DayPart(fromHour: 12, name: "中午"), DayPart(fromHour: 13, name: "下午"),
            DayPart(fromHour: 18, name: "晚上"),
        ])

    /// The language for a locale's name such as `zh-Hans-CN`, `zh_CN.UTF-8` or `en_GB`; English for others.
    public static func named(_ locale: String) -> TimeLabelLanguage {
        let name = locale.lowercased()
        return name == "zh" || name.hasPrefix("zh-") || name.hasPrefix("zh_") ? .simplifiedChinese : .english
    }

    func dayPart(_ hour: Int) -> String {
        dayParts.last { $0.fromHour <= hour }?.name ?? ""
    }
}

extension Array<String> {
    /// The element, or nothing for a list that is too short.
    fileprivate func element(_ index: Int) -> String {
        indices.contains(index) ? self[index] : ""
    }
}

extension Int {
    fileprivate var twoDigits: String {
        self < 10 ? "0\(self)" : String(self)
    }
}
