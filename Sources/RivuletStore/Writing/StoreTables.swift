import RivuletModel

/// The tables of an account, inside one transaction; what `StoreWriter` works on.
///
/// The rules of the store are written once, over this protocol; SQLite and memory differ only here.
protocol StoreTables: AnyObject {
    func counters() throws -> Counters
    func save(_ counters: Counters) throws

    func session(_ session: Session) throws -> SessionRow?
    func session(id: Int64) throws -> SessionRow?
    /// Inserts a row, with a number that the table gives.
    func insert(_ session: Session) throws -> SessionRow
    func save(_ row: SessionRow) throws

    func message(id: Int64) throws -> MessageRow?
    func message(uuid: String) throws -> MessageRow?
    /// A row without uuid that this may be a copy of.
    func message(likeSender sender: Int64, localNumber: Int64, timeMilliseconds: Int64, session: Int64) throws
        -> MessageRow?
    func insert(_ row: MessageRow) throws
    /// Writes all columns of a row that exists.
    func update(_ row: MessageRow) throws
    /// The shown row with the greatest position.
    func last(in session: Int64) throws -> MessageRow?
    /// How many rows behind a position count as unread, and how many of them address the user.
    func countUnread(in session: Int64, after position: Int64) throws -> (unread: Int64, mentions: Int64)
    /// All shown rows of a conversation, a part at a time: up to `limit` behind the position, oldest first.
    func shown(in session: Int64, after position: Int64, limit: Int) throws -> [MessageRow]

    func insert(_ row: SendRow) throws
    func send(number: Int64) throws -> SendRow?
    func sends(ofMessage id: Int64) throws -> [SendRow]
    func deleteSend(number: Int64) throws
    func setKey(group: Int64?, key: Int64) throws
    func deleteKey(group: Int64) throws

    func reactions(of message: Int64) throws -> [Message.Reaction]
    func setReaction(_ emoji: String, of user: Int64, on message: Int64, isOn: Bool) throws
    func deleteReactions(of message: Int64) throws
    func tags(of message: Int64) throws -> [String]
    func setTag(_ tag: String, on message: Int64, isOn: Bool) throws
    func deleteTags(of message: Int64) throws
    func setFavorite(_ message: Int64, isOn: Bool) throws
    /// Notes that a user has read a message and answers how many have.
    func addReader(_ user: Int64, of message: Int64) throws -> Int64
    func setVote(_ options: [Int], of user: Int64, on message: Int64) throws
    func keepEarlierText(_ text: String, of message: Int64, timeMilliseconds: Int64) throws
    func deleteEarlierTexts(of message: Int64) throws

    func insert(_ waiting: WaitingControl) throws
    /// Removes and answers the controls that waited for this uuid, oldest first.
    func takeWaiting(for target: String) throws -> [WaitingControl]

    /// Inserts a change, or writes all columns of one that exists.
    func insert(_ change: OwnChange) throws
    func ownChange(_ id: Int64) throws -> OwnChange?
    /// The own changes of a message that wait for their place, in the order in which they were made.
    func ownChanges(of target: String) throws -> [OwnChange]
    func deleteOwnChange(_ id: Int64) throws

    func index(_ text: String, row: MessageRow) throws
    func unindex(_ text: String, row: MessageRow) throws

    /// Removes the JSON of a burned message, and sees to it that no copy stays in the file.
    func wipe(_ row: MessageRow) throws

    func contact(_ user: UserID) throws -> Contact?
    func save(_ contact: Contact) throws
    func deleteContact(_ user: UserID) throws
    func group(_ id: Int64) throws -> GroupProfile?
    func save(_ group: GroupProfile) throws
    func deleteGroup(_ id: Int64) throws
    func members(of group: Int64) throws -> [GroupMemberProfile]
    func member(_ user: UserID, of group: Int64) throws -> GroupMemberProfile?
    func save(_ member: GroupMemberProfile, of group: Int64) throws
    func deleteMember(_ user: UserID, of group: Int64) throws
    func deleteMembers(of group: Int64) throws
}

extension StoreTables {
    func extras(of row: MessageRow) throws -> RowExtras {
        guard !row.flags.isDisjoint(with: [.reactions, .tags]) else { return RowExtras() }
        return RowExtras(
            reactions: row.flags.contains(.reactions) ? try reactions(of: row.id) : [],
            tags: row.flags.contains(.tags) ? try tags(of: row.id) : [])
    }
}
