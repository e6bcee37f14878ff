internal import RivuletClientCore
internal import RivuletWire

/// What is needed to translate between the described calls and the packets of a profile.
struct ServiceContext: Sendable {
    var profile = Profile.current
    var uid: Int64 = 0
    var appID: Int64 = 0
    var customerServiceAppID: Int64 = 0

    init() {}

    init(_ configuration: IMServiceConfiguration) {
        profile = configuration.core.profile
        uid = configuration.identity.uid
        appID = configuration.identity.appID
        customerServiceAppID = configuration.customerServiceAppID
    }

    // MARK: Customer service

    /// The message of a customer or of the staff that a body of either generation is.
    func customerMessage(
        _ command: Command, _ body: PacketBody, isOwn: Bool, msgLocalID: Int32 = 0
    ) -> (message: CustomerMessage, isSupport: Bool)? {
        switch body {
        case .customer(var message) where command == .customer || command == .customerSupport:
            if message.msgLocalID == 0 { message.msgLocalID = msgLocalID }
            return (message, command == .customerSupport)
        case .customerV2(let wire):
            let isSupport =
                customerServiceAppID == 0 ? !isOwn : wire.senderAppID == customerServiceAppID
            let store = ContentPeek(wire.content)?.storeID ?? 0
            let message = CustomerMessage(
                customerAppID: isSupport ? wire.receiverAppID : wire.senderAppID,
                customerID: isSupport ? wire.receiver : wire.sender, storeID: store,
                sellerID: isSupport ? wire.sender : wire.receiver, timestamp: wire.timestamp,
                content: wire.content, msgLocalID: msgLocalID)
            return (message, isSupport)
        default:
            return nil
        }
    }

    /// A message as this profile sends it.
    ///
    /// - Throws: ``IMServiceError/Code/notInProfile`` when the profile has no way to carry it.
    func adapted(_ message: OutgoingMessage) throws(IMServiceError) -> OutgoingMessage {
        switch (profile, message.command, message.body) {
        case (.current, .customer, .customer(let body)), (.current, .customerSupport, .customer(let body)):
            var adapted = message
            adapted.msgLocalID = message.msgLocalID == 0 ? body.msgLocalID : message.msgLocalID
            adapted.body = .customerV2(wire(body, isSupport: message.command == .customerSupport))
            adapted.command = .customerV2
            return adapted
        case (.seed, _, .customerV2):
            throw IMServiceError(.notInProfile)
        case (_, _, .customer(let body)):
            var adapted = message
            adapted.msgLocalID = body.msgLocalID
            return adapted
        default:
            return message
        }
    }

    private func wire(_ message: CustomerMessage, isSupport: Bool) -> CustomerMessageV2 {
        var content = message.content
        if message.storeID != 0, ContentPeek(content)?.storeID == nil {
            content = JSONText.inserting("store_id", message.storeID, into: content)
        }
        return isSupport
            ? CustomerMessageV2(
                senderAppID: appID, sender: message.sellerID, receiverAppID: message.customerAppID,
                receiver: message.customerID, timestamp: message.timestamp, content: content)
            : CustomerMessageV2(
                senderAppID: message.customerAppID, sender: message.customerID,
                receiverAppID: customerServiceAppID, receiver: message.sellerID, timestamp: message.timestamp,
                content: content)
    }

    // MARK: Addresses

    /// A message as handlers and observers get it: one between users that names a group belongs to the group.
    func addressed(_ message: ReceivedMessage) -> ReceivedMessage {
        guard profile == .current, message.command == .im, case .im(var body) = message.body,
            let group = ContentPeek.groupID(in: body.content)
        else { return message }
        var message = message
        body.receiver = group
        message.command = .groupIM
        message.body = .im(body)
        return message
    }
}
