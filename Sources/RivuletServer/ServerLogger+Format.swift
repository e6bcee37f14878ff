public import Foundation

/// How log lines look.
public enum LogFormat: String, Sendable, CaseIterable {
    /// `2026-11-30T10:00:00.000Z warning malformed input connection=7 reason=short_body`
    case text
    /// One JSON object a line, with `time`, `level`, `message` and the fields.
    case json
}

extension LogRecordLine {
    /// The line, without its newline.
    public func formatted(as format: LogFormat, at time: Date) -> String {
        let stamp = time.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        switch format {
        case .text:
            let parts = fields.map { " \($0.name)=\(Self.plain($0.value))" }
            return "\(stamp) \(level.name) \(message)\(parts.joined())"
        case .json:
            let members = [("time", stamp), ("level", level.name), ("message", message)]
            let all = members + fields.map { ($0.name, $0.value) }
            return "{" + all.map { "\(Self.quoted($0.0)):\(Self.quoted($0.1))" }.joined(separator: ",") + "}"
        }
    }

    /// A value with a space or a quote in it is quoted, so that a line can be taken apart again.
    private static func plain(_ value: String) -> String {
        let isPlain =
            !value.isEmpty && value.unicodeScalars.allSatisfy { $0.value > 0x20 && $0 != "\"" && $0 != "=" }
        return isPlain ? value : quoted(value)
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
