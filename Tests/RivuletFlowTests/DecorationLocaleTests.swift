import Foundation
import RivuletFlow
import RivuletModel
import Testing

/// Labels as a locale and a calendar of Foundation write them.
@Suite struct DecorationLocaleTests {
    /// 2026-11-30 09:41 UTC, a Monday.
    private static let time: Int64 = 1_796_031_660_000

    private func label(_ age: TimeAge, zoneSeconds: Int32 = 0) -> FlowRow {
        var row = FlowRow(
            id: .timeLabel(of: MessageID(1)), zoneSeconds: zoneSeconds, timeMilliseconds: Self.time)
        row.age = age
        return row
    }

    @Test(arguments: [
        ("en_GB", TimeAge.today, "09:41"), ("en_GB", .yesterday, "Yesterday 09:41"),
        ("en_GB", .thisWeek, "Monday 09:41"), ("en_GB", .thisYear, "30 Nov 09:41"),
        ("en_US", .thisYear, "Nov 30 9:41 AM"), ("zh_Hans_CN", .yesterday, "昨天 09:41"),
        ("zh_Hans_CN", .thisYear, "11月30日 09:41"), ("fr_FR", .yesterday, "Lundi 09:41"),
        ("fr_FR", .anotherYear, "30 nov. 2026 09:41"), ("de_DE", .thisWeek, "Montag 09:41"),
    ])
    func `a label is written as its locale writes`(locale: String, age: TimeAge, expected: String) {
        let text = TimeLabelStyle.localized(Locale(identifier: locale)).text(for: label(age))
        // Which of its narrow spaces a locale puts before AM differs between versions of its data.
        let plain = String(text.map { $0.isWhitespace ? " " : $0 })
        #expect(plain == expected)
    }

    @Test func `a label is written in the zone of its row`() {
        let style = TimeLabelStyle.localized(Locale(identifier: "en_GB"))
        #expect(style.text(for: label(.today, zoneSeconds: 8 * 3_600)) == "17:41")
        #expect(style.text(for: label(.thisWeek, zoneSeconds: 15 * 3_600)) == "Tuesday 00:41")
    }

    @Test func `a calendar counts its own years`() {
        let style = TimeLabelStyle.localized(
            Locale(identifier: "en_GB"), calendar: Calendar(identifier: .buddhist))
        #expect(style.text(for: label(.anotherYear)).contains("2569"))
    }
}
