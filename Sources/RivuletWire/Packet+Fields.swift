/// One value of a body, as `rivulet inspect` prints it.
package enum FieldValue: Sendable, Equatable {
    /// Any integer of the protocol.
    case integer(Int64)
    /// Text, decoded.
    case text(String)
    /// Raw bytes.
    case bytes([UInt8])
    /// A list of 64-bit integers.
    case integers([Int64])

    fileprivate init(_ value: some BinaryInteger) {
        self = .integer(Int64(value))
    }
}

/// A field of a body under its name of docs/protocol.md, section 22.
package struct PacketField: Sendable, Equatable {
    /// The name, such as `prev_sync_key`.
    package var name: String
    /// The value.
    package var value: FieldValue

    fileprivate init(_ name: String, _ value: FieldValue) {
        self.name = name
        self.value = value
    }
}

extension Packet {
    /// The fields of the body in the order in which they travel; those that the version's layout lacks are left out.
    package var fields: [PacketField] {
        switch body {
        case .empty: []
        case .auth(let body): [PacketField("uid", FieldValue(body.uid))]
        case .authStatus(let body):
            [PacketField("status", FieldValue(body.status))]
                + (body.ip.map { [PacketField("ip", FieldValue($0))] } ?? [])
        case .im(let body): fields(of: body)
        case .ack(let body): fields(of: body)
        case .text(let text): [PacketField("content", .text(text))]
        case .onlineStateSubscription(let uids): [PacketField("uids", .integers(uids))]
        case .onlineState(let body):
            [PacketField("sender", FieldValue(body.uid)), PacketField("online", FieldValue(body.online))]
        case .authToken(let body):
            [
                PacketField("platform_id", FieldValue(body.platformID.rawValue)),
                PacketField("token", .text(body.token)), PacketField("device_id", .text(body.deviceID)),
            ]
        case .loginPoint(let body):
            [
                PacketField("up_timestamp", FieldValue(body.upTimestamp)),
                PacketField("platform_id", FieldValue(body.platformID.rawValue)),
                PacketField("device_id", .text(body.deviceID)),
            ]
        case .roomID(let id): [PacketField("room_id", FieldValue(id))]
        case .unreadCount(let count): [PacketField("count", FieldValue(count))]
        case .syncKey(let key): [PacketField("sync_key", FieldValue(key))]
        case .groupSyncKey(let body):
            [
                PacketField("group_id", FieldValue(body.groupID)),
                PacketField("sync_key", FieldValue(body.key)),
            ]
        case .metadata(let body):
            [
                PacketField("sync_key", FieldValue(body.syncKey)),
                PacketField("prev_sync_key", FieldValue(body.previousSyncKey)),
            ]
        case .custom(let bytes): [PacketField("content_hex", .bytes(bytes))]
        case .peerACK, .inputing, .room, .voip: conversationFields
        case .customerService, .customer, .customerV2: customerFields
        }
    }

    private func fields(of body: IMMessage) -> [PacketField] {
        [PacketField("sender", FieldValue(body.sender)), PacketField("receiver", FieldValue(body.receiver))]
            + (version == 0 ? [] : [PacketField("timestamp", FieldValue(body.timestamp))])
            + [
                PacketField("msgid", FieldValue(body.msgLocalID)),
                PacketField("content", .text(body.content)),
            ]
    }

    private func fields(of body: Acknowledgement) -> [PacketField] {
        let sequence = PacketField("ack_seq", FieldValue(body.sequence))
        guard version >= 2 else { return [sequence] }
        // The status travels as a signed byte.
        return [sequence, PacketField("status", FieldValue(Int8(bitPattern: body.status.rawValue)))]
    }

    private var conversationFields: [PacketField] {
        switch body {
        case .peerACK(let body):
            [
                PacketField("sender", FieldValue(body.sender)),
                PacketField("receiver", FieldValue(body.receiver)),
                PacketField("msgid", FieldValue(body.msgLocalID)),
            ]
        case .inputing(let body):
            [
                PacketField("sender", FieldValue(body.sender)),
                PacketField("receiver", FieldValue(body.receiver)),
            ]
        case .room(let body):
            [
                PacketField("sender", FieldValue(body.sender)),
                PacketField("receiver", FieldValue(body.receiver)),
                PacketField("content", .text(body.content)),
            ]
        case .voip(let body):
            [
                PacketField("sender", FieldValue(body.sender)),
                PacketField("receiver", FieldValue(body.receiver)),
                PacketField("content_hex", .bytes(body.content)),
            ]
        default: []
        }
    }

    private var customerFields: [PacketField] {
        switch body {
        case .customerService(let body):
            (body.customerID.map { [PacketField("customer_id", FieldValue($0))] } ?? []) + [
                PacketField("sender", FieldValue(body.sender)),
                PacketField("receiver", FieldValue(body.receiver)),
                PacketField("timestamp", FieldValue(body.timestamp)),
                PacketField("content", .text(body.content)),
            ]
        case .customer(let body):
            [
                PacketField("customer_appid", FieldValue(body.customerAppID)),
                PacketField("customer_id", FieldValue(body.customerID)),
                PacketField("store_id", FieldValue(body.storeID)),
                PacketField("seller_id", FieldValue(body.sellerID)),
                PacketField("timestamp", FieldValue(body.timestamp)),
                PacketField("content", .text(body.content)),
            ]
        case .customerV2(let body):
            [
                PacketField("sender_appid", FieldValue(body.senderAppID)),
                PacketField("sender", FieldValue(body.sender)),
                PacketField("receiver_appid", FieldValue(body.receiverAppID)),
                PacketField("receiver", FieldValue(body.receiver)),
                PacketField("timestamp", FieldValue(body.timestamp)),
                PacketField("content", .text(body.content)),
            ]
        default: []
        }
    }
}
