import RivuletClientCore
import RivuletModel
import RivuletStore
import RivuletWire

/// What a packet means to an account, and the way back: pure translation.
struct PacketMapping: Sendable {
    let account: UserID
    let profile: Profile
    let codec: ContentCodec
    let commands: CommandRegistry
    /// Milliseconds since 1970, for messages that carry no time.
    let now: @Sendable () -> Int64

    // MARK: In

    /// The message of a conversation that a packet is; nil when it is none.
    func incoming(_ message: ReceivedMessage) -> IncomingMessage? {
        switch message.body {
        case .im(let body):
            return incoming(body, message)
        case .text(let text) where message.command == .groupNotification:
            return notification(text, message)
        case .text(let text):
            return system(text, message)
        case .customerV2(let body):
            let other =
                message.isOwn
                ? Session(kind: .customer, id: body.receiver, appID: body.receiverAppID)
                : Session(kind: .customer, id: body.sender, appID: body.senderAppID)
            return incoming(
                content: body.content, in: other, from: body.sender, seconds: body.timestamp, message)
        case .customer(let body):
            return incoming(
                content: body.content, in: session(of: body),
                from: message.command == .customerSupport ? body.sellerID : body.customerID,
                seconds: body.timestamp, message)
        default:
            return nil
        }
    }

    private func incoming(_ body: IMMessage, _ message: ReceivedMessage) -> IncomingMessage {
        let content = codec.decode(body.content)
        let session: Session =
            if message.command == .groupIM {
                .group(body.receiver)
            } else if let group = content.envelope.groupID, group > 0 {
                // A private answer or receipt that belongs to a group (docs/protocol.md, section 11.7).
                .group(group)
            } else {
                .peer(UserID(message.isOwn ? body.receiver : body.sender))
            }
        return IncomingMessage(
            session: session, sender: UserID(body.sender), isOutgoing: message.isOwn, raw: body.content,
            content: content, timeMilliseconds: milliseconds(body.timestamp),
            serverKey: message.place?.key, localNumber: Int64(body.msgLocalID))
    }

    private func incoming(
        content: String, in session: Session, from sender: Int64, seconds: Int32, _ message: ReceivedMessage
    ) -> IncomingMessage {
        IncomingMessage(
            session: session, sender: UserID(sender), isOutgoing: message.isOwn, raw: content,
            content: codec.decode(content), timeMilliseconds: milliseconds(seconds),
            serverKey: message.place?.key)
    }

    /// The customer's side sees the shop, the shop's side the customer.
    private func session(of body: CustomerMessage) -> Session {
        body.customerID == account.rawValue
            ? Session(kind: .customer, id: body.storeID)
            : Session(kind: .customer, id: body.customerID, appID: body.customerAppID)
    }

    private func notification(_ text: String, _ message: ReceivedMessage) -> IncomingMessage? {
        let notification = codec.decodeGroupNotification(text)
        let content = DecodedContent(
            envelope: ContentEnvelope(), body: .message(.groupNotification(notification)))
        return IncomingMessage(
            session: .group(notification.groupID), sender: UserID(0), isOutgoing: false,
            raw: Self.object(key: "notification", text: text), content: content,
            timeMilliseconds: notification.time > 0
                ? notification.time.multipliedReportingOverflow(by: 1_000).partialValue : now(),
            serverKey: message.place?.key, localNumber: Self.fingerprint(text))
    }

    /// A text of the operator: content JSON like any message's, or words for people.
    private func system(_ text: String, _ message: ReceivedMessage) -> IncomingMessage {
        var raw = text
        var content = codec.decode(text)
        if case .unknown(_, nil)? = content.message, text.utf8.first != UInt8(ascii: "{") {
            raw = Self.object(key: "text", text: text)
            content = codec.decode(raw)
        }
        return IncomingMessage(
            session: Session(kind: .system, id: 0), sender: UserID(0), isOutgoing: false, raw: raw,
            content: content, timeMilliseconds: now(), serverKey: message.place?.key)
    }

    private func milliseconds(_ seconds: Int32) -> Int64 {
        seconds > 0 ? Int64(seconds) * 1_000 : now()
    }

    // MARK: Out

    /// The message that a send of the client is; nil for one that is not kept.
    func queued(_ entry: OutboxEntry) -> QueuedMessage? {
        let message = ReceivedMessage(
            command: entry.command, body: entry.body, flags: entry.flags, isOwn: true, isFromThisDevice: true)
        guard let incoming = incoming(message), let body = bytes(of: entry) else { return nil }
        return QueuedMessage(
            session: incoming.session, raw: incoming.raw, content: incoming.content,
            send: StoredSend(
                number: entry.id.rawValue, uuid: entry.uuid, command: Int(entry.command.rawValue),
                flags: Int(entry.flags.rawValue), body: body, createdMilliseconds: entry.createdMilliseconds))
    }

    /// The entry that the client kept as these bytes; nil when they make no sense.
    func entry(of send: StoredSend) -> OutboxEntry? {
        do {
            let packet = try Packet.unpack(send.body, by: .server, profile: profile, registry: commands)
            return OutboxEntry(
                id: SendID(rawValue: send.number), uuid: send.uuid, command: packet.command,
                body: packet.body, flags: PacketFlags(rawValue: UInt8(truncatingIfNeeded: send.flags)),
                createdMilliseconds: send.createdMilliseconds)
        } catch {
            return nil
        }
    }

    private func bytes(of entry: OutboxEntry) -> [UInt8]? {
        let packet = Packet(
            entry.command, entry.body, sequence: 0, version: profile.version, flags: entry.flags)
        do {
            return try packet.pack(from: .client, profile: profile, registry: commands)
        } catch {
            return nil
        }
    }

    // MARK: Helpers

    /// A JSON object with one string, written by hand because it stands in the path of every notification.
    static func object(key: String, text: String) -> String {
        var json = "{\"\(key)\":\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": json += "\\\""
            case "\\": json += "\\\\"
            case "\u{0}"..."\u{1F}":
                let digits = String(scalar.value, radix: 16)
                json += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: json.unicodeScalars.append(scalar)
            }
        }
        return json + "\"}"
    }

    /// A number by which a copy of a text without uuid is recognised (FNV-1a, 32 bits); never 0.
    static func fingerprint(_ text: String) -> Int64 {
        var hash: UInt32 = 2_166_136_261
        for byte in text.utf8 {
            hash = (hash ^ UInt32(byte)) &* 16_777_619
        }
        return Int64(hash | 1)
    }
}
