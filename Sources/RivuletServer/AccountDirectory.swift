public import RivuletModel
public import RivuletServerCore
public import RivuletWire
import SQLiteKit
import TLSKit

/// Who may log in, and under which number each device is known.
///
/// It lives in `accounts.sqlite` of a data folder and may be opened by several processes at once: a token made on the
/// command line works on the running server at the next login. One instance belongs to one thread.
///
/// ```swift
/// let directory = try AccountDirectory(in: DataDirectory(path: "/var/lib/rivulet"))
/// var random = SystemRandomNumberGenerator()
/// let issued = try directory.createToken(for: Account(user: UserID(7)), now: now, using: &random)
/// print(issued.token)
/// ```
public final class AccountDirectory {
    private static let migrations = Migrations(
        applicationID: 0x5256_4143,
        scripts: [
            """
            CREATE TABLE token (
                hash BLOB PRIMARY KEY,
                id TEXT NOT NULL UNIQUE,
                app INTEGER NOT NULL,
                user INTEGER NOT NULL,
                label TEXT NOT NULL,
                created INTEGER NOT NULL,
                expires INTEGER,
                revoked INTEGER
            ) WITHOUT ROWID;
            CREATE INDEX token_user ON token (user, created);
            CREATE TABLE device (
                number INTEGER PRIMARY KEY AUTOINCREMENT,
                app INTEGER NOT NULL,
                user INTEGER NOT NULL,
                platform INTEGER NOT NULL,
                device TEXT NOT NULL,
                UNIQUE (app, user, platform, device)
            );
            """
        ])
    private static let columns = "id, app, user, label, created, expires, revoked"

    private let database: Database
    private let path: String

    /// Opens the directory of a data folder, making both when they are missing.
    ///
    /// - Throws: ``ServerError`` that names the file and what to do.
    public init(in folder: DataDirectory) throws {
        try folder.create()
        path = folder.accountsPath
        do {
            var options = DatabaseOptions()
            options.synchronous = .full
            database = try Database(path: path, options: options)
            try database.migrate(Self.migrations)
        } catch {
            throw DataDirectory.describe(error, path: folder.accountsPath)
        }
    }

    /// Closes the file; every later call throws.
    public func close() {
        database.close()
    }

    // MARK: Tokens

    /// Makes a token; it is shown once and kept only as a digest.
    ///
    /// - Parameters:
    ///   - account: Whose it is; the user's number must be above 0.
    ///   - label: A note to know it by.
    ///   - lifetimeMilliseconds: After how long it ends; nil for never.
    ///   - now: When it is made.
    ///   - generator: Must be unpredictable, such as `SystemRandomNumberGenerator`.
    /// - Returns: The token and what is kept of it.
    /// - Throws: ``ServerError`` with `badConfiguration` for a user number below 1.
    public func createToken(
        for account: Account, label: String = "", lifetimeMilliseconds: Int64? = nil, now: WallTime,
        using generator: inout some RandomNumberGenerator
    ) throws -> IssuedToken {
        let issued = make(account, label, lifetimeMilliseconds, now, using: &generator)
        try described { try insert(issued) }
        return issued
    }

    /// Makes a token for each of many accounts, all or none.
    ///
    /// - Parameters:
    ///   - accounts: Whose they are; the users' numbers must be above 0.
    ///   - label: A note to know them by.
    ///   - lifetimeMilliseconds: After how long they end; nil for never.
    ///   - now: When they are made.
    ///   - generator: Must be unpredictable, such as `SystemRandomNumberGenerator`.
    /// - Returns: The tokens in the order of the accounts.
    /// - Throws: ``ServerError`` with `badConfiguration` for a user number below 1.
    public func createTokens(
        for accounts: [Account], label: String = "", lifetimeMilliseconds: Int64? = nil, now: WallTime,
        using generator: inout some RandomNumberGenerator
    ) throws -> [IssuedToken] {
        var all: [IssuedToken] = []
        all.reserveCapacity(accounts.count)
        for account in accounts {
            all.append(make(account, label, lifetimeMilliseconds, now, using: &generator))
        }
        let made = all
        try described {
            try database.transaction {
                for issued in made { try insert(issued) }
            }
        }
        return made
    }

    private func make(
        _ account: Account, _ label: String, _ lifetime: Int64?, _ now: WallTime,
        using generator: inout some RandomNumberGenerator
    ) -> IssuedToken {
        let (token, id) = TokenText.make(using: &generator)
        let record = TokenRecord(
            id: id, account: account, label: label, created: now,
            expires: lifetime.map {
                WallTime(milliseconds: now.milliseconds.addingReportingOverflow($0).partialValue)
            }, revoked: nil)
        return IssuedToken(token: token, record: record)
    }

    private func insert(_ issued: IssuedToken) throws {
        let (token, record) = (issued.token, issued.record)
        guard record.account.user.rawValue > 0 else {
            throw ServerError(.badConfiguration, "a user's number must be 1 or more")
        }
        try database.execute(
            "INSERT INTO token (hash, \(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, NULL)",
            .blob(Self.digest(token)), .text(record.id), .integer(record.account.app),
            .integer(record.account.user.rawValue), .text(record.label),
            .integer(record.created.milliseconds), .optional(record.expires?.milliseconds))
    }

    /// The account of a token; nil when it is unknown, revoked or ended.
    public func verify(_ token: String, now: WallTime) throws -> Account? {
        try validRecord(of: token, now: now)?.account
    }

    /// What is known of a token that is good now.
    func validRecord(of token: String, now: WallTime) throws -> TokenRecord? {
        let record = try described {
            try database.first(
                "SELECT \(Self.columns) FROM token WHERE hash = ?", .blob(Self.digest(token)),
                make: Self.record)
        }
        guard let record, record.isValid(at: now) else { return nil }
        return record
    }

    /// The tokens of one user, or all of them, oldest first; ended and revoked ones included.
    public func tokens(of user: UserID? = nil) throws -> [TokenRecord] {
        try described {
            guard let user else {
                return try database.rows(
                    "SELECT \(Self.columns) FROM token ORDER BY created, id", make: Self.record)
            }
            return try database.rows(
                "SELECT \(Self.columns) FROM token WHERE user = ? ORDER BY created, id",
                .integer(user.rawValue), make: Self.record)
        }
    }

    /// Revokes the token with this id, or with this whole text.
    ///
    /// - Returns: What is known of it now; nil when there is no such token.
    @discardableResult
    public func revokeToken(_ idOrToken: String, now: WallTime) throws -> TokenRecord? {
        try described {
            let digest = Self.digest(idOrToken)
            try database.execute(
                "UPDATE token SET revoked = coalesce(revoked, ?) WHERE id = ? OR hash = ?",
                .integer(now.milliseconds), .text(idOrToken), .blob(digest))
            return try database.first(
                "SELECT \(Self.columns) FROM token WHERE id = ? OR hash = ?", .text(idOrToken), .blob(digest),
                make: Self.record)
        }
    }

    // MARK: Devices

    /// The number of a user's device, given at its first login; `DeviceNumber` for the web and for clients
    /// without a device id (docs/protocol.md, section 7).
    public func deviceNumber(
        for account: Account, platform: PlatformID, deviceID: String
    ) throws -> DeviceNumber {
        guard platform != .web, !deviceID.isEmpty else { return .none }
        let key: [SQLiteValue] = [
            .integer(account.app), .integer(account.user.rawValue), .integer(Int64(platform.rawValue)),
            .text(deviceID),
        ]
        return try described {
            if let known = try number(of: key) { return known }
            let insert = try database.statement(
                "INSERT OR IGNORE INTO device (app, user, platform, device) VALUES (?, ?, ?, ?)")
            try insert.bind(key)
            try insert.run()
            return try number(of: key) ?? .none
        }
    }

    private func number(of key: [SQLiteValue]) throws -> DeviceNumber? {
        let select = try database.statement(
            "SELECT number FROM device WHERE app = ? AND user = ? AND platform = ? AND device = ?")
        try select.bind(key)
        return try select.first { DeviceNumber(rawValue: $0.integer(at: 0)) }
    }

    // MARK: Internals

    private static func digest(_ token: String) -> [UInt8] {
        SHA256Digest(of: Array(token.utf8)).bytes
    }

    private static func record(_ row: borrowing Row) -> TokenRecord {
        TokenRecord(
            id: row.text(at: 0), account: Account(app: row.integer(at: 1), user: UserID(row.integer(at: 2))),
            label: row.text(at: 3), created: WallTime(milliseconds: row.integer(at: 4)),
            expires: row.optionalInteger(at: 5).map(WallTime.init),
            revoked: row.optionalInteger(at: 6).map(WallTime.init))
    }

    private func described<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as ServerError {
            throw error
        } catch {
            throw DataDirectory.describe(error, path: path)
        }
    }
}
