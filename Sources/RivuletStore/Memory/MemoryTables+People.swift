import RivuletModel

extension MemoryTables {
    func tags(of message: Int64) -> [String] {
        // By bytes, as SQLite compares.
        (state.tags[message] ?? []).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    func setTag(_ tag: String, on message: Int64, isOn: Bool) {
        if isOn {
            state.tags[message, default: []].insert(tag)
        } else {
            state.tags[message]?.remove(tag)
        }
    }

    func deleteTags(of message: Int64) { state.tags[message] = nil }

    func setFavorite(_ message: Int64, isOn: Bool) {
        state.favorites.removeAll { $0 == message }
        if isOn { state.favorites.append(message) }
    }

    /// Nothing is left behind in memory.
    func wipe(_ row: MessageRow) {}

    func contact(_ user: UserID) -> Contact? { state.contacts[user] }

    func save(_ contact: Contact) { state.contacts[contact.id] = contact }

    func deleteContact(_ user: UserID) { state.contacts[user] = nil }

    func group(_ id: Int64) -> GroupProfile? { state.groups[id] }

    func save(_ group: GroupProfile) { state.groups[group.id] = group }

    func deleteGroup(_ id: Int64) { state.groups[id] = nil }

    func members(of group: Int64) -> [GroupMemberProfile] {
        (state.members[group] ?? [:]).values.sorted { $0.id < $1.id }
    }

    func member(_ user: UserID, of group: Int64) -> GroupMemberProfile? { state.members[group]?[user] }

    func save(_ member: GroupMemberProfile, of group: Int64) {
        state.members[group, default: [:]][member.id] = member
    }

    func deleteMember(_ user: UserID, of group: Int64) { state.members[group]?[user] = nil }

    func deleteMembers(of group: Int64) { state.members[group] = nil }
}
