import RivuletClientCore
import RivuletModel
import RivuletServerCore
import RivuletWire

/// The shell around the node: its actions performed, its log with what a crash does to it.
extension Simulation {
    mutating func startServer() {
        var limits = NodeCore.Limits()
        limits.refusedLoginGraceMilliseconds = 1000
        node = NodeCore(limits: limits, rules: Self.rules, memberships: directory.memberships)
        note("the server starts")
    }

    private static let rules: NodeRules = {
        var rules = NodeRules()
        rules.announcesGroupChanges = false
        return rules
    }()

    mutating func tellNode(_ events: [NodeEvent]) {
        let time = wallTime
        guard let actions = node?.handle(events, at: time) else { return }
        for action in actions { perform(action) }
    }

    mutating func serverReceives(_ bytes: [UInt8], on number: Int) {
        guard node != nil, let link = links[number], link.isServerOpen, !link.isBlackHole else { return }
        link.decoder.append(bytes)
        var events: [NodeEvent] = []
        do {
            while let frame = try link.decoder.next() {
                guard case .packet(let packet) = frame else { continue }
                events.append(.received(ConnectionID(rawValue: UInt64(number)), packet))
                notePacket(packet, from: link.device)
                if settings.bug == .serverAcknowledgesBeforeCommit { acknowledgeEarly(packet, on: number) }
            }
        } catch {
            ledger.fail(.unknown, "the server cannot read what client \(link.device) writes: \(error)")
        }
        if !events.isEmpty { tellNode(events) }
    }

    private mutating func notePacket(_ packet: Packet, from device: Int) {
        switch packet.command {
        case .ping, .pong, .ack: break
        default:
            devices[device].lastRealTrafficAt = now
            note("client \(device) → \(packet.command) \(packet.body)")
        }
    }

    private mutating func acknowledgeEarly(_ packet: Packet, on number: Int) {
        guard packet.command == .im || packet.command == .groupIM else { return }
        links[number]?.outgoing.add([Packet(.ack, .ack(Acknowledgement(sequence: packet.sequence)))], .reply)
        flush(number)
    }

    private mutating func perform(_ action: NodeAction) {
        switch action {
        case .authenticate(let connection, let token):
            queue.add(.login(link: Int(connection.rawValue), token), at: now + 1)
        case .useVersion(let connection, let version):
            links[Int(connection.rawValue)]?.outgoing.version = version
        case .append(let batch, let entries): startAppend(batch, entries)
        case .load(let connection, let request):
            queue.add(.loaded(link: Int(connection.rawValue), request), at: now + chance.time(0...4))
        case .reportKey(let queue, let reader, let key): report(key, of: queue, by: reader)
        case .send(let connection, let packets, let delivery):
            write(packets, delivery, on: Int(connection.rawValue))
        case .broadcast(let connections, let packets):
            for connection in connections { write(packets, .push, on: Int(connection.rawValue)) }
        case .pauseReading, .posted, .reportUnread: break
        case .close(let connection, _, let delay):
            let number = Int(connection.rawValue)
            links[number]?.closeNumber += 1
            guard let link = links[number] else { return }
            queue.add(.serverCloses(link: number, number: link.closeNumber), at: now + delay)
        case .keepOpen(let connection): links[Int(connection.rawValue)]?.closeNumber += 1
        }
    }

    private mutating func write(_ packets: [Packet], _ delivery: Delivery, on number: Int) {
        guard links[number]?.isServerOpen == true else { return }
        var packets = packets
        if settings.bug == .lostNotify {
            packets.removeAll {
                delivery == .push && ($0.command == .syncNotify || $0.command == .syncGroupNotify)
            }
        }
        if settings.bug == .refusalBecomesSuccess {
            for index in packets.indices {
                guard case .ack(let answer) = packets[index].body, answer.status != .success else { continue }
                packets[index].body = .ack(Acknowledgement(sequence: answer.sequence))
            }
        }
        links[number]?.outgoing.add(packets, delivery)
        flush(number)
    }

    /// Writes what waits as far as the network takes it.
    mutating func flush(_ number: Int) {
        guard let link = links[number], link.isServerOpen else { return }
        guard !link.outgoing.isEmpty, link.unread < SimulatedLink.windowBytes else { return }
        do {
            while link.unread + link.encoder.byteCount < SimulatedLink.windowBytes,
                let packets = link.outgoing.next()
            {
                for packet in packets { try link.encoder.append(packet) }
            }
        } catch {
            ledger.fail(.unknown, "the server cannot write a packet: \(error)")
        }
        let bytes = link.encoder.takeBytes()
        if !bytes.isEmpty { sendToClient(bytes, on: number) }
    }

    mutating func answerLogin(on number: Int, _ token: AuthenticationToken) {
        guard links[number]?.isServerOpen == true else { return }
        // "t<client>:<number of the token>"
        let parts = token.token.dropFirst().split(separator: ":")
        var result = LoginResult.refused
        if parts.count == 2, let index = Int(parts[0]), let serial = Int(parts[1]),
            devices.indices.contains(index), serial >= devices[index].validToken
        {
            result = .accepted(
                Account(user: UserID(Int64(devices[index].user))), DeviceNumber(rawValue: Int64(index + 1)))
        }
        tellNode([.loginAnswered(ConnectionID(rawValue: UInt64(number)), result)])
    }

    // MARK: The log

    private mutating func startAppend(_ batch: BatchID, _ entries: [LogEntry]) {
        for entry in entries { ledger.checkPermission(entry) }
        pendingAppends.append((batch, entries))
        lastAppendAt = max(lastAppendAt, now + chance.time(1...12))
        queue.add(.appended(generation: serverGeneration), at: lastAppendAt)
    }

    mutating func finishAppend() {
        guard !pendingAppends.isEmpty else { return }
        let (batch, entries) = pendingAppends.removeFirst()
        if serverDiskFullUntil > now {
            guard settings.bug == .logHidesFullDisk else {
                note("the server's disk is full")
                // What is in line behind a batch that failed fails with it.
                let behind = pendingAppends.map { NodeEvent.appendFailed($0.batch) }
                pendingAppends = []
                serverGeneration += 1
                return tellNode([.appendFailed(batch)] + behind)
            }
            let places = entries.map { entry in
                AppendOutcome.stored(entry.queues.map { _ in QueuePlace(key: 1 << 40, previous: 1 << 39) })
            }
            return tellNode([.appended(batch, places)])
        }
        tellNode([.appended(batch, commit(entries))])
    }

    /// Puts entries into the log for good.
    mutating func commit(_ entries: [LogEntry]) -> [AppendOutcome] {
        var outcomes: [AppendOutcome] = []
        for entry in entries {
            if let outcome = dedupedWithoutReceiver(entry) {
                outcomes.append(outcome)
                continue
            }
            do {
                let outcome = try log.append([entry], at: wallTime)
                outcomes += outcome
                for one in outcome {
                    ledger.stored(entry, one)
                    remember(entry, one)
                }
            } catch {
                ledger.fail(.unknown, "the log failed: \(error)")
            }
            note("the log has \(entry.content): \(outcomes.last.map { "\($0)" } ?? "")")
        }
        mark(outcomes.count)
        return outcomes
    }

    private func dedupedWithoutReceiver(_ entry: LogEntry) -> AppendOutcome? {
        guard settings.bug == .dedupeWithoutReceiver,
            let uuid = StoredMessage(entry, key: 0).uuid, let places = placesOfUUID[uuid]
        else { return nil }
        return .duplicate(places)
    }

    private mutating func remember(_ entry: LogEntry, _ outcome: AppendOutcome) {
        guard settings.bug == .dedupeWithoutReceiver, case .stored(let places) = outcome,
            let uuid = StoredMessage(entry, key: 0).uuid
        else { return }
        placesOfUUID[uuid] = places
    }

    private mutating func report(_ key: Int64, of queue: QueueID, by reader: Account) {
        do {
            try log.report(key, of: queue, by: reader)
        } catch {
            ledger.fail(.unknown, "the log failed: \(error)")
        }
    }

    mutating func answerLoad(on number: Int, _ request: PageRequest) {
        guard links[number]?.isServerOpen == true else { return }
        let connection = ConnectionID(rawValue: UInt64(number))
        var request = request
        if settings.bug == .pageOfAnother, case .user = request.queue, bugChance.percent(20) {
            request.queue = .user(Account(user: UserID(Int64(1 + bugChance.below(settings.users)))))
        }
        do {
            var page = try log.page(request, limit: PageLimit(countMax: 7, bytesMax: 2000))
            switch settings.bug {
            case .pageSkipsMessage where page.messages.count > 2: page.messages.remove(at: 1)
            case .pageForgetsMore: page.hasMore = false
            default: break
            }
            tellNode([.loaded(connection, page)])
        } catch {
            tellNode([.loadFailed(connection)])
        }
    }

    mutating func change(_ change: MembershipChange, ago: Int64 = 0) {
        do {
            let time = WallTime(milliseconds: wallTime.milliseconds - ago)
            let changes = try directory.apply([change], at: time)
            if settings.bug != .staleMembership { tellNode([.membershipsChanged(changes, at: wallTime)]) }
        } catch {
            note("no change: \(error)")
        }
    }

    // MARK: Crashes

    mutating func crashServer(for time: Int64) {
        guard node != nil else { return }
        note("the server crashes for \(time) ms")
        totals.crashes += 1
        node = nil
        serverGeneration += 1
        // What was on its way to the disk is there or not, but in order.
        let survivors = chance.below(pendingAppends.count + 1)
        for (_, entries) in pendingAppends.prefix(survivors) { _ = commit(entries) }
        pendingAppends = []
        for number in links.indices {
            guard let link = links[number], link.isServerOpen else { continue }
            links[number]?.isServerOpen = false
            if link.isClientOpen, !link.isBlackHole {
                queue.add(.clientSeesEnd(link: number), at: now + chance.time(1...2000))
            }
        }
        queue.add(.serverStarts, at: now + time)
    }
}
