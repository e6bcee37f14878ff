#if canImport(FoundationInternationalization)
    public import FoundationEssentials
    import FoundationInternationalization
#else
    public import Foundation
#endif

extension TimeLabelStyle {
    /// The style of a locale: its order, its words for months and weekdays, its clock, and a calendar's own dates.
    ///
    /// English and Chinese keep their words for the present day and the day before. Other languages name the weekday
    /// of yesterday, and the date of today where a line needs one: Foundation offers no such words on every system.
    ///
    /// ```swift
    /// let style = TimeLabelStyle.localized(Locale(identifier: "fr_FR"))
    /// style.text(for: row)    // "Lundi 09:41"
    /// ```
    ///
    /// - Parameters:
    ///   - locale: The language and region, for example the system's own.
    ///   - calendar: What counts days, months and years; the locale's when nil.
    /// - Returns: A style whose `custom` closure does the writing; it may be used on any thread.
    public static func localized(_ locale: Locale, calendar: Calendar? = nil) -> TimeLabelStyle {
        let language = TimeLabelLanguage.named(locale.identifier)
        let hasWords = language == .simplifiedChinese || locale.identifier.lowercased().hasPrefix("en")
        // The parts are in the row's own zone already, so the date that is made of them is written without one.
        let base = Date.FormatStyle(
            locale: locale, calendar: calendar ?? locale.calendar, timeZone: .gmt,
            capitalizationContext: .standalone)
        let time = base.hour().minute()
        let weekday = base.weekday(.wide)
        let date = base.month(.abbreviated).day()
        let dateWithYear = date.year()

        return TimeLabelStyle(language) { parts in
            let moment = Date(timeIntervalSince1970: Double(parts.localSeconds))
            let day: String
            switch parts.age {
            case .today where !parts.isDay: return time.format(moment)
            case .today: day = hasWords ? language.today : date.format(moment)
            case .yesterday: day = hasWords ? language.yesterday : weekday.format(moment)
            case .thisWeek: day = weekday.format(moment)
            case .thisYear: day = date.format(moment)
            case .anotherYear: day = dateWithYear.format(moment)
            }
            return parts.isDay ? day : day + language.betweenDayAndTime + time.format(moment)
        }
    }
}
