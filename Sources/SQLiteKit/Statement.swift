import CSQLite

/// A prepared statement: bind, run, read; it resets itself after every run.
///
/// Parameters count from 1 and columns from 0, as in SQLite. Binding outside the statement's parameters throws
/// `SQLITE_RANGE`. A value stays bound until it is bound anew or `clear` is called.
///
/// ```swift
/// let insert = try database.statement("INSERT INTO log (key, body) VALUES (?, ?)")
/// for entry in entries {
///     try insert.bind(entry.key, at: 1)
///     try insert.run(borrowing: entry.body, at: 2)
/// }
/// ```
@safe public final class Statement {
    /// The statement's text.
    public let sql: String
    private let connection: Connection
    private let pointer: OpaquePointer

    init(connection: Connection, sql: String, isKept: Bool) throws {
        let handle = unsafe try connection.requireHandle("prepare: \(sql)")
        var made: OpaquePointer?
        let flags = isKept ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let result = unsafe sqlite3_prepare_v3(handle, sql, -1, flags, &made, nil)
        guard result == SQLITE_OK else { throw connection.error(result, "prepare: \(sql)") }
        guard let prepared = unsafe made else {
            throw SQLiteError(
                code: .init(rawValue: SQLITE_MISUSE), message: "the text holds no statement",
                operation: "prepare: \(sql)")
        }
        unsafe pointer = prepared
        self.connection = connection
        self.sql = sql
    }

    deinit {
        _ = unsafe sqlite3_finalize(pointer)
    }

    /// Whether the statement is between its first row and its end.
    public var isBusy: Bool {
        unsafe sqlite3_stmt_busy(pointer) != 0
    }

    // MARK: Binding

    /// Binds an integer.
    public func bind(_ value: Int64, at index: Int) throws {
        try check(unsafe sqlite3_bind_int64(pointer, Int32(truncatingIfNeeded: index), value))
    }

    /// Binds an integer.
    public func bind(_ value: Int, at index: Int) throws {
        try bind(Int64(value), at: index)
    }

    /// Binds a floating-point number.
    public func bind(_ value: Double, at index: Int) throws {
        try check(unsafe sqlite3_bind_double(pointer, Int32(truncatingIfNeeded: index), value))
    }

    /// Binds NULL.
    public func bindNull(at index: Int) throws {
        try check(unsafe sqlite3_bind_null(pointer, Int32(truncatingIfNeeded: index)))
    }

    /// Binds text; SQLite keeps a copy.
    public func bind(_ text: String, at index: Int) throws {
        var text = text
        let result = text.withUTF8 { bytes in
            // The bound is the buffer's own; SQLite copies before the closure returns.
            unsafe rivulet_bind_text_copy(
                pointer, Int32(truncatingIfNeeded: index), unsafe Self.address(bytes), UInt64(bytes.count))
        }
        try check(result)
    }

    /// Binds text, or NULL for nil.
    public func bind(_ text: String?, at index: Int) throws {
        if let text { try bind(text, at: index) } else { try bindNull(at: index) }
    }

    /// Binds an integer, or NULL for nil.
    public func bind(_ value: Int64?, at index: Int) throws {
        if let value { try bind(value, at: index) } else { try bindNull(at: index) }
    }

    /// Binds bytes; SQLite keeps a copy.
    public func bind(_ bytes: [UInt8], at index: Int) throws {
        let result = unsafe bytes.withUnsafeBufferPointer { bytes in
            // As for text.
            unsafe rivulet_bind_blob_copy(
                pointer, Int32(truncatingIfNeeded: index), unsafe Self.address(bytes), UInt64(bytes.count))
        }
        try check(result)
    }

    /// Binds values to the parameters, counted from 1.
    public func bind(_ values: [SQLiteValue]) throws {
        for (offset, value) in values.enumerated() {
            switch value {
            case .null: try bindNull(at: offset + 1)
            case .integer(let value): try bind(value, at: offset + 1)
            case .real(let value): try bind(value, at: offset + 1)
            case .text(let value): try bind(value, at: offset + 1)
            case .blob(let value): try bind(value, at: offset + 1)
            }
        }
    }

    /// Resets the statement and sets all parameters to NULL.
    public func clear() {
        _ = unsafe sqlite3_reset(pointer)
        _ = unsafe sqlite3_clear_bindings(pointer)
    }

    // MARK: Running

    /// Runs the statement to its end, ignoring rows, and resets it.
    public func run() throws {
        defer { reset() }
        while try step() {}
    }

    /// Runs the statement to its end with these bytes bound as a blob, without copying them first.
    ///
    /// The parameter is NULL afterwards.
    public func run(borrowing bytes: [UInt8], at index: Int) throws {
        try unsafe bytes.withUnsafeBufferPointer { bytes in
            // SQLite reads the bytes only until the reset at the end of `run`, inside this closure.
            try check(
                unsafe rivulet_bind_blob_borrowed(
                    pointer, Int32(truncatingIfNeeded: index), unsafe Self.address(bytes),
                    UInt64(bytes.count)))
            defer { _ = unsafe sqlite3_bind_null(pointer, Int32(truncatingIfNeeded: index)) }
            try run()
        }
    }

    /// Runs the statement to its end with this text bound, without copying it first.
    ///
    /// The parameter is NULL afterwards.
    public func run(borrowing text: String, at index: Int) throws {
        var text = text
        try text.withUTF8 { bytes in
            // As for bytes.
            try check(
                unsafe rivulet_bind_text_borrowed(
                    pointer, Int32(truncatingIfNeeded: index), unsafe Self.address(bytes),
                    UInt64(bytes.count)))
            defer { _ = unsafe sqlite3_bind_null(pointer, Int32(truncatingIfNeeded: index)) }
            try run()
        }
    }

    /// Calls the closure with each row, and resets the statement.
    public func forEachRow(_ body: (borrowing Row) throws -> Void) throws {
        defer { reset() }
        while try step() {
            // A name of its own: passed as a temporary, the row crashes the optimiser of Swift 6.3.1.
            let row = Row(statement: self)
            try body(row)
        }
    }

    /// Makes a value of the first row and resets the statement; nil when there is no row.
    public func first<Value>(_ make: (borrowing Row) throws -> Value) throws -> Value? {
        defer { reset() }
        guard try step() else { return nil }
        // A name of its own, as above.
        let row = Row(statement: self)
        return try make(row)
    }

    /// Moves to the next row; false at the end.
    ///
    /// Prefer the calls above, which always reset.
    public func step() throws -> Bool {
        let result = unsafe sqlite3_step(pointer)
        if result == SQLITE_ROW { return true }
        if result == SQLITE_DONE { return false }
        throw connection.error(result, sql)
    }

    /// Goes back to before the first row, which releases the read lock; bound values stay.
    public func reset() {
        // The result repeats the error of the last step, which was thrown already.
        _ = unsafe sqlite3_reset(pointer)
    }

    // MARK: Columns of the current row

    func columnType(_ index: Int) -> Int32 {
        unsafe sqlite3_column_type(pointer, Int32(truncatingIfNeeded: index))
    }

    func columnInteger(_ index: Int) -> Int64 {
        unsafe sqlite3_column_int64(pointer, Int32(truncatingIfNeeded: index))
    }

    func columnReal(_ index: Int) -> Double {
        unsafe sqlite3_column_double(pointer, Int32(truncatingIfNeeded: index))
    }

    func columnText(_ index: Int) -> String {
        let column = Int32(truncatingIfNeeded: index)
        guard let start = unsafe sqlite3_column_text(pointer, column) else { return "" }
        // SQLite says how many bytes it made readable at `start`, and keeps them until the next step.
        let count = Int(unsafe sqlite3_column_bytes(pointer, column))
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    func withColumnBytes<Result>(_ index: Int, _ body: (RawSpan) throws -> Result) rethrows -> Result {
        let column = Int32(truncatingIfNeeded: index)
        let start = unsafe sqlite3_column_blob(pointer, column)
        // As for text; an empty blob has no address.
        let count = unsafe start == nil ? 0 : Int(unsafe sqlite3_column_bytes(pointer, column))
        return try body(unsafe RawSpan(_unsafeStart: start ?? Self.nowhere, byteCount: count))
    }

    // MARK: Helpers

    private func check(_ result: Int32) throws {
        guard result != SQLITE_OK else { return }
        throw connection.error(result, "bind: \(sql)")
    }

    /// An address for empty values: SQLite takes nil for NULL, which an empty value is not.
    private static func address(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafeRawPointer {
        guard let start = bytes.baseAddress else { return unsafe nowhere }
        return unsafe UnsafeRawPointer(start)
    }

    /// One readable byte that lives as long as the process.
    private static var nowhere: UnsafeRawPointer {
        unsafe UnsafeRawPointer(("" as StaticString).utf8Start)
    }
}

@available(*, unavailable)
extension Statement: Sendable {}
