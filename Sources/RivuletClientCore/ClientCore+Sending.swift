import RivuletWire

/// What the app sends.
extension ClientCore {
    /// How often a message may stay without an answer on a live connection before it is given up.
    private static let unansweredCountMax = 3

    mutating func applyRequest(_ event: ClientEvent) {
        switch event {
        case .sendRequested(let request): requestSend(request)
        case .sendCancelled(let reference): cancelSend(reference)
        case .uploadFinished(let id, let body): finishUpload(id, body)
        case .uploadFailed(let id): failUpload(id)
        case .livePacketRequested(let packet): requestLivePacket(packet)
        case .superGroupAdded(let group, let key): addSuperGroup(group, key: key)
        case .superGroupRemoved(let group): removeSuperGroup(group)
        case .superGroupsRemoved: removeSuperGroups()
        case .roomEntered(let id): enterRoom(id)
        case .roomLeft(let id): leaveRoom(id)
        default: break
        }
    }

    private mutating func requestSend(_ request: SendRequest) {
        guard isStarted else { return }
        guard restoration == .done else {
            guard requestsBeforeRestoration.count < configuration.outboxCountMax else {
                return reject(request, as: .failed(.outboxFull))
            }
            requestsBeforeRestoration.append(request)
            return
        }
        submit(request)
    }

    /// Takes a request in: to the storage, or straight to the room.
    mutating func submit(_ request: SendRequest) {
        guard outbox.count < configuration.outboxCountMax else {
            return reject(request, as: .failed(.outboxFull))
        }
        guard isEncodable(request) else { return reject(request, as: .failed(.notEncodable)) }
        if request.command == .roomIM { return sendToRoom(request) }
        let entry = makeEntry(request, id: outbox.makeID())
        outbox.add(Outbox.Slot(entry: entry, ticket: request.ticket, isKept: true, stage: .storing))
        commits.next.changes.append(.queued(entry))
        commits.next.effects.append(.release(entry.id))
    }

    private mutating func sendToRoom(_ request: SendRequest) {
        guard link.isOnline else { return reject(request, as: .failed(.connectionLost)) }
        let entry = makeEntry(request, id: outbox.makeID())
        outbox.add(Outbox.Slot(entry: entry, ticket: request.ticket, isKept: false, stage: .waiting))
        transmit(entry)
        ping()
    }

    private func isEncodable(_ request: SendRequest) -> Bool {
        isEncodable(request.command, request.body, request.flags)
    }

    func isEncodable(_ command: Command, _ body: PacketBody, _ flags: PacketFlags) -> Bool {
        let packet = Packet(command, body, version: configuration.profile.version, flags: flags)
        var trial = PacketEncoder(role: .client, profile: configuration.profile, registry: registry)
        do {
            try trial.append(packet)
            return true
        } catch {
            return false
        }
    }

    private func makeEntry(_ request: SendRequest, id: SendID) -> OutboxEntry {
        var entry = OutboxEntry(
            id: id, uuid: request.uuid, command: request.command, body: request.body, flags: request.flags,
            createdMilliseconds: request.createdMilliseconds)
        entry.msgLocalID = request.msgLocalID
        // A room's message cannot wait.
        entry.needsUpload = request.needsUpload && request.command != .roomIM
        return entry
    }

    mutating func reject(_ request: SendRequest, as step: SendReport.Step) {
        let entry = makeEntry(request, id: SendID(rawValue: 0))
        notifications.append(.sendChanged(SendReport(entry: entry, ticket: request.ticket, step: step)))
    }

    private mutating func cancelSend(_ reference: SendReference) {
        if let index = requestsBeforeRestoration.firstIndex(where: { $0.isNamed(by: reference) }) {
            return reject(requestsBeforeRestoration.remove(at: index), as: .cancelled)
        }
        guard isStarted, let slot = outbox.find(reference), isCancellable(slot) else { return }
        finish(slot.entry.id, as: .cancelled)
    }

    /// Whether a send can still be withdrawn: it was never written to a connection.
    public func isCancellable(_ reference: SendReference) -> Bool {
        withdrawal(of: reference) != .tooLate
    }

    /// What withdrawing a send would achieve now.
    public func withdrawal(of reference: SendReference) -> SendWithdrawal {
        if requestsBeforeRestoration.contains(where: { $0.isNamed(by: reference) }) { return .withdrawn }
        guard let slot = outbox.find(reference), isCancellable(slot) else { return .tooLate }
        return slot.isRestored ? .uncertain : .withdrawn
    }

    private func isCancellable(_ slot: Outbox.Slot) -> Bool {
        guard slot.entry.attempts == 0 else { return false }
        return slot.stage == .storing || slot.stage == .waiting
    }

    // MARK: Steps of a send

    mutating func release(_ id: SendID) {
        guard let slot = outbox.release(id) else { return }
        notifications.append(
            .sendChanged(SendReport(entry: slot.entry, ticket: slot.ticket, step: .queued)))
    }

    /// Writes what the window allows, then asks for a sign of life.
    mutating func transmitOutbox() {
        guard isStarted, link.isOnline else { return }
        var hasWritten = false
        while outbox.inFlightCount < configuration.inFlightCountMax, let entry = outbox.nextToWrite() {
            if transmit(entry) { hasWritten = true }
        }
        if hasWritten { ping() }
    }

    @discardableResult
    private mutating func transmit(_ entry: OutboxEntry) -> Bool {
        let countBefore = encoder.byteCount
        guard let sequence = write(entry.command, entry.body, flags: entry.flags) else {
            finish(entry.id, as: .failed(.notEncodable))
            return false
        }
        outbox.markWritten(
            entry.id, sequence: sequence, byteCount: encoder.byteCount - countBefore, at: now)
        return true
    }

    /// Decides the fate of a send; it is told when the storage has it.
    mutating func finish(_ id: SendID, as step: SendReport.Step, at place: QueuePlace? = nil) {
        guard let isKept = outbox.markEnding(id) else { return }
        if uploads.remove(id) != nil { actions.append(.cancelUpload(id)) }
        guard isKept else { return endSend(id, as: step) }
        switch step {
        case .queued: return
        case .acknowledged: commits.next.changes.append(.acknowledged(id, place: place))
        case .refused(let status): commits.next.changes.append(.refused(id, status))
        case .failed(let failure): commits.next.changes.append(.failed(id, failure))
        case .cancelled: commits.next.changes.append(.cancelled(id))
        }
        commits.next.effects.append(.end(id, step))
    }

    mutating func endSend(_ id: SendID, as step: SendReport.Step) {
        guard let slot = outbox.remove(id) else { return }
        notifications.append(.sendChanged(SendReport(entry: slot.entry, ticket: slot.ticket, step: step)))
    }

    mutating func receiveACK(_ acknowledgement: Acknowledgement, _ packet: Packet) {
        let keys = takeMetadata(before: packet.sequence)
        guard let slot = outbox.acknowledge(sequence: acknowledgement.sequence, at: now) else { return }
        guard acknowledgement.status == .success else {
            return finish(slot.entry.id, as: .refused(acknowledgement.status))
        }
        var place: QueuePlace?
        let queue = packet.flags.contains(.superGroup) ? slot.entry.body.group : .peer
        if let keys, let queue, continuesQueue(queue, keys), keys.syncKey != keys.previousSyncKey {
            place = QueuePlace(queue: queue, key: keys.syncKey)
        }
        finish(slot.entry.id, as: .acknowledged, at: place)
        if let place { moveKey(to: place) }
    }

    // MARK: Time-outs

    /// When the server must have acknowledged something more.
    var acknowledgementDeadline: ClientInstant? {
        guard link.isOnline, let (_, since) = outbox.oldestWritten else { return nil }
        let timeout = configuration.acknowledgementTimeout + transferAllowance
        // Progress elsewhere lengthens the wait, since messages queue up on a slow uplink; but not for ever.
        return min(max(since, outbox.lastAcknowledgedAt) + timeout, since + timeout * 6)
    }

    /// The time that messages on their way may need on a slow uplink.
    var transferAllowance: Duration {
        .seconds(outbox.inFlightByteCount / 16_384)
    }

    mutating func acknowledgementTimedOut() {
        guard let (slot, since) = outbox.oldestWritten else { return }
        guard slot.isKept else { return finish(slot.entry.id, as: .failed(.unanswered)) }
        if heartbeat.lastReceivedAt > since { outbox.countUnanswered(slot.entry.id) }
        if slot.unansweredCount + 1 >= Self.unansweredCountMax, heartbeat.lastReceivedAt > since {
            return finish(slot.entry.id, as: .failed(.unanswered))
        }
        connectionLost(ClientDiagnostic(.acknowledgementTimedOut))
    }

    // MARK: Not acknowledged

    private mutating func requestLivePacket(_ packet: Packet) {
        if case .unreadCount(let count) = packet.body { unreadCount = count }
        guard isStarted, link.isOnline else { return }
        write(packet.command, packet.body, flags: packet.flags)
    }

    private mutating func enterRoom(_ id: Int64) {
        guard id != 0, id != room else { return }
        room = id
        if isStarted, link.isOnline { write(.enterRoom, .roomID(id)) }
    }

    private mutating func leaveRoom(_ id: Int64) {
        guard id != 0, id == room else { return }
        room = nil
        if isStarted, link.isOnline { write(.leaveRoom, .roomID(id)) }
    }
}

extension SendRequest {
    func isNamed(by reference: SendReference) -> Bool {
        switch reference {
        case .ticket(let ticket): ticket == self.ticket
        case .uuid(let uuid): uuid == self.uuid
        case .id: false
        }
    }
}

extension PacketBody {
    /// The queue of the group that a group message goes to.
    var group: MessageQueue? {
        guard case .im(let message) = self else { return nil }
        return .group(message.receiver)
    }
}
