import RivuletClientCore
import RivuletModel
import RivuletServerCore
import RivuletWire

/// The shell around the node: its actions performed, its log with what a crash does to it.
extension Simulation {
    mutating func startServer() {
        var limits = NodeCore.Limits()
        limits.refusedLoginGraceMilliseconds = 1000
        var rules = NodeRules()
        rules.announcesGroupChanges = false
        rules.customerServiceApp = settings.bug == .customersTalk ? nil : SimulationSettings.staffApp
        if settings.era == .current {
            node = NodeCore(limits: limits, rules: rules, memberships: directory.memberships)
        } else {
            relay = SeedRelay(log: log, marksWhenWritten: settings.bug == .markBeforeAcknowledgement)
        }
        isServerRunning = true
        note("the server starts")
    }

    mutating func tellNode(_ events: [NodeEvent]) {
        let time = wallTime
        guard isServerRunning else { return }
        let actions =
            node?.handle(events, at: time) ?? relay?.handle(events, directory.memberships, at: time) ?? []
        for action in actions { perform(action) }
    }

    mutating func serverReceives(_ bytes: [UInt8], on number: Int) {
        guard isServerRunning, let link = links[number], link.isServerOpen, !link.isBlackHole else { return }
        var bytes = bytes
        if let cutAt = link.cutAt, cutAt <= now {
            // Of the bytes that the cut met on their way a part still comes, and nothing after them.
            guard !link.isTorn else { return }
            link.isTorn = true
            bytes.removeLast(link.chance.below(bytes.count + 1))
        }
        link.decoder.append(bytes)
        var events: [NodeEvent] = []
        do {
            while let frame = try link.decoder.next() {
                guard case .packet(let packet) = frame else { continue }
                events.append(.received(ConnectionID(rawValue: UInt64(number)), packet))
                notePacket(packet, on: link)
                if settings.bug == .serverAcknowledgesBeforeCommit { acknowledgeEarly(packet, on: number) }
            }
        } catch {
            ledger.fail(.unknown, "the server cannot read what client \(link.device) writes: \(error)")
        }
        if !events.isEmpty { tellNode(events) }
    }

    private mutating func notePacket(_ packet: Packet, on link: SimulatedLink) {
        switch (packet.command, packet.body) {
        case (.ping, _), (.pong, _), (.ack, _): return
        case (.enterRoom, .roomID(Operation.room)): link.isInRoom = true
        case (.leaveRoom, .roomID(Operation.room)): link.isInRoom = false
        case (.roomIM, .room(let message)):
            if let number = MessageNumber.number(in: message.content) { ledger.reachedServer(number) }
        case (_, .im(let message)) where settings.era == .seed:
            if let number = MessageNumber.number(in: message.content) { ledger.noteSilentRefusal(number) }
        default: break
        }
        devices[link.device].lastRealTrafficAt = now
        let profile = settings.era
        note("client \(link.device) → \(TraceWords.packet(packet, profile))")
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
            for connection in connections {
                checkLive(packets, on: Int(connection.rawValue))
                write(packets, .push, on: Int(connection.rawValue))
            }
            if settings.bug == .roomLeaks, packets.first?.command == .roomIM {
                for number in links.indices where links[number]?.isInRoom == false {
                    write(packets, .push, on: number)
                }
            }
        case .pauseReading, .posted, .reportUnread: break
        case .close(let connection, _, let delay):
            let number = Int(connection.rawValue)
            links[number]?.closeNumber += 1
            guard let link = links[number] else { return }
            queue.add(.serverCloses(link: number, number: link.closeNumber), at: now + delay)
        case .keepOpen(let connection): links[Int(connection.rawValue)]?.closeNumber += 1
        }
    }

    /// Checks that what is not stored reaches only those who may hear it.
    private mutating func checkLive(_ packets: [Packet], on number: Int) {
        guard packets.count == 1, let link = links[number] else { return }
        let user = devices[link.device].user
        switch (packets[0].command, packets[0].body) {
        case (.roomIM, .room(let message)):
            ledger.checkRoom(
                message, isInside: link.isInRoom, where: "client \(link.device), who is not in it")
            if ledger.books.banned.contains(Int(message.sender)) {
                ledger.fail(.notAllowed, "user \(message.sender) is banned from the room and is heard")
            }
        case (.rt, .room(let message)):
            let isBlocked = ledger.books.blocked[user]?.contains(Int(message.sender)) == true
            if message.receiver != Int64(user) || isBlocked && Int(message.sender) != user {
                ledger.fail(.notAllowed, "user \(user) hears user \(message.sender) type")
            }
        default: break
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
        if settings.bug == .successBecomesRefusal, bugChance.percent(2) {
            for index in packets.indices {
                guard case .ack(let answer) = packets[index].body else { continue }
                let refusal = Acknowledgement(sequence: answer.sequence, status: .senderNotFriend)
                packets[index].body = .ack(refusal)
            }
        }
        if isTracing { noteAnswer(packets, on: number) }
        links[number]?.outgoing.add(packets, delivery)
        flush(number)
    }

    private mutating func noteAnswer(_ packets: [Packet], on number: Int) {
        guard let index = links[number]?.device else { return }
        let profile = settings.era
        for packet in packets where packet.command != .pong {
            note("client \(index) ← \(TraceWords.packet(packet, profile))")
        }
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
                settings.account(of: devices[index].user), DeviceNumber(rawValue: Int64(index + 1)))
        }
        tellNode([.loginAnswered(ConnectionID(rawValue: UInt64(number)), result)])
    }

    // MARK: The log

    private mutating func startAppend(_ batch: BatchID, _ entries: [LogEntry]) {
        for entry in entries where !entry.isRepeatOnly { ledger.checkPermission(entry) }
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
                fillLogFile(entries)
                pendingAppends = []
                serverGeneration += 1
                return tellNode([.appendFailed(batch)] + behind)
            }
            let places = entries.map { entry in
                AppendOutcome.stored(entry.queues.map { _ in QueuePlace(key: 1 << 40, previous: 1 << 39) })
            }
            return tellNode([.appended(batch, places)])
        }
        // The log in a file saves them when it has time.
        if logFile == nil { unsyncedReports = [] }
        tellNode([.appended(batch, commit(entries))])
    }

    /// Puts entries into the log for good.
    mutating func commit(_ entries: [LogEntry], isInFile: Bool = false) -> [AppendOutcome] {
        var outcomes: [AppendOutcome] = []
        for entry in entries {
            if let outcome = dedupedWithoutReceiver(entry) {
                outcomes.append(outcome)
                continue
            }
            var kept = entry
            if settings.bug == .noDedupe {
                kept.content = entry.content.replacing(
                    "\"uuid\":\"", with: "\"uuid\":\"\(ledger.storedCount)-")
            }
            if settings.bug == .burnedStays {
                kept.content = entry.content.replacing("\"burned\"", with: "\"buried\"")
            }
            do {
                let outcome = try log.append([kept], at: wallTime)
                outcomes += outcome
                for one in outcome {
                    ledger.stored(entry, one)
                    remember(entry, one)
                }
            } catch {
                ledger.fail(.unknown, "the log failed: \(error)")
            }
            note("the log, \(entry.content): \(TraceWords.outcome(outcomes.last))")
        }
        mark(outcomes.count)
        if !isInFile { appendToLogFile(entries, outcomes) }
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
            let before = try log.reportedKey(of: queue, by: reader)
            try log.report(key, of: queue, by: reader)
            try logFile?.report(key, of: queue, by: reader)
            unsyncedReports.append((queue, reader, before))
        } catch {
            ledger.fail(.unknown, "the log failed: \(error)")
        }
    }

    mutating func answerLoad(on number: Int, _ request: PageRequest) {
        guard links[number]?.isServerOpen == true else { return }
        let connection = ConnectionID(rawValue: UInt64(number))
        var request = request
        if settings.bug == .pageOfAnother, case .user = request.queue, bugChance.percent(20) {
            request.queue = .user(settings.account(of: 1 + bugChance.below(settings.users)))
        }
        do {
            var page = try log.page(request, limit: PageLimit(countMax: 7, bytesMax: 2000))
            switch settings.bug {
            case .pageSkipsMessage where page.messages.count > 2: page.messages.remove(at: 1)
            case .pageForgetsMore: page.hasMore = false
            case .endlessSync: page.hasMore = true
            case .madeUpMessage where !page.messages.isEmpty:
                page.messages[0].content = #"{"text":"999999999 hello","uuid":"made-up"}"#
            default: break
            }
            for message in page.messages {
                guard let number = MessageNumber.number(in: message.content) else { continue }
                if ledger[number]?.isBurned == true {
                    ledger.fail(.notAllowed, "a page still holds message \(number), which burned")
                }
            }
            tellNode([.loaded(connection, page)])
        } catch {
            tellNode([.loadFailed(connection)])
        }
    }

    /// Answers whether the change could be made.
    @discardableResult
    mutating func change(_ change: MembershipChange) -> Bool {
        do {
            let key = settings.bug == .joinSeesThePast ? 0 : log.lastKey
            let changes = try directory.apply([change], at: wallTime, after: key)
            if settings.bug != .staleMembership {
                tellNode([.membershipsChanged(changes, at: wallTime, after: key)])
            }
            return true
        } catch {
            note("no change: \(error)")
            return false
        }
    }
}
