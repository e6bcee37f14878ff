/// A value bound to a statement where convenience matters more than the last nanosecond.
public enum SQLiteValue: Hashable, Sendable {
    /// NULL.
    case null
    /// A 64-bit integer.
    case integer(Int64)
    /// A floating-point number.
    case real(Double)
    /// Text.
    case text(String)
    /// Bytes.
    case blob([UInt8])

    /// Text, or NULL for nil.
    public static func optional(_ text: String?) -> SQLiteValue {
        text.map(SQLiteValue.text) ?? .null
    }

    /// An integer, or NULL for nil.
    public static func optional(_ integer: Int64?) -> SQLiteValue {
        integer.map(SQLiteValue.integer) ?? .null
    }
}
