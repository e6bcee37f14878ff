import CSQLite

/// The current row of a statement; it cannot outlive the closure that receives it.
///
/// SQLite converts between types as https://www.sqlite.org/c3ref/column_blob.html says; NULL reads as 0 and "".
public struct Row: ~Copyable {
    private let statement: Statement

    init(statement: Statement) {
        self.statement = statement
    }

    /// Whether the column is NULL.
    public func isNull(at index: Int) -> Bool {
        statement.columnType(index) == SQLITE_NULL
    }

    /// The column as an integer.
    public func integer(at index: Int) -> Int64 {
        statement.columnInteger(index)
    }

    /// The column as an integer; nil for NULL.
    public func optionalInteger(at index: Int) -> Int64? {
        isNull(at: index) ? nil : statement.columnInteger(index)
    }

    /// The column as a number.
    public func real(at index: Int) -> Double {
        statement.columnReal(index)
    }

    /// The column as text; damaged UTF-8 is repaired with U+FFFD.
    public func text(at index: Int) -> String {
        statement.columnText(index)
    }

    /// The column as text; nil for NULL.
    public func optionalText(at index: Int) -> String? {
        isNull(at: index) ? nil : statement.columnText(index)
    }

    /// A copy of the column's bytes.
    public func bytes(at index: Int) -> [UInt8] {
        statement.withColumnBytes(index) { span in
            // The copy is made inside the closure.
            unsafe span.withUnsafeBytes { unsafe Array($0) }
        }
    }

    /// Calls the closure with the column's bytes in place.
    public func withBytes<Result>(at index: Int, _ body: (RawSpan) throws -> Result) rethrows -> Result {
        try statement.withColumnBytes(index, body)
    }
}
