public import RivuletClientCore
internal import RivuletWire

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

    /// Sends something that nobody keeps, and returns when it was handed to the connection.
    ///
    /// - Throws: ``IMServiceError``: not started, not connected, not in this profile, not encodable.
    public func send(_ message: LiveMessage) async throws {
        guard let runtime = startedRuntime else { throw IMServiceError(.notStarted) }
        guard let packet = try livePacket(message) else { return }
        guard await runtime.sendLive(packet) else { throw IMServiceError(.notConnected) }
    }

    /// The packet of a live message, if it has something to say.
    ///
    /// - Throws: ``IMServiceError``: not in this profile, not encodable.
    func livePacket(_ message: LiveMessage) throws -> Packet? {
        let configuration = configuration
        guard let packet = try message.packet(in: ServiceContext(configuration)) else { return nil }
        try checkEncodable(
            OutgoingMessage(command: packet.command, body: packet.body, flags: packet.flags), configuration)
        return packet
    }

    /// Withdraws a message that was not yet written to a connection.
    ///
    /// - Returns: False when it is too late, or no such message waits.
    public func cancelSend(_ reference: SendReference) async -> Bool {
        await withdrawSend(reference) != .tooLate
    }

    /// Withdraws a message that was not yet written to a connection, and says how certain that is.
    ///
    /// A message that an earlier run queued may have been written by it; whoever wants it gone withdraws it for its
    /// receivers, too.
    public func withdrawSend(_ reference: SendReference) async -> SendWithdrawal {
        await startedRuntime?.withdraw(reference) ?? .tooLate
    }

    private func prepare(_ original: OutgoingMessage) throws -> (ClientRuntime, SendRequest) {
        guard let runtime = startedRuntime else { throw IMServiceError(.notStarted) }
        let configuration = configuration
        let message = try ServiceContext(configuration).adapted(original)
        try checkEncodable(message, configuration)
        guard outlet.sendingCount < configuration.core.outboxCountMax else {
            throw IMServiceError(.outboxFull)
        }
        var request = SendRequest(
            ticket: makeTicket(), uuid: message.uuid, command: message.command, body: message.body,
            flags: message.flags, createdMilliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        request.msgLocalID = message.msgLocalID
        request.needsUpload = configuration.uploader?.needsUpload(message.command, message.body) ?? false
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
            let isLacking = error.code == .unknownCommand || error.code == .commandNotAllowed
            throw IMServiceError(isLacking ? .notInProfile : .notEncodable)
        }
    }

    /// Whether a message was taken into the outbox; the described form of every send.
    func isEnqueued(_ message: OutgoingMessage) -> Bool {
        do {
            try enqueue(message)
            return true
        } catch {
            return false
        }
    }
}
