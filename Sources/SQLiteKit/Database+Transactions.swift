import CSQLite

extension Database {
    /// How a transaction begins.
    public enum TransactionKind: String, Sendable {
        /// Takes the write lock at once, so that it cannot fail in the middle because of another writer.
        case immediate = "BEGIN IMMEDIATE"
        /// Takes locks as statements need them; for reading one state.
        case deferred = "BEGIN DEFERRED"
    }

    /// Whether a transaction is open.
    public var isInTransaction: Bool {
        guard let handle = unsafe connection.handle else { return false }
        return unsafe sqlite3_get_autocommit(handle) == 0
    }

    /// Runs the closure in a transaction, which is undone when the closure or the commit throws.
    ///
    /// - Throws: What the closure throws, or `SQLiteError`; `busy` when another writer held the lock too long.
    public func transaction<Result>(
        _ kind: TransactionKind = .immediate, _ body: () throws -> Result
    ) throws -> Result {
        try statement(kind.rawValue).run()
        do {
            let result = try body()
            try statement("COMMIT").run()
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    /// Undoes the open transaction; SQLite may have done so itself after a grave error.
    private func rollBack() {
        guard isInTransaction else { return }
        do {
            try statement("ROLLBACK").run()
        } catch {
            // The connection can no longer be trusted: closing undoes the transaction for certain, and every later
            // call says that it is closed.
            close()
        }
    }

    // MARK: Schema

    /// Brings the file's schema up to date.
    ///
    /// The file's `user_version` counts the steps it has seen. The list may only ever grow at its end. All steps
    /// that are missing run in one transaction.
    ///
    /// - Throws: `foreignFile` when the file belongs to another program, `schemaIsNewer` when it has seen more steps
    ///   than the list has.
    public func migrate(_ migrations: Migrations) throws {
        try transaction {
            let owner = try integer("PRAGMA application_id") ?? 0
            let version = try integer("PRAGMA user_version") ?? 0
            let tables = try integer("SELECT count(*) FROM sqlite_schema") ?? 0
            guard owner == Int64(migrations.applicationID) || (owner == 0 && version == 0 && tables == 0)
            else {
                throw SQLiteError(
                    code: .foreignFile, message: "application id \(owner), version \(version)",
                    operation: "migrate")
            }
            guard version >= 0, version <= migrations.steps.count else {
                throw SQLiteError(
                    code: .schemaIsNewer,
                    message: "schema version \(version), this program knows \(migrations.steps.count)",
                    operation: "migrate")
            }
            guard version < migrations.steps.count else { return }
            for step in migrations.steps[Int(version)...] {
                try step(self)
            }
            try executeScript(
                """
                PRAGMA application_id = \(migrations.applicationID);
                PRAGMA user_version = \(migrations.steps.count);
                """)
        }
    }

    // MARK: Deletion

    /// How thoroughly deleted content is overwritten.
    public enum SecureDeletion: String, Sendable {
        /// Where the page is written anyway; freed pages keep what they had.
        case fast = "FAST"
        /// Everywhere, freed pages, too.
        case full = "ON"
    }

    /// Says how thoroughly content that is deleted from now on is overwritten; allowed in a transaction, too.
    public func setSecureDeletion(_ deletion: SecureDeletion) throws {
        guard self.deletion != deletion else { return }
        try statement("PRAGMA secure_delete = \(deletion.rawValue)").run()
        self.deletion = deletion
    }

    // MARK: Care

    /// Looks for damage; answers the first findings, none for a sound file.
    ///
    /// Reads the whole file.
    public func quickCheck(limit: Int = 20) throws -> [String] {
        let found = try rows("PRAGMA quick_check(\(max(1, limit)))") { $0.text(at: 0) }
        return found == ["ok"] ? [] : found
    }

    /// Looks for damage as `quickCheck` does, and compares the indexes with their tables, which takes much longer.
    public func integrityCheck(limit: Int = 20) throws -> [String] {
        let found = try rows("PRAGMA integrity_check(\(max(1, limit)))") { $0.text(at: 0) }
        return found == ["ok"] ? [] : found
    }

    /// Moves the write-ahead log into the file; true when all of it was moved.
    ///
    /// With `truncates`, the log file is cut to nothing, which waits for readers up to the busy timeout.
    @discardableResult
    public func checkpoint(truncates: Bool = false) throws -> Bool {
        let mode = truncates ? "TRUNCATE" : "PASSIVE"
        return try first("PRAGMA wal_checkpoint(\(mode))") { row in
            row.integer(at: 0) == 0 && row.integer(at: 1) == row.integer(at: 2)
        } ?? false
    }
}

/// The steps that made a schema what it is, oldest first; append only.
public struct Migrations: Sendable {
    /// The number that marks the files of this program (`PRAGMA application_id`); not 0.
    public let applicationID: Int32
    /// The steps.
    public let steps: [@Sendable (Database) throws -> Void]

    /// Makes a list of steps.
    public init(applicationID: Int32, steps: [@Sendable (Database) throws -> Void]) {
        self.applicationID = applicationID
        self.steps = steps
    }

    /// Makes a list of steps, each a script of static SQL.
    public init(applicationID: Int32, scripts: [String]) {
        self.init(
            applicationID: applicationID,
            steps: scripts.map { script in { database in try database.executeScript(script) } })
    }
}
