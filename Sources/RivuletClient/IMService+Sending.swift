public import RivuletClientCore
public import RivuletWire

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Sending.
extension IMService {
    /// Sends a message and returns when the server has accepted it.
    ///
    /// The message is stored first and survives a restart; the call waits through lost connections. When the task is
    /// cancelled, the message is withdrawn if it was not yet written, and the call ends at once either way: a message
    /// that is on the wire already will still be sent.
    ///
    /// - Returns: The report with the step `acknowledged`.
    /// - Throws: ``IMServiceError``, or `CancellationError`.
    @discardableResult
    public func send(_ message: OutgoingMessage) async throws -> SendReport {
        try Task.checkCancellation()
        let (runtime, request) = try prepare(message)
        let wait = SendWait()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                wait.start(continuation)
                runtime.post(request, wait: wait)
            }
        } onCancel: {
            runtime.postCancel(request.ticket, wait: wait)
        }
    }

    /// Takes a message into the outbox and returns at once; its fate comes as reports with the ticket.
    ///
    /// - Throws: ``IMServiceError``: not started, not encodable, outbox full.
    @discardableResult
    public func enqueue(_ message: OutgoingMessage) throws -> SendTicket {
        let (runtime, request) = try prepare(message)
        guard runtime.post(.sendRequested(request)) else { throw IMServiceError(.stopped) }
        return request.ticket
    }

    /// Withdraws a message that was not yet written to a connection.
    ///
    /// - Returns: False when it is too late, or no such message waits.
    public func cancelSend(_ reference: SendReference) async -> Bool {
        await startedRuntime?.cancel(reference) ?? false
    }

    private func prepare(_ message: OutgoingMessage) throws -> (ClientRuntime, SendRequest) {
        guard let runtime = startedRuntime else { throw IMServiceError(.notStarted) }
        let configuration = configuration
        try checkEncodable(message, configuration)
        guard outlet.sendingCount < configuration.core.outboxCountMax else {
            throw IMServiceError(.outboxFull)
        }
        let request = SendRequest(
            ticket: makeTicket(), uuid: message.uuid, command: message.command, body: message.body,
            flags: message.flags, createdMilliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        outlet.began(request)
        return (runtime, request)
    }

    private func checkEncodable(_ message: OutgoingMessage, _ configuration: IMServiceConfiguration) throws {
        let profile = configuration.core.profile
        let packet = Packet(
            message.command, message.body, version: profile.version, flags: message.flags)
        do {
            _ = try packet.pack(from: .client, profile: profile, registry: configuration.registry)
        } catch {
            throw IMServiceError(.notEncodable)
        }
    }

    /// Whether a message was taken into the outbox; the described form of every send.
    private func isEnqueued(_ message: OutgoingMessage) -> Bool {
        do {
            try enqueue(message)
            return true
        } catch {
            return false
        }
    }

    // MARK: As described

    /// Sends a message to a user.
    ///
    /// - Returns: Whether it was taken into the outbox; false when the service is stopped, the message is too long, or
    ///   too many wait already.
    @discardableResult
    public func sendPeerMessage(_ message: IMMessage) -> Bool {
        isEnqueued(.peer(message))
    }

    /// Sends a message to a group.
    ///
    /// - Returns: Whether it was taken into the outbox.
    @discardableResult
    public func sendGroupMessage(_ message: IMMessage) -> Bool {
        isEnqueued(.group(message))
    }

    /// Sends a message to a chat room; without a connection it fails.
    ///
    /// - Returns: Whether the service is logged in and took it.
    @discardableResult
    public func sendRoomMessage(_ message: RoomMessage) -> Bool {
        connectionState == .authenticated && isEnqueued(.room(message))
    }

    /// Sends a live message, which is lost when the other side is away.
    ///
    /// - Returns: Whether the service is logged in and took it.
    @discardableResult
    public func sendRTMessage(_ message: RTMessage) -> Bool {
        sendLive(Packet(.rt, .room(message)))
    }

    /// Reports how many messages are unread in all, for the badge; reported again after each login.
    public func sendUnreadCount(_ count: Int32) {
        startedRuntime?.post(.livePacketRequested(Packet(.unreadCount, .unreadCount(count))))
    }

    /// Sends any packet that is not acknowledged, such as one of the app's own commands.
    ///
    /// - Returns: Whether the service is logged in and took it.
    @discardableResult
    public func sendLive(_ packet: Packet) -> Bool {
        guard connectionState == .authenticated, let runtime = startedRuntime else { return false }
        return runtime.post(.livePacketRequested(packet))
    }

    /// Enters a chat room, and again after each reconnect; one room at a time, and 0 is none.
    public func enterRoom(_ roomID: Int64) {
        guard roomID != 0 else { return }
        setRoom(roomID)?.post(.roomEntered(roomID))
    }

    /// Leaves a chat room; any other than the current one is ignored.
    public func leaveRoom(_ roomID: Int64) {
        setRoom(nil, when: roomID)?.post(.roomLeft(roomID))
    }

    /// Whether a message of this user to `peer` waits to be acknowledged.
    public func isPeerMessageSending(_ peer: Int64, id msgLocalID: Int32) -> Bool {
        outlet.isSending(ClientOutlet.SendingKey(.im, receiver: peer, msgLocalID: msgLocalID))
    }

    /// Whether a message of this user to the group waits to be acknowledged.
    public func isGroupMessageSending(_ groupID: Int64, id msgLocalID: Int32) -> Bool {
        outlet.isSending(ClientOutlet.SendingKey(.groupIM, receiver: groupID, msgLocalID: msgLocalID))
    }
}
