/// What the decoder knows about a body before it reads it.
struct BodyContext {
    var command: Command
    var version: UInt8
    var profile: Profile

    init(header: PacketHeader, profile: Profile) {
        command = header.command
        version = header.version
        self.profile = profile
    }
}

extension Packet {
    @inlinable
    init(_ header: PacketHeader, _ body: PacketBody) {
        self.init(
            header.command, body, sequence: header.sequence, version: header.version, flags: header.flags)
    }
}

extension PacketBody {
    /// Reads a body whose length the caller has checked against the layout's minimum.
    ///
    /// Bytes after a fixed layout are ignored (docs/protocol.md, section 2).
    init(_ bytes: RawSpan, layout: BodyLayout, context: BodyContext) throws(WireError) {
        let command = context.command
        switch layout {
        case .empty:
            self = .empty
        case .im:
            self = .im(try IMMessage(bytes, context: context))
        case .ack:
            self = .ack(Acknowledgement(bytes, version: context.version))
        case .syncKey:
            self = .syncKey(bytes.int64(at: 0))
        case .metadata:
            self = .metadata(Metadata(syncKey: bytes.int64(at: 0), previousSyncKey: bytes.int64(at: 8)))
        case .room:
            self = .room(
                RoomMessage(
                    sender: bytes.int64(at: 0), receiver: bytes.int64(at: 8),
                    content: try bytes.text(from: 16, command: command)))
        case .auth:
            self = .auth(AuthenticationUser(uid: bytes.int64(at: 0)))
        case .authStatus:
            self = .authStatus(AuthenticationStatus(bytes, context: context))
        case .text:
            self = .text(try bytes.text(from: 0, command: command))
        case .peerACK:
            self = .peerACK(
                PeerAcknowledgement(
                    sender: bytes.int64(at: 0), receiver: bytes.int64(at: 8), msgLocalID: bytes.int32(at: 16))
            )
        case .inputing:
            self = .inputing(MessageInputing(sender: bytes.int64(at: 0), receiver: bytes.int64(at: 8)))
        case .onlineStateSubscription:
            self = .onlineStateSubscription(try bytes.counted64(command: command))
        case .onlineState:
            self = .onlineState(OnlineState(uid: bytes.int64(at: 0), online: bytes.int32(at: 8)))
        case .authToken:
            self = .authToken(try AuthenticationToken(bytes, context: context))
        case .loginPoint:
            self = .loginPoint(try LoginPoint(bytes, command: command))
        case .roomID:
            self = .roomID(bytes.int64(at: 0))
        case .unreadCount:
            self = .unreadCount(bytes.int32(at: 0))
        case .customerService:
            self = .customerService(try CustomerServiceMessage(bytes, command: command))
        case .customer:
            self = .customer(try CustomerMessage(bytes, command: command))
        case .groupSyncKey:
            self = .groupSyncKey(GroupSyncKey(groupID: bytes.int64(at: 0), key: bytes.int64(at: 8)))
        case .voip:
            self = .voip(
                VOIPControl(
                    sender: bytes.int64(at: 0), receiver: bytes.int64(at: 8), content: bytes.array(from: 16)))
        case .customerV2:
            self = .customerV2(try CustomerMessageV2(bytes, command: command))
        case .custom:
            self = .custom(bytes.array(from: 0))
        case .unknown, .notAllowed, .retired:
            throw WireError(.unknownCommand, command: command, offset: 8)
        }
    }
}

extension IMMessage {
    init(_ bytes: RawSpan, context: BodyContext) throws(WireError) {
        if context.version >= 1 {
            self.init(
                sender: bytes.int64(at: 0), receiver: bytes.int64(at: 8), timestamp: bytes.int32(at: 16),
                msgLocalID: bytes.int32(at: 20), content: try bytes.text(from: 24, command: context.command))
        } else {
            self.init(
                sender: bytes.int64(at: 0), receiver: bytes.int64(at: 8), msgLocalID: bytes.int32(at: 16),
                content: try bytes.text(from: 20, command: context.command))
        }
    }
}

extension Acknowledgement {
    init(_ bytes: RawSpan, version: UInt8) {
        // A version-2 body of 4 bytes has no status; it means success.
        let hasStatus = version >= 2 && bytes.byteCount > 4
        self.init(
            sequence: bytes.int32(at: 0),
            status: hasStatus ? ACKStatus(rawValue: bytes.byte(at: 4)) : .success)
    }
}

extension AuthenticationStatus {
    init(_ bytes: RawSpan, context: BodyContext) {
        let hasIP = context.profile == .seed && context.version == 0 && bytes.byteCount >= 8
        self.init(status: bytes.int32(at: 0), ip: hasIP ? bytes.int32(at: 4) : nil)
    }
}

extension AuthenticationToken {
    init(_ bytes: RawSpan, context: BodyContext) throws(WireError) {
        // Length bytes were signed before June 2020: 128 read as −128 and could not be right.
        let lengthMax = context.profile == .seed ? 127 : 255
        let platformID = PlatformID(rawValue: Int8(bitPattern: bytes.byte(at: 0)))
        let (token, end) = try bytes.lengthPrefixedText(at: 1, lengthMax: lengthMax, command: context.command)
        let (deviceID, _) = try bytes.lengthPrefixedText(
            at: end, lengthMax: lengthMax, command: context.command)
        self.init(token: token, platformID: platformID, deviceID: deviceID)
    }
}

extension LoginPoint {
    init(_ bytes: RawSpan, command: Command) throws(WireError) {
        self.init(
            upTimestamp: bytes.int32(at: 0),
            platformID: PlatformID(rawValue: Int8(bitPattern: bytes.byte(at: 4))),
            deviceID: try bytes.text(from: 5, command: command))
    }
}

extension CustomerServiceMessage {
    /// Two layouts existed and only the length tells them apart.
    init(_ bytes: RawSpan, command: Command) throws(WireError) {
        let hasCustomer = bytes.byteCount >= 28
        let base = hasCustomer ? 8 : 0
        self.init(
            customerID: hasCustomer ? bytes.int64(at: 0) : nil, sender: bytes.int64(at: base),
            receiver: bytes.int64(at: base + 8), timestamp: bytes.int32(at: base + 16),
            content: try bytes.text(from: base + 20, command: command))
    }
}

extension CustomerMessage {
    init(_ bytes: RawSpan, command: Command) throws(WireError) {
        self.init(
            customerAppID: bytes.int64(at: 0), customerID: bytes.int64(at: 8), storeID: bytes.int64(at: 16),
            sellerID: bytes.int64(at: 24), timestamp: bytes.int32(at: 32),
            content: try bytes.text(from: 36, command: command))
    }
}

extension CustomerMessageV2 {
    init(_ bytes: RawSpan, command: Command) throws(WireError) {
        self.init(
            senderAppID: bytes.int64(at: 0), sender: bytes.int64(at: 8), receiverAppID: bytes.int64(at: 16),
            receiver: bytes.int64(at: 24), timestamp: bytes.int32(at: 32),
            content: try bytes.text(from: 36, command: command))
    }
}

extension RawSpan {
    /// A count and that many 64-bit integers, which must fill the body exactly.
    fileprivate func counted64(command: Command) throws(WireError) -> [Int64] {
        let count = Int(int32(at: 0))
        // No overflow: a count has 32 bits.
        guard count >= 0, byteCount == 4 + 8 * count else {
            throw WireError(.badCount, command: command, offset: PacketHeader.byteCount, length: byteCount)
        }
        return (0..<count).map { int64(at: 4 + 8 * $0) }
    }
}
