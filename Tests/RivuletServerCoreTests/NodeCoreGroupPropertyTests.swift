import RivuletModel
import RivuletServerCore
import RivuletWire
import Testing

/// Groups, rooms, customers and presence under any order of events and changes.
@Suite struct NodeCoreGroupPropertyTests {
    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func `each message is answered once, and nobody hears what is not meant for him`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var rules = NodeRules()
        rules.checksFriends = seed % 3 == 0
        rules.customerServiceApp = seed % 2 == 0 ? 1 : nil
        var node = NodeDriver(rules: rules)
        node.holdsLog = true
        var known = Memberships()
        var userOf: [ConnectionID: Int64] = [:]
        var open: Set<ConnectionID> = []
        var unanswered: [ConnectionID: Set<Int32>] = [:]
        for step in 1...600 as ClosedRange<Int32> {
            node.now.milliseconds += Int64.random(in: 0...2000, using: &random)
            var events: [NodeEvent] = []
            switch Int.random(in: 0..<14, using: &random) {
            case 0:
                let user = Int64.random(in: 1...5, using: &random)
                let id = try node.login(user, device: .random(in: 0...2, using: &random))
                (userOf[id], unanswered[id]) = (user, [])
                open.insert(id)
            case 1:
                guard open.count > 3, let id = open.min(by: { $0.rawValue < $1.rawValue }) else { continue }
                open.remove(id)
                unanswered[id] = nil
                events.append(.closed(id))
            case 2, 3:
                let change = randomChange(&random)
                var next = known
                // What the directory refuses is never announced.
                guard (try? next.apply(change, at: node.now)) == true else { continue }
                known = next
                events.append(.membershipsChanged([change], at: node.now))
            case 4...6:
                guard !node.held.isEmpty, let event = try node.perform(node.held.removeFirst()) else {
                    continue
                }
                events.append(event)
            default:
                let sorted = open.sorted { $0.rawValue < $1.rawValue }
                guard let id = sorted.randomElement(using: &random), let user = userOf[id] else { continue }
                let packet = randomPacket(from: user, step, &random)
                if [.im, .groupIM, .roomIM, .customerV2].contains(packet.command) {
                    unanswered[id]?.insert(step)
                }
                events.append(.received(id, packet))
            }
            try check(try node.feed(events), open, known, userOf, &unanswered)
        }
        while !node.held.isEmpty {
            guard let event = try node.perform(node.held.removeFirst()) else { continue }
            try check(try node.feed([event]), open, known, userOf, &unanswered)
        }
        let left = unanswered.values.filter { !$0.isEmpty }
        #expect(left.isEmpty)
        #expect(node.core.memberships == known)
        #expect(node.core.pendingBatchCount == 0)
        for id in open { _ = try node.feed([.closed(id)]) }
        #expect((node.core.connectionCount, node.core.onlineUserCount, node.core.roomCount) == (0, 0, 0))
    }

    private func check(
        _ actions: [NodeAction], _ open: Set<ConnectionID>, _ known: Memberships,
        _ userOf: [ConnectionID: Int64], _ unanswered: inout [ConnectionID: Set<Int32>]
    ) throws {
        for action in actions {
            let (ids, packets): ([ConnectionID], [Packet])
            switch action {
            case .send(let id, let sent, _): (ids, packets) = ([id], sent)
            case .broadcast(let all, let sent): (ids, packets) = (all, sent)
            default: continue
            }
            #expect(Set(ids).count == ids.count, "twice to one connection")
            for id in ids {
                #expect(open.contains(id), "sent to a closed connection")
                for packet in packets {
                    if case .ack(let ack) = packet.body {
                        #expect(unanswered[id]?.remove(ack.sequence) != nil, "answered twice, or not asked")
                    }
                    if packet.flags.contains(.superGroup), case .im(let message) = packet.body {
                        let member = known.group(GroupID(message.receiver))?.member(UserID(userOf[id] ?? 0))
                        #expect(member != nil, "a super group's message to a stranger")
                    }
                }
            }
        }
    }

    private func randomPacket(
        from user: Int64, _ sequence: Int32, _ random: inout SeededGenerator
    ) -> Packet {
        let other = Int64.random(in: 1...5, using: &random)
        let group = Int64.random(in: 7...9, using: &random)
        let room = Int64.random(in: 0...2, using: &random)
        let content = #"{"uuid":"\#(Int.random(in: 0...40, using: &random))"}"#
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1: return NodeDriver.im(user, other, content, sequence: sequence)
        case 2...4: return NodeDriver.group(user, group, content, sequence: sequence)
        case 5: return Packet(.enterRoom, .roomID(room), sequence: sequence)
        case 6:
            return Packet(
                .roomIM, .room(RoomMessage(sender: user, receiver: room, content: content)),
                sequence: sequence)
        case 7:
            let body = CustomerMessageV2(
                senderAppID: 1, sender: user, receiverAppID: .random(in: 1...2, using: &random),
                receiver: other, content: content)
            return Packet(.customerV2, .customerV2(body), sequence: sequence)
        case 8: return NodeDriver.rt(user, group, #"{"typing":{"on":1,"group":\#(group)}}"#)
        case 9: return NodeDriver.rt(user, 0, #"{"presence":{"watch":[\#(other),\#(user)]}}"#)
        case 10:
            let key = GroupSyncKey(groupID: group, key: .random(in: -1...400, using: &random))
            return Packet(.syncGroup, .groupSyncKey(key), sequence: sequence)
        default: return Packet(.sync, .syncKey(.random(in: -1...400, using: &random)), sequence: sequence)
        }
    }

    private func randomChange(_ random: inout SeededGenerator) -> MembershipChange {
        let group = GroupID(Int64.random(in: 7...9, using: &random))
        let user = UserID(Int64.random(in: 1...5, using: &random))
        let account = Account(user: UserID(Int64.random(in: 1...5, using: &random)))
        let flag = Bool.random(using: &random)
        switch Int.random(in: 0..<12, using: &random) {
        case 0...3:
            return .createGroup(
                group, app: 1, name: "g", isSuper: group == GroupID(8), owner: user, members: [account.user])
        case 4: return .addMember(group, user, flag ? .admin : .member)
        case 5: return .removeMember(group, user)
        case 6: return .muteMember(group, user, flag)
        case 7: return .muteGroup(group, flag)
        case 8: return .setMemberRole(group, user, flag ? .owner : .member)
        case 9: return .banFromRoom(RoomID(1), account, flag)
        case 10: return .setFriend(of: account, user, true)
        default: return .setBlocked(by: account, user, flag)
        }
    }
}
