extension Packet {
    /// The length of the body in bytes, once it is known that the peer, who follows `rule`, will read it.
    func checkedBodyLength(_ rule: CommandRule, profile: Profile) throws(WireError) -> Int {
        guard body.layout == rule.layout else { throw mismatch(rule) }
        switch body {
        case .empty: return 0
        case .im(let body): return (version == 0 ? 20 : 24) + body.content.utf8.count
        case .ack(let body):
            // The status travels as a signed byte and no negative one is defined.
            if body.status.rawValue > 127 { throw WireError(.decodeOnly, command: command) }
            return version < 2 ? 4 : 5
        case .syncKey: return 8
        case .metadata: return 32
        case .room(let body): return 16 + body.content.utf8.count
        default: return try checkedRareBodyLength(profile: profile)
        }
    }

    private func checkedRareBodyLength(profile: Profile) throws(WireError) -> Int {
        switch body {
        case .authStatus(let body):
            guard body.ip != nil, version == 0, profile == .seed else { return 4 }
            // A refused login tells no address; seed servers wrote one, as zero.
            if body.status != 0 { throw WireError(.decodeOnly, command: command) }
            return 8
        case .text(let text): return text.utf8.count
        case .authToken(let body): return try checkedLength(of: body, profile: profile)
        case .loginPoint(let body):
            // The servers' own parser wants at least one byte of it.
            if body.deviceID.utf8.isEmpty { throw WireError(.decodeOnly, command: command) }
            return 5 + body.deviceID.utf8.count
        case .customerService(let body):
            // Only the length tells the two layouts apart, so the older one is not written.
            if body.customerID == nil { throw WireError(.decodeOnly, command: command) }
            return 28 + body.content.utf8.count
        case .customer(let body):
            if profile == .current { throw WireError(.decodeOnly, command: command) }
            return 36 + body.content.utf8.count
        case .customerV2(let body): return 36 + body.content.utf8.count
        case .voip(let body):
            if body.content.isEmpty { throw WireError(.decodeOnly, command: command) }
            return 16 + body.content.count
        case .onlineStateSubscription(let uids): return 4 + 8 * uids.count
        case .custom(let bytes): return bytes.count
        case .auth, .roomID: return 8
        case .unreadCount: return 4
        case .peerACK: return 20
        case .inputing, .groupSyncKey: return 16
        case .onlineState: return 12
        case .empty, .im, .ack, .syncKey, .metadata, .room:
            throw WireError(.bodyMismatch, command: command)
        }
    }

    /// The length of a login, whose two texts must fit their length bytes and together be more than nothing.
    private func checkedLength(of body: AuthenticationToken, profile: Profile) throws(WireError) -> Int {
        let lengthMax = profile == .seed ? 127 : 255
        for length in [body.token.utf8.count, body.deviceID.utf8.count] where length > lengthMax {
            throw WireError(.stringTooLong, command: command, length: length)
        }
        let length = 3 + body.token.utf8.count + body.deviceID.utf8.count
        if length == 3 { throw WireError(.shortBody, command: command, length: length) }
        return length
    }

    private func mismatch(_ rule: CommandRule) -> WireError {
        switch rule.layout {
        case .unknown: WireError(.unknownCommand, command: command, offset: 8)
        case .notAllowed: WireError(.commandNotAllowed, command: command, offset: 8)
        case .retired: WireError(.decodeOnly, command: command)
        default: WireError(.bodyMismatch, command: command)
        }
    }
}

extension PacketBody {
    /// Which layout this case has.
    var layout: BodyLayout {
        switch self {
        case .empty: .empty
        case .auth: .auth
        case .authStatus: .authStatus
        case .im: .im
        case .ack: .ack
        case .text: .text
        case .peerACK: .peerACK
        case .inputing: .inputing
        case .onlineStateSubscription: .onlineStateSubscription
        case .onlineState: .onlineState
        case .authToken: .authToken
        case .loginPoint: .loginPoint
        case .room: .room
        case .roomID: .roomID
        case .unreadCount: .unreadCount
        case .customerService: .customerService
        case .customer: .customer
        case .syncKey: .syncKey
        case .groupSyncKey: .groupSyncKey
        case .metadata: .metadata
        case .voip: .voip
        case .customerV2: .customerV2
        case .custom: .custom
        }
    }

    /// Writes a body whose length was checked.
    func write(to writer: inout BodyWriter, version: UInt8, length: Int) {
        switch self {
        case .empty:
            break
        case .im(let body):
            unsafe writer.write(body.sender)
            unsafe writer.write(body.receiver)
            if version > 0 { unsafe writer.write(body.timestamp) }
            unsafe writer.write(body.msgLocalID)
            unsafe writer.write(body.content)
        case .ack(let body):
            unsafe writer.write(body.sequence)
            if version >= 2 { unsafe writer.write(body.status.rawValue) }
        case .syncKey(let key):
            unsafe writer.write(key)
        case .metadata(let body):
            unsafe writer.write(body.syncKey)
            unsafe writer.write(body.previousSyncKey)
            unsafe writer.write(0 as Int64)
            unsafe writer.write(0 as Int64)
        case .room(let body):
            unsafe writer.write(body.sender)
            unsafe writer.write(body.receiver)
            unsafe writer.write(body.content)
        case .text(let text):
            unsafe writer.write(text)
        case .authStatus, .authToken, .loginPoint, .auth:
            unsafe writeLogin(to: &writer, length: length)
        case .customerService, .customer, .customerV2:
            unsafe writeCustomer(to: &writer)
        default:
            unsafe writeFixed(to: &writer)
        }
    }

    private func writeLogin(to writer: inout BodyWriter, length: Int) {
        switch self {
        case .auth(let body):
            unsafe writer.write(body.uid)
        case .authStatus(let body):
            unsafe writer.write(body.status)
            if let ip = body.ip, length == 8 { unsafe writer.write(ip) }
        case .authToken(let body):
            unsafe writer.write(UInt8(bitPattern: body.platformID.rawValue))
            unsafe writer.write(UInt8(truncatingIfNeeded: body.token.utf8.count))
            unsafe writer.write(body.token)
            unsafe writer.write(UInt8(truncatingIfNeeded: body.deviceID.utf8.count))
            unsafe writer.write(body.deviceID)
        case .loginPoint(let body):
            unsafe writer.write(body.upTimestamp)
            unsafe writer.write(UInt8(bitPattern: body.platformID.rawValue))
            unsafe writer.write(body.deviceID)
        default:
            break
        }
    }

    private func writeCustomer(to writer: inout BodyWriter) {
        switch self {
        case .customerService(let body):
            if let customerID = body.customerID { unsafe writer.write(customerID) }
            unsafe writer.write(body.sender)
            unsafe writer.write(body.receiver)
            unsafe writer.write(body.timestamp)
            unsafe writer.write(body.content)
        case .customer(let body):
            unsafe writer.write(body.customerAppID)
            unsafe writer.write(body.customerID)
            unsafe writer.write(body.storeID)
            unsafe writer.write(body.sellerID)
            unsafe writer.write(body.timestamp)
            unsafe writer.write(body.content)
        case .customerV2(let body):
            unsafe writer.write(body.senderAppID)
            unsafe writer.write(body.sender)
            unsafe writer.write(body.receiverAppID)
            unsafe writer.write(body.receiver)
            unsafe writer.write(body.timestamp)
            unsafe writer.write(body.content)
        default:
            break
        }
    }

    private func writeFixed(to writer: inout BodyWriter) {
        switch self {
        case .peerACK(let body):
            unsafe writer.write(body.sender)
            unsafe writer.write(body.receiver)
            unsafe writer.write(body.msgLocalID)
        case .inputing(let body):
            unsafe writer.write(body.sender)
            unsafe writer.write(body.receiver)
        case .onlineStateSubscription(let uids):
            unsafe writer.write(Int32(truncatingIfNeeded: uids.count))
            for uid in uids { unsafe writer.write(uid) }
        case .onlineState(let body):
            unsafe writer.write(body.uid)
            unsafe writer.write(body.online)
        case .roomID(let id):
            unsafe writer.write(id)
        case .unreadCount(let count):
            unsafe writer.write(count)
        case .groupSyncKey(let body):
            unsafe writer.write(body.groupID)
            unsafe writer.write(body.key)
        case .voip(let body):
            unsafe writer.write(body.sender)
            unsafe writer.write(body.receiver)
            unsafe writer.write(body.content)
        case .custom(let content):
            unsafe writer.write(content)
        default:
            break
        }
    }
}
