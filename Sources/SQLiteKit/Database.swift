import CSQLite

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// One connection to an SQLite file, for one thread at a time.
///
/// The connection is opened without SQLite's own mutexes, so it must never be used by two threads at once:
/// hold it inside one thread or behind a `DatabaseQueue`. Statements are prepared once per text and kept.
///
/// ```swift
/// let database = try Database(path: "/var/lib/app/data.db")
/// try database.transaction {
///     try database.execute("INSERT INTO note (text) VALUES (?)", .text("hello"))
/// }
/// ```
public final class Database {
    let connection: Connection
    /// The file; `:memory:` for none.
    public let path: String
    private var statements: [String: Statement] = [:]
    /// What `setSecureDeletion` asked for last.
    var deletion: SecureDeletion?

    /// Opens or creates the file; `:memory:` makes a database that lives as long as the connection.
    ///
    /// A new file gets mode 0600, which SQLite copies to the files beside it.
    ///
    /// - Throws: `SQLiteError`; `isCorrupt` is true when the file is no database.
    public init(path: String, options: DatabaseOptions = DatabaseOptions()) throws {
        if options.createsFile, path != ":memory:" {
            createPrivately(path)
        }
        var flags = options.isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
        if options.createsFile, !options.isReadOnly { flags |= SQLITE_OPEN_CREATE }
        flags |= SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        var opened: OpaquePointer?
        let result = unsafe sqlite3_open_v2(path, &opened, flags, nil)
        guard let handle = unsafe opened else {
            throw SQLiteError(
                code: .init(rawValue: result == SQLITE_OK ? SQLITE_NOMEM : result), message: "no handle",
                operation: "open")
        }
        connection = unsafe Connection(handle: handle)
        self.path = path
        guard result == SQLITE_OK else { throw connection.error(result, "open") }
        _ = unsafe sqlite3_busy_timeout(handle, Int32(clamping: options.busyTimeoutMilliseconds))
        // A damaged schema must not make SQLite write into its own tables.
        _ = unsafe rivulet_set_defensive(handle, 1)
        try configure(options)
    }

    /// Closes the connection; every later call throws `closed`.
    ///
    /// Dropping the last reference closes it, too.
    public func close() {
        statements.removeAll()
        connection.close()
    }

    // MARK: Statements

    /// The statement of this text, prepared at first use and kept; it comes reset and without bound values.
    public func statement(_ sql: String) throws -> Statement {
        if let known = statements[sql] {
            // A statement that is being stepped further out must not be reset under its user.
            guard known.isBusy else {
                known.clear()
                return known
            }
            return try Statement(connection: connection, sql: sql, isKept: false)
        }
        let made = try Statement(connection: connection, sql: sql, isKept: true)
        statements[sql] = made
        return made
    }

    /// Runs one statement to its end.
    public func execute(_ sql: String, _ values: SQLiteValue...) throws {
        let statement = try statement(sql)
        try statement.bind(values)
        try statement.run()
    }

    /// Calls the closure with each row of a query.
    public func forEachRow(
        _ sql: String, _ values: SQLiteValue..., body: (borrowing Row) throws -> Void
    ) throws {
        let statement = try statement(sql)
        try statement.bind(values)
        try statement.forEachRow(body)
    }

    /// Makes a value of each row of a query.
    public func rows<Value>(
        _ sql: String, _ values: SQLiteValue..., make: (borrowing Row) throws -> Value
    ) throws -> [Value] {
        let statement = try statement(sql)
        try statement.bind(values)
        var made: [Value] = []
        try statement.forEachRow { row in made.append(try make(row)) }
        return made
    }

    /// Makes a value of the first row of a query; nil when there is none.
    public func first<Value>(
        _ sql: String, _ values: SQLiteValue..., make: (borrowing Row) throws -> Value
    ) throws -> Value? {
        let statement = try statement(sql)
        try statement.bind(values)
        return try statement.first(make)
    }

    /// The integer in the first column of the first row; nil when there is no row or the value is NULL.
    public func integer(_ sql: String, _ values: SQLiteValue...) throws -> Int64? {
        let statement = try statement(sql)
        try statement.bind(values)
        return try statement.first { $0.optionalInteger(at: 0) } ?? nil
    }

    /// Runs several statements in a row, for schemas and pragmas: nothing is bound and nothing kept.
    public func executeScript(_ sql: String) throws {
        let handle = unsafe try connection.requireHandle("script")
        let result = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
        guard result == SQLITE_OK else { throw connection.error(result, "script") }
    }

    /// The row id that the last INSERT of this connection gave.
    public var lastInsertedRowID: Int64 {
        guard let handle = unsafe connection.handle else { return 0 }
        return unsafe sqlite3_last_insert_rowid(handle)
    }

    /// How many rows the last statement changed.
    public var changedRowCount: Int {
        guard let handle = unsafe connection.handle else { return 0 }
        return Int(unsafe sqlite3_changes(handle))
    }

    /// Stops this connection's running statement from another thread.
    public var interrupter: Interrupter {
        connection.interrupter
    }

    // MARK: Opening

    private func configure(_ options: DatabaseOptions) throws {
        var script = "PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;"
        script += "PRAGMA synchronous = \(options.synchronous.rawValue);"
        script += "PRAGMA cache_size = -\(max(64, options.cacheKibibytes));"
        if options.memoryMapBytes > 0 { script += "PRAGMA mmap_size = \(options.memoryMapBytes);" }
        if let pages = options.walCheckpointPages { script += "PRAGMA wal_autocheckpoint = \(pages);" }
        if options.isReadOnly { script += "PRAGMA query_only = ON;" }
        // Takes effect while a file has no table; nothing happens to one that was made without it.
        if options.canShrink, !options.isReadOnly { script += "PRAGMA auto_vacuum = INCREMENTAL;" }
        try retryingWhileBusy(options.busyTimeoutMilliseconds) {
            try executeScript(script)
            // The first read finds a file that is no database.
            try executeScript("SELECT count(*) FROM sqlite_schema")
            if options.usesWAL, !options.isReadOnly { try executeScript("PRAGMA journal_mode = WAL") }
        }
    }

    /// Repeats what SQLite refuses at once, without asking the busy handler, while another connection changes the
    /// journal mode, recovers the log or closes as the last one.
    private func retryingWhileBusy(_ milliseconds: Int, _ body: () throws -> Void) throws {
        var left = milliseconds
        while true {
            do {
                return try body()
            } catch let error as SQLiteError where error.isBusy && left > 0 {
                usleep(5_000)
                left -= 5
            }
        }
    }
}

@available(*, unavailable)
extension Database: Sendable {}

/// Makes the file with mode 0600 when it does not exist.
///
/// An existing file is not touched: closing a descriptor of it would drop the locks that another connection
/// of this process holds (https://www.sqlite.org/howtocorrupt.html, section 2.2). What fails here is reported
/// by SQLite when it opens the path.
private func createPrivately(_ path: String) {
    // The string is alive for the call and ends in a zero byte.
    let descriptor = unsafe open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
    if descriptor >= 0 { _ = close(descriptor) }
}
