import RivuletModel

/// Contacts, groups and favourites.
extension StoreWriter {
    mutating func setFavorite(_ id: Int64, isOn: Bool) throws -> StoreOutcome {
        guard var row = try tables.message(id: id), row.position != nil,
            row.kind != MessageKind.revoked.rawValue, row.kind != MessageKind.erased.rawValue,
            !isOn || !row.flags.contains(.burning), row.flags.contains(.favorite) != isOn
        else { return .ignored }
        if isOn { row.flags.insert(.favorite) } else { row.flags.remove(.favorite) }
        try tables.setFavorite(id, isOn: isOn)
        try update(row)
        return .applied
    }

    // MARK: Contacts

    mutating func setContact(_ contact: Contact) throws -> StoreOutcome {
        guard try tables.contact(contact.id) != contact else { return .ignored }
        try tables.save(contact)
        noteContact(contact.id)
        return .applied
    }

    mutating func removeContact(_ user: UserID) throws -> StoreOutcome {
        guard try tables.contact(user) != nil else { return .ignored }
        try tables.deleteContact(user)
        noteContact(user)
        return .applied
    }

    // MARK: Groups

    mutating func setGroup(_ group: GroupProfile) throws -> StoreOutcome {
        guard try tables.group(group.id) != group else { return .ignored }
        try tables.save(group)
        noteGroup(group.id)
        return .applied
    }

    mutating func setMembers(of group: Int64, _ members: [GroupMemberProfile]) throws -> StoreOutcome {
        try tables.deleteMembers(of: group)
        for member in members { try tables.save(member, of: group) }
        noteGroup(group)
        return .applied
    }

    mutating func removeGroup(_ id: Int64) throws -> StoreOutcome {
        guard try tables.group(id) != nil else { return .ignored }
        try tables.deleteGroup(id)
        try tables.deleteMembers(of: id)
        noteGroup(id)
        return .applied
    }

    /// Takes over what a notification of the server says of a group (docs/protocol.md, section 16.3).
    ///
    /// History does not come here: what it tells is over.
    mutating func learn(_ notification: GroupNotification) throws {
        let id = notification.groupID
        guard id != 0 else { return }
        let known = try tables.group(id)
        var group = known ?? GroupProfile(id: id)
        switch notification.change {
        case .created(let master, let name, let members):
            group.name = name
            group.isDisbanded = false
            for user in members where try tables.member(user, of: id) == nil {
                try tables.save(GroupMemberProfile(id: user, role: user == master ? .owner : .member), of: id)
            }
        case .disbanded: group.isDisbanded = true
        case .memberLeft(let user, _): try tables.deleteMember(user, of: id)
        case .memberAdded(let user, _):
            if try tables.member(user, of: id) == nil {
                try tables.save(GroupMemberProfile(id: user), of: id)
            }
        case .renamed(let name): group.name = name
        case .noticeChanged(let notice): group.notice = notice
        case .upgraded: group.isSuper = true
        case .unknown: return
        }
        if group != known { try tables.save(group) }
        noteGroup(id)
    }
}
