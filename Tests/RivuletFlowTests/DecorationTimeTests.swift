import Foundation
import RivuletFlow
import RivuletModel
import Testing

/// 30 November 2026, 12:00 UTC, a Monday.
private let noon: Int64 = 1_796_040_000_000
private let day: Int64 = 86_400_000

private func offsets(_ zone: TimeZone) -> ZoneOffsets {
    ZoneOffsets { zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double($0))) }
}

@Suite struct DecorationTimeTests {
    @Test(arguments: [
        "Europe/Berlin", "America/Sao_Paulo", "Asia/Kolkata", "Australia/Lord_Howe", "Africa/Casablanca",
        "Pacific/Apia", "Asia/Shanghai", "America/St_Johns", "UTC",
    ])
    func `Offsets, days and dates agree with Foundation's`(name: String) throws {
        let zone = try #require(TimeZone(identifier: name))
        let table = offsets(zone)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        var random = Seeded(11)
        for _ in 0..<400 {
            let seconds = Int64.random(in: 0..<2_500_000_000, using: &random)
            let date = Date(timeIntervalSince1970: Double(seconds))
            #expect(
                Int(table.offsetSeconds(atMilliseconds: seconds * 1000)) == zone.secondsFromGMT(for: date))
            let number = table.day(ofMilliseconds: seconds * 1000)
            let parts = calendar.dateComponents([.year, .month, .day, .weekday], from: date)
            let civil = CivilDate(day: number)
            #expect(
                civil.year == parts.year && civil.month == parts.month && civil.day == parts.day, "\(seconds)"
            )
            #expect(CivilDate.weekday(ofDay: number) + 1 == parts.weekday)
            let start = calendar.startOfDay(for: date).timeIntervalSince1970
            #expect(table.beginning(ofDay: number) == Int64(start) * 1000, "\(seconds)")
        }
        for transition in table.transitions {
            let at = Date(timeIntervalSince1970: Double(transition.atSeconds))
            #expect(zone.secondsFromGMT(for: at) == Int(transition.offsetSeconds))
            #expect(zone.secondsFromGMT(for: at - 1) != Int(transition.offsetSeconds))
        }
    }

    @Test func `A zone's transitions may be given in any order`() {
        let zone = ZoneOffsets(
            firstOffsetSeconds: 1,
            transitions: [.init(atSeconds: 200, offsetSeconds: 3), .init(atSeconds: 100, offsetSeconds: 2)])
        #expect(
            [0, 99_999, 100_000, 199_999, 200_000].map { zone.offsetSeconds(atMilliseconds: $0) } == [
                1, 1, 2, 2, 3,
            ])
    }

    @Test func `Times before 1970 fall on the day before it`() {
        #expect(ZoneOffsets.utc.day(ofMilliseconds: -1) == -1)
        #expect(CivilDate(day: -1) == CivilDate(day: ZoneOffsets.utc.day(ofMilliseconds: -day)))
        #expect(CivilDate.weekday(ofDay: -1) == 3)
        #expect(CivilDate(day: -719_528).year == 0)
    }

    @Test func `Hours of the twelve-hour clock have no zero`() {
        let style = TimeLabelStyle(.english, clock: .hours12)
        let hours = [0, 1, 11, 12, 13, 23].map { noon - 12 * 3_600_000 + Int64($0) * 3_600_000 }
        #expect(
            hours.map { style.timeText(ofMilliseconds: $0, in: .utc) }
                == ["12:00 AM", "1:00 AM", "11:00 AM", "12:00 PM", "1:00 PM", "11:00 PM"])
    }

    @Test func `English labels say as much as is needed`() {
        let style = TimeLabelStyle()
        #expect(
            labels(style, ages: [0, 1, 2, 6, 7, 200, 400, -1]) == [
                "12:00", "Yesterday 12:00", "Saturday 12:00", "Tuesday 12:00", "Nov 23 12:00", "May 14 12:00",
                "Oct 26, 2025 12:00", "Dec 1 12:00",
            ])
        #expect(
            labels(style, ages: [0, 1, 3, 40], kind: .day) == ["Today", "Yesterday", "Friday", "Oct 21"])
    }

    @Test func `Chinese labels say as much as is needed`() {
        let style = TimeLabelStyle(.named("zh-Hans-CN"), clock: .hours12)
        #expect(
            labels(style, ages: [0, 1, 2, 7, 400]) == [
                "中午12:00", "昨天 中午12:00", "星期六 中午12:00", "11月23日 中午12:00", "2025年10月26日 中午12:00",
            ])
        #expect(labels(style, ages: [0], kind: .day) == ["今天"])
    }

    @Test func `Another calendar counts other years`() {
        var style = TimeLabelStyle(.simplifiedChinese, years: .minguo)
        #expect(labels(style, ages: [400], kind: .day) == ["114年10月26日"])
        style.years = .buddhist
        #expect(labels(style, ages: [400], kind: .day) == ["2568年10月26日"])
    }

    @Test func `An app's own text wins where it gives one`() {
        let style = TimeLabelStyle(custom: { $0.age == .yesterday ? "eve of \($0.date.day + 1)" : nil })
        #expect(labels(style, ages: [1, 0]) == ["eve of 30", "12:00"])
    }

    @Test func `The locale's name decides the language`() {
        for name in ["zh", "zh-Hans", "zh_CN.UTF-8", "ZH-hans-SG"] {
            #expect(TimeLabelLanguage.named(name) == .simplifiedChinese, "\(name)")
        }
        for name in ["", "en_GB", "C", "zhx"] {
            #expect(TimeLabelLanguage.named(name) == .english, "\(name)")
        }
    }

    @Test func `The sticky line follows the reader's zone`() {
        let row = FlowRow(id: .message(MessageID(1)), timeMilliseconds: noon)
        let style = TimeLabelStyle()
        let utc = DecorationContext(nowMilliseconds: noon + 6 * 3_600_000)
        #expect(style.dayText(above: row, in: utc) == "Today")
        let tokyo = DecorationContext(
            zone: ZoneOffsets(fixedSeconds: 32_400), nowMilliseconds: noon + 6 * 3_600_000)
        #expect(style.dayText(above: row, in: tokyo) == "Yesterday")
    }

    @Test func `A language with too few words leaves gaps and does not trap`() {
        var language = TimeLabelLanguage.english
        language.months = []
        language.weekdays = ["Sunday"]
        language.dayParts = []
        let style = TimeLabelStyle(language, clock: .hours12)
        #expect(labels(style, ages: [2, 7]) == ["12:00 ", " 23 12:00 "])
    }

    /// The texts of labels above messages so many days old.
    private func labels(
        _ style: TimeLabelStyle, ages: [Int64], kind: FlowRow.Kind = .timeLabel
    ) -> [String] {
        let rules = DecorationRules(timeLabel: kind == .day ? .never : .dayChange, showsDays: kind == .day)
        return ages.map { age in
            let message = Message(
                id: MessageID(1), session: .peer(UserID(1)), sender: UserID(1), position: MessagePosition(1),
                timeMilliseconds: noon - age * day, content: .text("a"))
            let context = DecorationContext(nowMilliseconds: noon)
            let rows = Decoration(of: [message], rules: rules, context: context).rows
            return style.text(for: rows[0])
        }
    }
}
