import RivuletModel
import RivuletServerCore
import RivuletWire
import Testing

extension NodeDriver {
    /// Lets the node hear of changes, as the directory would.
    @discardableResult
    mutating func change(_ changes: MembershipChange...) throws -> [NodeAction] {
        try feed([.membershipsChanged(changes, at: now, after: log.lastKey)])
    }

    /// Makes a group of these users, the first of whom owns it.
    mutating func makeGroup(_ id: Int64, _ users: Int64..., isSuper: Bool = false) throws {
        try change(
            .createGroup(
                GroupID(id), app: 1, name: "g", isSuper: isSuper, owner: UserID(users[0]),
                members: users.map { UserID($0) }))
    }

    static func group(
        _ sender: Int64, _ group: Int64, _ content: String = "x", sequence: Int32 = 1, number: Int32 = 0
    ) -> Packet {
        Packet(
            .groupIM, .im(IMMessage(sender: sender, receiver: group, msgLocalID: number, content: content)),
            sequence: sequence)
    }

    static func rt(_ sender: Int64, _ receiver: Int64, _ content: String) -> Packet {
        Packet(.rt, .room(RTMessage(sender: sender, receiver: receiver, content: content)))
    }
}

extension [Packet] {
    /// The statuses of the ACKs among them.
    var statuses: [ACKStatus] {
        compactMap { if case .ack(let ack) = $0.body { ack.status } else { nil } }
    }

    /// The contents of the messages among them.
    var contents: [String] {
        compactMap { packet in
            switch packet.body {
            case .im(let message): message.content
            case .room(let message): message.content
            case .text(let text): text
            case .customerV2(let message): message.content
            default: nil
            }
        }
    }
}

@Suite struct NodeCoreGroupTests {
    var node = NodeDriver(rules: silent)

    /// No notices of changes, so that queues hold nothing but what a test sends.
    static var silent: NodeRules {
        var rules = NodeRules()
        rules.announcesGroupChanges = false
        return rules
    }

    @Test mutating func `every member's queue holds a group message, after one commit`() throws {
        try node.makeGroup(7, 1, 2, 3)
        let author = try node.login(1, device: 5)
        let own = try node.login(1, device: 6)
        let member = try node.login(2)
        let stranger = try node.login(4)
        node.holdsLog = true
        #expect(try node.feed([.received(author, NodeDriver.group(1, 7))]).isEmpty)
        guard case .append(_, let entries) = node.held.first, node.held.count == 1 else {
            Issue.record("\(node.held)")
            return
        }
        #expect(entries.map(\.queues) == [[queue(2), queue(3), queue(1)]])
        let event = try node.performHeld()
        let actions = try node.feed([event])
        #expect(actions.sent(to: author).map(\.command) == [.metadata, .ack])
        #expect(actions.sent(to: author)[1].flags == [])
        for listener in [own, member] {
            let sent = actions.sent(to: listener)
            #expect(sent.map(\.command) == [.metadata, .groupIM, .syncNotify])
            #expect(sent[1].flags == .push)
        }
        #expect(actions.sent(to: own)[0] == actions.sent(to: author)[0])
        #expect(actions.sent(to: stranger).isEmpty)
        for user in 1...3 as ClosedRange<Int64> { #expect(try node.log.newestKey(of: queue(user)) > 0) }
    }

    @Test mutating func `a super group's message stands in the group's log alone`() throws {
        try node.makeGroup(7, 1, 2, isSuper: true)
        let author = try node.login(1, device: 5)
        let own = try node.login(1, device: 6)
        let member = try node.login(2)
        let actions = try node.feed([.received(author, NodeDriver.group(1, 7))])
        #expect(actions.sent(to: author).map(\.command) == [.metadata, .ack])
        #expect(actions.sent(to: author)[1].flags == .superGroup)
        let key = try node.log.newestKey(of: .group(GroupID(7)))
        for listener in [own, member] {
            let sent = actions.sent(to: listener)
            #expect(sent.map(\.command) == [.metadata, .groupIM, .syncGroupNotify])
            #expect(sent[1].flags == [.push, .superGroup])
            #expect(sent[2].body == .groupSyncKey(GroupSyncKey(groupID: 7, key: key)))
        }
        #expect(try node.log.newestKey(of: queue(2)) == 0)
    }

    /// What is done to the group before user 2 writes, and the answer.
    static let refusals: [(changes: [MembershipChange], status: ACKStatus)] = [
        ([], .success),
        ([.dissolveGroup(GroupID(7))], .noSuchGroup),
        ([.removeMember(GroupID(7), UserID(2))], .notGroupMember),
        ([.muteMember(GroupID(7), UserID(2), true)], .memberMuted),
        ([.muteGroup(GroupID(7), true)], .groupMuted),
        ([.muteGroup(GroupID(7), true), .muteMember(GroupID(7), UserID(2), true)], .memberMuted),
        ([.muteGroup(GroupID(7), true), .setMemberRole(GroupID(7), UserID(2), .admin)], .success),
        ([.muteGroup(GroupID(7), true), .muteGroup(GroupID(7), false)], .success),
        ([.muteMember(GroupID(7), UserID(2), true), .muteMember(GroupID(7), UserID(2), false)], .success),
    ]

    @Test(arguments: refusals.indices, [false, true])
    mutating func `each check of a group message has its status`(index: Int, isSuper: Bool) throws {
        try node.makeGroup(7, 1, 2, 3, isSuper: isSuper)
        let author = try node.login(2)
        let member = try node.login(3)
        let (changes, status) = Self.refusals[index]
        for change in changes { try node.change(change) }
        let actions = try node.feed([.received(author, NodeDriver.group(2, 7, sequence: 9))])
        #expect(actions.sent(to: author).statuses == [status])
        #expect(actions.sent(to: member).isEmpty == (status != .success))
    }

    /// Found by the simulation: the author's client kept a message as refused that everybody else had.
    @Test(arguments: [0, 1, 2, 3], [false, true])
    mutating func `a message that was stored is acknowledged again when its author may no longer write`(
        loss: Int, isSuper: Bool
    ) throws {
        try node.makeGroup(7, 1, 2, 3, isSuper: isSuper)
        let author = try node.login(2)
        let member = try node.login(3)
        let content = #"{"uuid":"A","text":"x"}"#
        let first = try node.feed([.received(author, NodeDriver.group(2, 7, content, sequence: 9))])
        #expect(first.sent(to: author).statuses == [.success])
        let changes: [MembershipChange] = [
            .removeMember(GroupID(7), UserID(2)), .muteMember(GroupID(7), UserID(2), true),
            .muteGroup(GroupID(7), true), .dissolveGroup(GroupID(7)),
        ]
        try node.change(changes[loss])
        let second = try node.feed([.received(author, NodeDriver.group(2, 7, content, sequence: 10))])
        #expect(second.sent(to: author).statuses == [.success])
        #expect(second.sent(to: member).isEmpty)
        let other = #"{"uuid":"B","text":"x"}"#
        let third = try node.feed([.received(author, NodeDriver.group(2, 7, other, sequence: 11))])
        #expect(third.sent(to: author).statuses.count == 1)
        #expect(third.sent(to: author).statuses != [.success])
        #expect(third.sent(to: member).isEmpty)
    }

    @Test mutating func `a group of another app does not exist`() throws {
        try node.change(
            .createGroup(GroupID(7), app: 2, name: "", isSuper: false, owner: UserID(1), members: []))
        let author = try node.login(1)
        let actions = try node.feed([.received(author, NodeDriver.group(1, 7))])
        #expect(actions.sent(to: author).statuses == [.noSuchGroup])
    }

    @Test mutating func `a forged sender in a group gets silence`() throws {
        try node.makeGroup(7, 1, 2)
        let author = try node.login(1)
        #expect(try node.feed([.received(author, NodeDriver.group(2, 7))]).isEmpty)
    }

    @Test mutating func `a group message resent is stored once and acknowledged again`() throws {
        try node.makeGroup(7, 1, 2)
        let author = try node.login(1)
        let member = try node.login(2)
        let packet = NodeDriver.group(1, 7, #"{"uuid":"A"}"#)
        let first = try node.feed([.received(author, packet)])
        let second = try node.feed([.received(author, packet), .received(author, packet)])
        #expect(first.sent(to: member).count == 3)
        #expect(second.sent(to: member).isEmpty)
        #expect(second.sent(to: author) == first.sent(to: author) + first.sent(to: author))
        #expect(try node.log.messages(in: queue(2), after: 0, limit: PageLimit()).messages.count == 1)
    }

    @Test mutating func `a super group is read by its members, in pages, from when they joined`() throws {
        try node.makeGroup(7, 1, 2, isSuper: true)
        node.pageLimit = PageLimit(countMax: 2)
        let author = try node.login(1, device: 5)
        for number in 0..<3 {
            _ = try node.feed([.received(author, NodeDriver.group(1, 7, "\(number)"))])
        }
        node.now.milliseconds += 5000
        try node.change(.addMember(GroupID(7), UserID(3), .member))
        _ = try node.feed([.received(author, NodeDriver.group(1, 7, "late"))])
        let sync = Packet(.syncGroup, .groupSyncKey(GroupSyncKey(groupID: 7, key: -1)))

        let old = try node.login(2)
        let page = try node.feed([.received(old, sync)]).sent(to: old)
        #expect(
            page.map(\.command) == [.syncGroupBegin, .groupIM, .groupIM, .syncGroupEnd, .syncGroupNotify])
        #expect(page.contents == ["0", "1"])
        guard case .groupSyncKey(let end) = page[3].body else { return }
        #expect(page[4].body == .groupSyncKey(GroupSyncKey(groupID: 7, key: end.key + 1)))
        let rest = try node.feed([
            .received(old, Packet(.syncGroup, .groupSyncKey(GroupSyncKey(groupID: 7, key: end.key))))
        ])
        #expect(rest.sent(to: old).contents == ["2", "late"])
        #expect(rest.sent(to: old).allSatisfy { $0.command != .syncGroupNotify })

        let own = try node.feed([.received(author, sync)]).sent(to: author)
        #expect(own[1].flags == .isSelf)

        node.pageLimit = PageLimit()
        let new = try node.login(3)
        #expect(try node.feed([.received(new, sync)]).sent(to: new).contents == ["late"])
    }

    @Test(arguments: [-3_600_000, 0, 3_600_000] as [Int64])
    mutating func `a clock that is set hides nothing of a super group, and shows nothing from before joining`(
        step: Int64
    ) throws {
        try node.makeGroup(7, 1, isSuper: true)
        let author = try node.login(1)
        _ = try node.feed([.received(author, NodeDriver.group(1, 7, "before"))])
        try node.change(.addMember(GroupID(7), UserID(2), .member))
        node.now.milliseconds += step
        for content in ["one", "two"] {
            _ = try node.feed([.received(author, NodeDriver.group(1, 7, content))])
        }
        let reader = try node.login(2)
        let sync = Packet(.syncGroup, .groupSyncKey(GroupSyncKey(groupID: 7, key: -1)))
        #expect(try node.feed([.received(reader, sync)]).sent(to: reader).contents == ["one", "two"])
        // Who leaves and comes back starts anew.
        try node.change(.removeMember(GroupID(7), UserID(2)), .addMember(GroupID(7), UserID(2), .member))
        _ = try node.feed([.received(author, NodeDriver.group(1, 7, "three"))])
        #expect(try node.feed([.received(reader, sync)]).sent(to: reader).contents == ["three"])
    }

    @Test(arguments: [7, 8, 9] as [Int64])
    mutating func `SYNC_GROUP by a stranger, of a normal or of no group is answered with nothing`(
        id: Int64
    ) throws {
        try node.makeGroup(7, 1, 2, isSuper: true)
        try node.makeGroup(8, 1, 4)
        let author = try node.login(1)
        _ = try node.feed([.received(author, NodeDriver.group(1, 7))])
        let reader = try node.login(4)
        let key = GroupSyncKey(groupID: id, key: 3)
        let sent = try node.feed([.received(reader, Packet(.syncGroup, .groupSyncKey(key)))])
        #expect(
            sent.sent(to: reader) == [
                Packet(.syncGroupBegin, .groupSyncKey(key)), Packet(.syncGroupEnd, .groupSyncKey(key)),
            ])
    }

    @Test mutating func `GROUP_SYNC_KEY is kept for each reader, and only of members`() throws {
        try node.makeGroup(7, 1, 2, isSuper: true)
        let author = try node.login(1)
        let stranger = try node.login(4)
        _ = try node.feed([.received(author, NodeDriver.group(1, 7))])
        let key = try node.log.newestKey(of: .group(GroupID(7)))
        let report = Packet(.groupSyncKey, .groupSyncKey(GroupSyncKey(groupID: 7, key: key)))
        _ = try node.feed([.received(author, report), .received(stranger, report)])
        #expect(
            try node.log.reportedKey(of: .group(GroupID(7)), by: Account(user: UserID(1))) == key)
        #expect(
            try node.log.reportedKey(of: .group(GroupID(7)), by: Account(user: UserID(4))) == 0)
        let again = Packet(.syncGroup, .groupSyncKey(GroupSyncKey(groupID: 7, key: 0)))
        #expect(try node.feed([.received(author, again)]).sent(to: author).contents.isEmpty)
    }
}

@Suite struct NodeCoreNoticeTests {
    var node = NodeDriver()

    @Test mutating func `members are told of a group's changes, by notify alone`() throws {
        let owner = try node.login(1)
        let made = try node.feed([
            .membershipsChanged(
                [
                    .createGroup(
                        GroupID(7), app: 1, name: "a \"b\"\n", isSuper: false, owner: UserID(1),
                        members: [UserID(3), UserID(2)])
                ], at: node.now)
        ])
        #expect(made.sent(to: owner).map(\.command) == [.syncNotify])
        try node.change(.addMember(GroupID(7), UserID(4), .member))
        try node.change(.removeMember(GroupID(7), UserID(2)))
        try node.change(.renameGroup(GroupID(7), "new"))
        try node.change(.setGroupNotice(GroupID(7), "soon"))
        try node.change(.muteGroup(GroupID(7), true))
        try node.change(.dissolveGroup(GroupID(7)))
        let time = node.now.timestamp
        func told(_ user: Int64) throws -> [String] {
            try node.log.messages(in: queue(user), after: 0, limit: PageLimit()).messages.map(\.content)
        }
        #expect(
            try told(1) == [
                """
                {"create":{"group_id":7,"master":1,"name":"a \\"b\\"\\u000a","members":[1,2,3],"timestamp":\(time)}}
                """,
                #"{"add_member":{"group_id":7,"member_id":4,"timestamp":\#(time)}}"#,
                #"{"quit_group":{"group_id":7,"member_id":2,"timestamp":\#(time)}}"#,
                #"{"update_name":{"group_id":7,"timestamp":\#(time),"name":"new"}}"#,
                #"{"update_notice":{"group_id":7,"timestamp":\#(time),"notice":"soon"}}"#,
                #"{"disband":{"group_id":7,"timestamp":\#(time)}}"#,
            ])
        #expect(try told(2).count == 3, "up to having left")
        #expect(try told(4).count == 5, "from having joined")
        let synced = try node.feed([.received(owner, Packet(.sync, .syncKey(-1)))]).sent(to: owner)
        #expect(synced.dropFirst().dropLast().allSatisfy { $0.command == .groupNotification })
    }

    @Test mutating func `whoever leaves a super group hears of it in the own queue`() throws {
        try node.makeGroup(7, 1, 2, isSuper: true)
        try node.change(.removeMember(GroupID(7), UserID(2)))
        #expect(try node.log.newestKey(of: queue(2)) > 0)
        #expect(try node.log.newestKey(of: queue(1)) == 0)
        try node.change(.dissolveGroup(GroupID(7)))
        #expect(try node.log.newestKey(of: queue(1)) > 0)
    }

    @Test mutating func `SYSTEM is stored for its receivers, who get the notify alone`() throws {
        let first = try node.login(1)
        let other = try node.login(3)
        let accounts = [Account(user: UserID(1)), Account(app: 9, user: UserID(2))]
        let actions = try node.feed([.posted(PostID(rawValue: 4), .system("news", to: accounts))])
        #expect(actions.contains(.posted(PostID(rawValue: 4), .done)))
        #expect(actions.sent(to: first).map(\.command) == [.syncNotify])
        #expect(actions.sent(to: other).isEmpty)
        #expect(try node.log.newestKey(of: .user(accounts[1])) > 0)
        let synced = try node.feed([.received(first, Packet(.sync, .syncKey(0)))]).sent(to: first)
        #expect(synced[1] == Packet(.system, .text("news")))
    }

    @Test mutating func `NOTIFICATION reaches those who are online and is not stored`() throws {
        let first = try node.login(1)
        let second = try node.login(1)
        let accounts = [Account(user: UserID(1)), Account(user: UserID(2))]
        let actions = try node.feed([.posted(PostID(rawValue: 4), .notification("now", to: accounts))])
        for id in [first, second] {
            #expect(actions.sent(to: id) == [Packet(.notification, .text("now"))])
        }
        #expect(actions.contains(.posted(PostID(rawValue: 4), .done)))
        #expect(try node.log.newestKey(of: queue(1)) == 0)
        let nobody = try node.feed([.posted(PostID(rawValue: 5), .system("x", to: []))])
        #expect(nobody == [.posted(PostID(rawValue: 5), .done)])
    }

    @Test mutating func `a post is answered when its group is missing or the log fails`() throws {
        let id = PostID(rawValue: 4)
        let missing = try node.feed([.posted(id, .groupNotification("x", GroupID(7)))])
        #expect(missing == [.posted(id, .noSuchGroup)])
        try node.makeGroup(7, 1)
        #expect(
            try node.feed([.posted(id, .groupNotification("x", GroupID(7)))]).contains(.posted(id, .done)))
        node.holdsLog = true
        _ = try node.feed([.posted(id, .groupNotification("x", GroupID(7)))])
        guard case .append(let batch, _) = node.held.last else { return }
        #expect(try node.feed([.appendFailed(batch)]) == [.posted(id, .failed)])
    }
}
