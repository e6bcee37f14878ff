import RivuletModel
public import RivuletServerCore
import SQLiteKit

/// The groups, bans and friend lists of a data folder, in `members.sqlite`.
///
/// The running server has the file open and is asked through `Server.apply(_:)`. While it is stopped a program may
/// open the file itself; the folder's lock keeps the two apart.
///
/// ```swift
/// let file = try MembershipFile(whileStoppedIn: folder)    // throws folderInUse while the server runs
/// defer { file.close() }
/// try file.apply([.muteGroup(GroupID(7), true)], at: .current)
/// ```
///
/// | table | row |
/// |---|---|
/// | `chat_group` | a group; `dissolved` is a time for one that is no more |
/// | `member` | a user in a group |
/// | `room_ban` | a user who may not write in a room |
/// | `friend`, `blocked` | a user in another's list |
///
/// One instance belongs to one thread.
public final class MembershipFile: MembershipDirectory {
    private static let migrations = Migrations(
        applicationID: 0x5256_4D42,
        scripts: [
            """
            CREATE TABLE chat_group (
                id INTEGER PRIMARY KEY,
                app INTEGER NOT NULL,
                name TEXT NOT NULL,
                notice TEXT NOT NULL,
                super INTEGER NOT NULL,
                muted INTEGER NOT NULL,
                created INTEGER NOT NULL,
                dissolved INTEGER
            );
            CREATE TABLE member (
                chat_group INTEGER NOT NULL REFERENCES chat_group (id),
                user INTEGER NOT NULL,
                role TEXT NOT NULL,
                muted INTEGER NOT NULL,
                joined INTEGER NOT NULL,
                PRIMARY KEY (chat_group, user)
            ) WITHOUT ROWID;
            CREATE TABLE room_ban (
                room INTEGER NOT NULL, app INTEGER NOT NULL, user INTEGER NOT NULL, PRIMARY KEY (room, app, user)
            ) WITHOUT ROWID;
            CREATE TABLE friend (
                app INTEGER NOT NULL, owner INTEGER NOT NULL, user INTEGER NOT NULL, PRIMARY KEY (app, owner, user)
            ) WITHOUT ROWID;
            CREATE TABLE blocked (
                app INTEGER NOT NULL, owner INTEGER NOT NULL, user INTEGER NOT NULL, PRIMARY KEY (app, owner, user)
            ) WITHOUT ROWID;
            """,
            // Members from before have none, and are told by their time.
            "ALTER TABLE member ADD COLUMN joined_key INTEGER",
        ])

    private let database: Database
    private let path: String
    private let lock: DataDirectoryLock?
    /// The last key given by the log of a server that does not run.
    private let restingKey: Int64?
    /// What is known now.
    public private(set) var memberships = Memberships()

    /// Opens the file of a data folder that no server uses, making both when they are missing.
    ///
    /// - Throws: ``ServerError`` with `folderInUse` while a server runs on the folder; otherwise it names the file
    ///   and what to do.
    public convenience init(whileStoppedIn folder: DataDirectory) throws {
        try folder.create()
        try self.init(in: folder, lock: try folder.lock())
    }

    /// Opens the file for the server that holds the folder's lock.
    convenience init(in folder: DataDirectory) throws {
        try self.init(in: folder, lock: nil)
    }

    private init(in folder: DataDirectory, lock: DataDirectoryLock?) throws {
        path = folder.membersPath
        self.lock = lock
        restingKey = lock == nil ? nil : KeyMark.lastKey(at: folder.keysPath)
        do {
            var options = DatabaseOptions()
            options.synchronous = .full
            database = try Database(path: path, options: options)
            try database.migrate(Self.migrations)
            try load()
        } catch let error as MembershipError {
            throw ServerError(
                .databaseCorrupt, "\(folder.membersPath) is damaged (\(error)); put a backup in its place",
                underlying: error)
        } catch {
            throw DataDirectory.describe(error, path: folder.membersPath)
        }
    }

    /// Closes the file and lets go of the folder; every later change throws.
    public func close() {
        database.close()
        lock?.release()
    }

    /// Makes the changes in order, all or none; they are on disk when this returns.
    ///
    /// - Parameters:
    ///   - changes: What is to be.
    ///   - now: When, for new groups and members.
    ///   - key: The last key that the message log has given; nil where no server runs.
    /// - Returns: Those that made a difference.
    /// - Throws: `MembershipError` for a change that cannot be made, ``ServerError`` when the file cannot be
    ///   written; then nothing has changed.
    public func apply(
        _ changes: [MembershipChange], at now: WallTime, after key: Int64?
    ) throws -> [MembershipChange] {
        let key = key ?? restingKey
        var next = memberships
        var effective: [MembershipChange] = []
        for change in changes where try next.apply(change, at: now, after: key) { effective.append(change) }
        guard !effective.isEmpty else { return [] }
        do {
            try database.transaction {
                for change in effective { try write(change, next, at: now) }
            }
        } catch {
            throw DataDirectory.describe(error, path: path)
        }
        memberships = next
        return effective
    }

    // MARK: Loading

    private func load() throws {
        var groups: [GroupID: ChatGroup] = [:]
        let all = try database.statement(
            "SELECT id, app, name, notice, super, muted, created, dissolved FROM chat_group")
        try all.forEachRow { row in
            let id = GroupID(row.integer(at: 0))
            guard row.optionalInteger(at: 7) == nil else {
                memberships.insertDissolved(id)
                return
            }
            groups[id] = ChatGroup(
                id: id, app: row.integer(at: 1), name: row.text(at: 2), notice: row.text(at: 3),
                isSuper: row.integer(at: 4) != 0, isMuted: row.integer(at: 5) != 0,
                created: WallTime(milliseconds: row.integer(at: 6)))
        }
        let members = try database.statement(
            "SELECT chat_group, user, role, muted, joined, joined_key FROM member ORDER BY chat_group, user")
        try members.forEachRow { row in
            groups[GroupID(row.integer(at: 0))]?.setMember(
                GroupMember(
                    user: UserID(row.integer(at: 1)), role: GroupRole(rawValue: row.text(at: 2)) ?? .member,
                    isMuted: row.integer(at: 3) != 0, joined: WallTime(milliseconds: row.integer(at: 4)),
                    joinedKey: row.optionalInteger(at: 5)))
        }
        for group in groups.values { try memberships.insert(group) }
        let epoch = WallTime(milliseconds: 0)
        for (table, make) in Self.lists {
            var changes: [MembershipChange] = []
            let rows = try database.statement("SELECT \(table.columns) FROM \(table.name)")
            try rows.forEachRow { row in
                changes.append(make(row.integer(at: 0), row.integer(at: 1), row.integer(at: 2)))
            }
            for change in changes { try memberships.apply(change, at: epoch) }
        }
    }

    /// The tables of three numbers, and what a row of each means.
    private static let lists:
        [(table: (name: String, columns: String), make: @Sendable (Int64, Int64, Int64) -> MembershipChange)] =
            [
                (
                    ("room_ban", "room, app, user"),
                    { .banFromRoom(RoomID($0), Account(app: $1, user: UserID($2)), true) }
                ),
                (
                    ("friend", "app, owner, user"),
                    { .setFriend(of: Account(app: $0, user: UserID($1)), UserID($2), true) }
                ),
                (
                    ("blocked", "app, owner, user"),
                    { .setBlocked(by: Account(app: $0, user: UserID($1)), UserID($2), true) }
                ),
            ]

    // MARK: Writing

    /// Writes what a change made different; `known` is the state after all changes of the call.
    private func write(_ change: MembershipChange, _ known: Memberships, at now: WallTime) throws {
        switch change {
        case .dissolveGroup(let id):
            try database.execute("DELETE FROM member WHERE chat_group = ?", .integer(id.rawValue))
            try database.execute(
                "UPDATE chat_group SET dissolved = ? WHERE id = ?", .integer(now.milliseconds),
                .integer(id.rawValue))
        case .banFromRoom(let room, let account, let isBanned):
            try set(
                "room_ban", "room, app, user", [room.rawValue, account.app, account.user.rawValue], isBanned)
        case .setFriend(let account, let user, let isFriend):
            try set(
                "friend", "app, owner, user", [account.app, account.user.rawValue, user.rawValue], isFriend)
        case .setBlocked(let account, let user, let isBlocked):
            try set(
                "blocked", "app, owner, user", [account.app, account.user.rawValue, user.rawValue], isBlocked)
        case .createGroup(let id, _, _, _, _, _):
            // A group that was dissolved again in the same call leaves its id behind, like any other.
            let group =
                known.group(id) ?? ChatGroup(id: id, app: Account.defaultApp, name: "", created: now)
            try write(group)
            for member in group.members { try write(member, id) }
        case .removeMember(let id, let user):
            // A member who came back in the same call is written by the change that did it.
            try database.execute(
                "DELETE FROM member WHERE chat_group = ? AND user = ?", .integer(id.rawValue),
                .integer(user.rawValue))
        case .addMember(let id, let user, _), .muteMember(let id, let user, _):
            if let member = known.group(id)?.member(user) { try write(member, id) }
        case .setMemberRole(let id, _, _):
            // The former owner's role has changed as well.
            for member in known.group(id)?.members ?? [] { try write(member, id) }
        case .renameGroup(let id, _), .setGroupNotice(let id, _), .setGroupSuper(let id, _),
            .muteGroup(let id, _):
            if let group = known.group(id) { try write(group) }
        }
    }

    private func write(_ group: ChatGroup) throws {
        try database.execute(
            """
            INSERT INTO chat_group (id, app, name, notice, super, muted, created) VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET name = excluded.name, notice = excluded.notice,
                super = excluded.super, muted = excluded.muted
            """,
            .integer(group.id.rawValue), .integer(group.app), .text(group.name), .text(group.notice),
            .integer(group.isSuper ? 1 : 0), .integer(group.isMuted ? 1 : 0),
            .integer(group.created.milliseconds))
    }

    private func write(_ member: GroupMember, _ group: GroupID) throws {
        try database.execute(
            """
            INSERT OR REPLACE INTO member (chat_group, user, role, muted, joined, joined_key)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            .integer(group.rawValue), .integer(member.user.rawValue), .text(member.role.rawValue),
            .integer(member.isMuted ? 1 : 0), .integer(member.joined.milliseconds),
            .optional(member.joinedKey))
    }

    private func set(_ table: String, _ columns: String, _ row: [Int64], _ isIn: Bool) throws {
        let statement = try database.statement(
            isIn
                ? "INSERT OR IGNORE INTO \(table) (\(columns)) VALUES (?, ?, ?)"
                : "DELETE FROM \(table) WHERE (\(columns)) = (?, ?, ?)")
        try statement.bind(row.map { .integer($0) })
        try statement.run()
    }
}
