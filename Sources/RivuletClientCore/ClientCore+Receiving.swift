import RivuletWire

/// What comes from the server.
extension ClientCore {
    mutating func receive(_ bytes: [UInt8]) {
        guard isOpen else { return }
        noteLife()
        decoder.append(bytes)
        do throws(WireError) {
            // A packet may end the connection; what follows it is then nobody's.
            while isOpen, let frame = try decoder.next() {
                switch frame {
                case .packet(let packet): receive(packet)
                case .skipped(let header, let error): receiveUnreadable(header, error)
                }
            }
        } catch {
            connectionLost(ClientDiagnostic(.malformedFrame, wireError: error))
        }
    }

    /// Stops reading while the storage is behind, and the time-outs that only reading could answer.
    mutating func pauseOrResumeReading() {
        guard isStarted, isOpen else { return }
        let (count, bytes) = (commits.uncommittedCount, commits.uncommittedByteCount)
        let isTooMuch =
            count >= configuration.uncommittedCountMax || bytes >= configuration.uncommittedBytesMax
        if !isReadingPaused, isTooMuch {
            isReadingPaused = true
            report(ClientDiagnostic(.storageTooSlow))
            actions.append(.setReading(epoch, false))
        } else if isReadingPaused, count <= configuration.uncommittedCountMax / 2,
            bytes <= configuration.uncommittedBytesMax / 2
        {
            isReadingPaused = false
            heartbeat.replyDeadline = nil
            outbox.restartWait(at: now)
            for queue in runningRounds { roundMoved(queue) }
            actions.append(.setReading(epoch, true))
        }
    }

    private var isOpen: Bool {
        if case .loggingIn = link { return true }
        return link.isOnline
    }

    private mutating func receive(_ packet: Packet) {
        switch (packet.command, packet.body) {
        case (.authStatus, .authStatus(let answer)): receiveLoginAnswer(answer)
        case (.rst, _): kicked()
        case _ where !link.isOnline: break
        case (.ping, _), (.pong, _): break
        case (.metadata, .metadata(let keys)): metadata = (packet.sequence, keys)
        case (.ack, .ack(let acknowledgement)): receiveACK(acknowledgement, packet)
        case (_, .syncKey), (_, .groupSyncKey): receiveSyncPacket(packet)
        default:
            if isStored(packet.command) {
                receiveStored(packet)
            } else {
                // Behind the stored packets that came before it.
                commits.next.effects.append(.tell(.livePacket(packet)))
                commits.next.byteCount += packet.body.weight
            }
        }
    }

    private mutating func receiveLoginAnswer(_ answer: AuthenticationStatus) {
        guard case .loggingIn = link else { return }
        if answer.status == 0 {
            loginSucceeded()
        } else {
            loginRefused()
        }
    }

    /// Whether the server keeps such packets until they are acknowledged.
    private func isStored(_ command: Command) -> Bool {
        switch command {
        case .im, .groupIM, .groupNotification, .system: true
        case .customer, .customerSupport, .customerService: configuration.profile == .seed
        case .customerV2: configuration.profile == .current
        default: false
        }
    }

    private mutating func receiveStored(_ packet: Packet) {
        var message = ReceivedMessage(command: packet.command, body: packet.body, flags: packet.flags)
        message.isOwn = isOwn(packet.command, packet.body)
        // A sender can set any flag; only on the user's own messages does SELF mean something.
        message.isFromThisDevice = message.isOwn && packet.flags.contains(.isSelf)
        if !message.isFromThisDevice { message.flags.remove(.isSelf) }
        if configuration.profile == .seed {
            message.flags = []
            message.isFromThisDevice = false
            // Old storage holds them: they mean nothing today, and must be acknowledged to go away.
            if packet.command == .customerService {
                return stage(QueueState.Collected(message: nil, sequence: packet.sequence))
            }
        } else if packet.flags.contains(.push) {
            return receivePush(message, packet)
        }
        let item = QueueState.Collected(message: message, sequence: packet.sequence)
        receiveQueued(item, group: packet.command == .groupIM ? packet.body.group : nil)
    }

    /// A packet without PUSH: part of a round, or a straggler of one.
    ///
    /// What comes of a super group after its round timed out is no part of the user's own round: the late
    /// SYNC_GROUP_END moves the group's key over it, and until then it must be with the storage.
    private mutating func receiveQueued(_ item: QueueState.Collected, group: MessageQueue?) {
        var queue = MessageQueue.peer
        if let group, queues[group] != nil { queue = group }
        if queues[queue]?.isCollecting == true {
            collect(item, in: queue)
        } else {
            stage(item)
        }
    }

    private mutating func receivePush(_ message: ReceivedMessage, _ packet: Packet) {
        guard let keys = takeMetadata(before: packet.sequence) else { return }
        var queue = MessageQueue.peer
        if packet.flags.contains(.superGroup) {
            guard packet.command == .groupIM, let group = packet.body.group else { return }
            queue = group
        }
        guard continuesQueue(queue, keys) else { return }
        let place = QueuePlace(queue: queue, key: keys.syncKey)
        var message = message
        message.place = place
        stage(QueueState.Collected(message: message, sequence: packet.sequence))
        moveKey(to: place)
    }

    /// Passes over a body that cannot be read, as if it were delivered; else it would come back for ever.
    private mutating func receiveUnreadable(_ header: PacketHeader, _ error: WireError) {
        guard link.isOnline else { return }
        report(ClientDiagnostic(.unreadableBody, wireError: error))
        guard isStored(header.command) else { return }
        let item = QueueState.Collected(message: nil, sequence: header.sequence)
        guard configuration.profile == .current, header.flags.contains(.push) else {
            return receiveQueued(item, group: nil)
        }
        // Which super group it belongs to stood in the body; its own round will pass over it.
        guard let keys = takeMetadata(before: header.sequence), !header.flags.contains(.superGroup),
            continuesQueue(.peer, keys)
        else { return }
        stage(item)
        moveKey(to: QueuePlace(queue: .peer, key: keys.syncKey))
    }

    /// Whether this user wrote it (docs/protocol.md, sections 11 and 14).
    private func isOwn(_ command: Command, _ body: PacketBody) -> Bool {
        guard let identity else { return false }
        switch body {
        case .im(let message): return message.sender == identity.uid
        case .customerV2(let message):
            return message.sender == identity.uid && message.senderAppID == identity.appID
        case .customer(let message):
            let isCustomer = identity.appID == 0 || identity.appID == message.customerAppID
            return command == .customerSupport
                ? !isCustomer && message.sellerID == identity.uid
                : isCustomer && message.customerID == identity.uid
        default: return false
        }
    }
}
