import RivuletModel
import SQLiteKit

extension SQLiteTables {
    // MARK: Contacts

    private static let contactColumns = "id, name, remark, avatar, is_blocked"

    private static func contact(_ row: borrowing Row) -> Contact {
        Contact(
            id: UserID(row.integer(at: 0)), name: row.text(at: 1), remark: row.optionalText(at: 2),
            avatar: row.optionalText(at: 3), isBlocked: row.integer(at: 4) != 0)
    }

    func contact(_ user: UserID) throws -> Contact? {
        try database.first(
            "SELECT \(Self.contactColumns) FROM contact WHERE id = ?", .integer(user.rawValue),
            make: Self.contact)
    }

    func contacts() throws -> [Contact] {
        try database.rows("SELECT \(Self.contactColumns) FROM contact ORDER BY id", make: Self.contact)
    }

    func save(_ contact: Contact) throws {
        try database.execute(
            "INSERT OR REPLACE INTO contact (\(Self.contactColumns)) VALUES (?, ?, ?, ?, ?)",
            .integer(contact.id.rawValue), .text(contact.name), .optional(contact.remark),
            .optional(contact.avatar), .integer(contact.isBlocked ? 1 : 0))
    }

    func deleteContact(_ user: UserID) throws {
        try database.execute("DELETE FROM contact WHERE id = ?", .integer(user.rawValue))
    }

    // MARK: Groups

    private static let groupColumns =
        "id, name, notice, avatar, is_muted, is_pinning_restricted, is_super, is_disbanded"

    private static func group(_ row: borrowing Row) -> GroupProfile {
        GroupProfile(
            id: row.integer(at: 0), name: row.text(at: 1), notice: row.text(at: 2),
            avatar: row.optionalText(at: 3), isMuted: row.integer(at: 4) != 0,
            isPinningRestricted: row.integer(at: 5) != 0, isSuper: row.integer(at: 6) != 0,
            isDisbanded: row.integer(at: 7) != 0)
    }

    func group(_ id: Int64) throws -> GroupProfile? {
        try database.first(
            "SELECT \(Self.groupColumns) FROM chat_group WHERE id = ?", .integer(id), make: Self.group)
    }

    func groups() throws -> [GroupProfile] {
        try database.rows("SELECT \(Self.groupColumns) FROM chat_group ORDER BY id", make: Self.group)
    }

    func save(_ group: GroupProfile) throws {
        try database.execute(
            "INSERT OR REPLACE INTO chat_group (\(Self.groupColumns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            .integer(group.id), .text(group.name), .text(group.notice), .optional(group.avatar),
            .integer(group.isMuted ? 1 : 0), .integer(group.isPinningRestricted ? 1 : 0),
            .integer(group.isSuper ? 1 : 0), .integer(group.isDisbanded ? 1 : 0))
    }

    func deleteGroup(_ id: Int64) throws {
        try database.execute("DELETE FROM chat_group WHERE id = ?", .integer(id))
    }

    // MARK: Members

    private static let memberColumns = "user, role, nickname, is_muted"

    private static func member(_ row: borrowing Row) -> GroupMemberProfile {
        GroupMemberProfile(
            id: UserID(row.integer(at: 0)), role: GroupMemberProfile.Role(rawValue: row.text(at: 1)),
            nickname: row.optionalText(at: 2), isMuted: row.integer(at: 3) != 0)
    }

    func members(of group: Int64) throws -> [GroupMemberProfile] {
        try database.rows(
            "SELECT \(Self.memberColumns) FROM member WHERE chat_group = ? ORDER BY user", .integer(group),
            make: Self.member)
    }

    func member(_ user: UserID, of group: Int64) throws -> GroupMemberProfile? {
        try database.first(
            "SELECT \(Self.memberColumns) FROM member WHERE chat_group = ? AND user = ?", .integer(group),
            .integer(user.rawValue), make: Self.member)
    }

    func save(_ member: GroupMemberProfile, of group: Int64) throws {
        try database.execute(
            "INSERT OR REPLACE INTO member (chat_group, \(Self.memberColumns)) VALUES (?, ?, ?, ?, ?)",
            .integer(group), .integer(member.id.rawValue), .text(member.role.rawValue),
            .optional(member.nickname), .integer(member.isMuted ? 1 : 0))
    }

    func deleteMember(_ user: UserID, of group: Int64) throws {
        try database.execute(
            "DELETE FROM member WHERE chat_group = ? AND user = ?", .integer(group), .integer(user.rawValue))
    }

    func deleteMembers(of group: Int64) throws {
        try database.execute("DELETE FROM member WHERE chat_group = ?", .integer(group))
    }
}
