import CSQLite

/// What went wrong in a database, with SQLite's own extended result code.
///
/// The description names the statement (static text) and never its arguments.
public struct SQLiteError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A result code: SQLite's extended codes are positive, those of this library negative.
    ///
    /// See https://www.sqlite.org/rescode.html for the positive ones.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The number.
        public let rawValue: Int32

        /// Makes the code with this number.
        public init(rawValue: Int32) {
            self.rawValue = rawValue
        }

        /// The code without the detail that extended codes add in their upper bits.
        public var primary: Code {
            rawValue > 0 ? Code(rawValue: rawValue & 0xFF) : self
        }

        /// The file was written by a newer version of the program.
        public static let schemaIsNewer = Code(rawValue: -1)
        /// The file is a database of another program.
        public static let foreignFile = Code(rawValue: -2)
        /// The connection was closed.
        public static let closed = Code(rawValue: -3)
        /// A query that must answer one row answered none.
        public static let noRow = Code(rawValue: -4)
        /// The consistency check found damage.
        public static let checkFailed = Code(rawValue: -5)
        /// Another connection holds the lock (SQLITE_BUSY, 5).
        public static let busy = Code(rawValue: SQLITE_BUSY)
        /// The call was interrupted (SQLITE_INTERRUPT, 9).
        public static let interrupted = Code(rawValue: SQLITE_INTERRUPT)
        /// The file is damaged (SQLITE_CORRUPT, 11).
        public static let corrupt = Code(rawValue: SQLITE_CORRUPT)
        /// The system could not say that what was written is on the disk (SQLITE_IOERR_FSYNC, 1034).
        public static let syncFailed = Code(rawValue: 1034)
        /// The disk or the permitted size is used up (SQLITE_FULL, 13).
        public static let full = Code(rawValue: SQLITE_FULL)
        /// The file cannot be opened (SQLITE_CANTOPEN, 14).
        public static let cannotOpen = Code(rawValue: SQLITE_CANTOPEN)
        /// A constraint was violated (SQLITE_CONSTRAINT, 19).
        public static let constraint = Code(rawValue: SQLITE_CONSTRAINT)
        /// The file is no database (SQLITE_NOTADB, 26).
        public static let notADatabase = Code(rawValue: SQLITE_NOTADB)
    }

    /// The result code.
    public let code: Code
    /// What SQLite, or this library, says about it.
    public let message: String
    /// What was being done: a verb, with the statement's static text where there is one.
    public let operation: String

    /// Makes an error.
    public init(code: Code, message: String, operation: String) {
        self.code = code
        self.message = message
        self.operation = operation
    }

    /// The name of the primary code, for example `SQLITE_BUSY`.
    public var symbolicName: String {
        code.symbolicName
    }

    /// Whether another connection held the lock for longer than the busy timeout.
    public var isBusy: Bool {
        code.primary == .busy
    }

    /// Whether the file is damaged or no database at all; waiting does not help.
    public var isCorrupt: Bool {
        code.primary == .corrupt || code.primary == .notADatabase || code == .checkFailed
    }

    /// One line for logs, without arguments of statements.
    public var description: String {
        "\(symbolicName) (\(code.rawValue)) in \(operation): \(message)"
    }

    /// The code's name alone, for counters.
    public var shortDescription: String {
        symbolicName
    }
}

extension SQLiteError.Code {
    /// The name of the primary code, for example `SQLITE_BUSY`.
    public var symbolicName: String {
        switch self {
        case .schemaIsNewer: "SCHEMA_IS_NEWER"
        case .foreignFile: "FOREIGN_FILE"
        case .closed: "CLOSED"
        case .noRow: "NO_ROW"
        case .checkFailed: "CHECK_FAILED"
        default: Self.names[primary.rawValue] ?? "SQLITE_\(rawValue)"
        }
    }

    private static let names: [Int32: String] = [
        SQLITE_ERROR: "SQLITE_ERROR", SQLITE_INTERNAL: "SQLITE_INTERNAL", SQLITE_PERM: "SQLITE_PERM",
        SQLITE_ABORT: "SQLITE_ABORT", SQLITE_BUSY: "SQLITE_BUSY", SQLITE_LOCKED: "SQLITE_LOCKED",
        SQLITE_NOMEM: "SQLITE_NOMEM", SQLITE_READONLY: "SQLITE_READONLY",
        SQLITE_INTERRUPT: "SQLITE_INTERRUPT", SQLITE_IOERR: "SQLITE_IOERR",
        SQLITE_CORRUPT: "SQLITE_CORRUPT", SQLITE_NOTFOUND: "SQLITE_NOTFOUND", SQLITE_FULL: "SQLITE_FULL",
        SQLITE_CANTOPEN: "SQLITE_CANTOPEN", SQLITE_PROTOCOL: "SQLITE_PROTOCOL",
        SQLITE_SCHEMA: "SQLITE_SCHEMA", SQLITE_TOOBIG: "SQLITE_TOOBIG",
        SQLITE_CONSTRAINT: "SQLITE_CONSTRAINT", SQLITE_MISMATCH: "SQLITE_MISMATCH",
        SQLITE_MISUSE: "SQLITE_MISUSE", SQLITE_AUTH: "SQLITE_AUTH", SQLITE_RANGE: "SQLITE_RANGE",
        SQLITE_NOTADB: "SQLITE_NOTADB",
    ]
}
