import RivuletClientCore
import RivuletStore
import RivuletWire

/// The shell around each client core: its actions performed in the simulated world.
extension Simulation {
    mutating func feed(_ index: Int, _ event: ClientEvent) {
        let actions = devices[index].core.handle(event, at: devices[index].instant(at: now))
        for action in actions { perform(action, of: index) }
    }

    private mutating func later(_ index: Int, _ delay: Int64, _ event: ClientEvent) {
        queue.add(.toClient(device: index, life: devices[index].life, event), at: now + delay)
    }

    mutating func launch(_ index: Int) {
        guard !devices[index].isRunning else { return }
        devices[index].isRunning = true
        note("client \(index) starts")
        feed(index, .started(devices[index].identity))
    }

    private mutating func perform(_ action: ClientAction, of index: Int) {
        switch action {
        case .restore: later(index, 2, .restored(restored(index)))
        case .resolve(let endpoint): later(index, 5, .resolved(endpoint, addresses: ["192.0.2.1"]))
        case .open(let epoch, _, _): connect(index, epoch.rawValue)
        case .write(let epoch, let bytes):
            guard let link = devices[index].links[epoch.rawValue] else { return }
            sendToServer(bytes, on: link)
        case .close(let epoch):
            guard let link = devices[index].links[epoch.rawValue] else { return }
            note("client \(index) closes link \(link)")
            endClientSide(of: link, isTold: false)
        case .setReading(let epoch, let isOn):
            guard let link = devices[index].links[epoch.rawValue] else { return }
            links[link]?.isReading = isOn
            if isOn { queue.add(.reads(link: link), at: now) }
        case .commit(let batch): startCommit(batch, of: index)
        case .notify(let notifications):
            for notification in notifications { take(notification, of: index) }
        case .askToken:
            devices[index].tokenNumber = devices[index].validToken
            later(index, 50, .tokenProvided(devices[index].token))
        case .setDeadline(let deadline): setDeadline(deadline, of: index)
        // No message of the simulated work needs an upload.
        case .upload, .cancelUpload: break
        }
    }

    mutating func setDeadline(_ deadline: ClientInstant?, of index: Int) {
        devices[index].deadline = deadline
        guard let deadline else { return }
        let time = max(now, devices[index].time(of: deadline))
        // Deadlines mostly move back, so one that is set already will do: it looks again when it comes.
        if let earlier = devices[index].wakesAt, earlier <= time { return }
        devices[index].wakesAt = time
        queue.add(.wake(device: index, at: time), at: time)
    }

    mutating func wake(_ index: Int, at time: Int64) {
        guard devices[index].wakesAt == time else { return }
        devices[index].wakesAt = nil
        guard let deadline = devices[index].deadline else { return }
        guard devices[index].time(of: deadline) <= now else { return setDeadline(deadline, of: index) }
        feed(index, .deadline)
    }

    // MARK: The disk

    private mutating func restored(_ index: Int) -> RestoredState {
        var restored = devices[index].disk.restored
        if let store = devices[index].store {
            let kept = store.restored
            // A copy that came before the answer took the message out of the store's outbox, and not out of the book's.
            let numbers = Set(kept.outbox.map(\.id))
            devices[index].disk.outbox.removeAll { !numbers.contains($0.id) }
            if kept.peerKey != restored.peerKey || kept.groupKeys != restored.groupKeys
                || kept.outbox.map(\.id) != devices[index].disk.outbox.map(\.id),
                settings.bug == nil
            {
                ledger.fail(.storeDiffers, "client \(index): the store goes on from another place")
            }
            withFile(of: index) { file in
                let state = try file.clientState()
                guard state != store.tables.clientState else { return }
                throw SimulatedFileError(description: "it goes on from \(state)")
            }
            restored = settings.bug == nil ? kept : devices[index].disk.restored
        }
        switch settings.bug {
        case .outboxReversed: restored.outbox.reverse()
        case .outboxLost: restored.outbox = []
        case .retryChangesUUID:
            for position in restored.outbox.indices {
                guard case .im(var message) = restored.outbox[position].body,
                    let number = MessageNumber.number(in: message.content)
                else { continue }
                message.content = SimulatedContent.text.json(
                    number: number, uuid: "r\(number)-\(devices[index].life)", target: "", session: ("", 0))
                restored.outbox[position].body = .im(message)
            }
        default: break
        }
        return restored
    }

    private mutating func startCommit(_ batch: StorageBatch, of index: Int) {
        devices[index].pending = batch
        if settings.bug == .shownBeforeCommit {
            for case .received(let message) in batch.changes { show(message, on: index) }
        }
        if settings.bug == .deliveredTooEarly { reportDelivered(batch, of: index) }
        // Now and then a disk takes long, so that crashes find something on its way.
        let isSlow = devices[index].chance.percent(10)
        queue.add(
            .committed(device: index, life: devices[index].life),
            at: now + devices[index].chance.time(isSlow ? 100...5000 : 1...25))
    }

    mutating func finishCommit(_ index: Int) {
        guard let batch = devices[index].pending else { return }
        devices[index].pending = nil
        if devices[index].diskFullUntil > now {
            guard settings.bug == .storageHidesFullDisk else {
                note("client \(index): batch \(batch.id) fails, the disk is full")
                fillDisk(batch, of: index)
                feed(index, .commitFailed(batch: batch.id))
                return
            }
            feed(index, .committed(batch: batch.id, CommitOutcome()))
            return
        }
        var isNew = apply(batch, of: index)
        if devices[index].store != nil { isNew = applyToStore(batch, of: index, isNew) }
        feed(index, .committed(batch: batch.id, CommitOutcome(isNew: isNew)))
        if settings.bug != .deliveredTooEarly { reportDelivered(batch, of: index) }
    }

    /// A file must hold nothing of a batch that found the disk full.
    private mutating func fillDisk(_ batch: StorageBatch, of index: Int) {
        guard let operations = devices[index].store?.operations(of: batch).operations else { return }
        withFile(of: index) { file in
            guard try file.applyOnFullDisk(operations) else { return }
            throw SimulatedFileError(description: "a batch stays that found the disk full")
        }
    }

    /// Writes a batch to the disk; answers which received messages are new.
    mutating func apply(_ batch: StorageBatch, of index: Int, onlyKeys: Bool = false) -> [Bool] {
        var isNew: [Bool] = []
        var skipped = false
        for change in batch.changes {
            switch change {
            case .received(let message):
                if onlyKeys { continue }
                if settings.bug == .keySkipped, !skipped, bugChance.percent(5) {
                    skipped = true
                    isNew.append(false)
                    continue
                }
                isNew.append(receive(message, on: index))
            case .queued(let entry):
                if onlyKeys { continue }
                if let number = MessageNumber.number(in: entry.body), settings.bug != .ownCopyIsNew {
                    _ = devices[index].disk.learn(number)
                    takeEffect(number, on: index, isQueued: true)
                }
                devices[index].disk.outbox.append(entry)
                devices[index].disk.lastSendID = max(devices[index].disk.lastSendID, entry.id)
            case .acknowledged(let id, _): end(id, .acknowledged, on: index, onlyKeys)
            case .refused(let id, let status): end(id, .refused(status), on: index, onlyKeys)
            case .failed(let id, let failure): end(id, .failed(failure), on: index, onlyKeys)
            case .cancelled(let id): end(id, .cancelled, on: index, onlyKeys)
            // No message of the simulated work needs an upload.
            case .uploaded: break
            case .peerKey(let key): store(key, of: .peer, on: index)
            case .groupKey(let group, let key): store(key, of: .group(group), on: index)
            case .groupRemoved(let group): devices[index].disk.groupKeys[group] = nil
            }
        }
        return isNew
    }

    /// A message leaves the outbox; the disk knows its fate even when a crash keeps the app from hearing it.
    private mutating func end(_ id: SendID, _ step: SendReport.Step, on index: Int, _ isTorn: Bool) {
        guard !isTorn, let place = devices[index].disk.outbox.firstIndex(where: { $0.id == id }) else {
            return
        }
        let entry = devices[index].disk.outbox.remove(at: place)
        guard let number = MessageNumber.number(in: entry.body) else { return }
        ledger.report(step, of: number)
        guard let message = ledger[number], !message.content.isText else { return }
        if case .refused = step { devices[index].hasLocalMarks = true }
        if message.isDropped {
            // It had its effect here when it was written.
            devices[index].hasLocalMarks = true
        }
    }

    private mutating func store(_ key: Int64, of queue: MessageQueue, on index: Int) {
        note("client \(index) stores key \(key) of \(queue)")
        mark(Int(truncatingIfNeeded: key) &* 31 &+ index)
        switch queue {
        case .peer: devices[index].disk.peerKey = key
        case .group(let group): devices[index].disk.groupKeys[group] = key
        }
        // The faults that leave a hole are looked for where the key goes over it, too.
        ledger.checkKey(key, of: queue, user: devices[index].user, disk: &devices[index].disk)
    }

    private mutating func receive(_ message: ReceivedMessage, on index: Int) -> Bool {
        let isSuper = message.command == .groupIM && message.body.receiver == Operation.superGroup
        let queue: MessageQueue =
            isSuper && settings.era == .current ? .group(Operation.superGroup) : .peer
        let last = devices[index].disk.newestReceived[queue]
        guard let (number, key) = ledger.checkReceived(message, user: devices[index].user, after: last) else {
            return true
        }
        let isKnown = !devices[index].disk.learn(number)
        note("client \(index) stores message \(number), key \(key)\(isKnown ? ", known" : "")")
        if message.isFromThisDevice { learnFate(number, on: index) }
        if isKnown {
            if settings.bug == .unreadCountedTwice, !message.isOwn {
                devices[index].disk.unread.countOnceMore()
            }
            return settings.bug == .doubleDelivery
        }
        takeEffect(number, on: index, isQueued: false)
        if settings.changesSuperGroup { ledger.noteHolder(devices[index].user, of: number) }
        // What burned and is back with the server's copy comes late to those who missed it.
        let isBack = ledger[number].map { $0.wasBurned && !$0.isBurned } ?? false
        if let last, key <= last, !isBack {
            ledger.fail(
                .disordered, "client \(index) stores message \(number), key \(key), after key \(last)")
        }
        devices[index].disk.newestReceived[queue] = key
        return true
    }

    // MARK: What the app is told

    private mutating func take(_ notification: ClientNotification, of index: Int) {
        switch notification {
        case .message(let message): show(message, on: index)
        case .sendChanged(let report):
            guard let number = MessageNumber.number(in: report.entry.body) else { return }
            note("client \(index): message \(number) is \(report.step)")
            mark(number)
            ledger.report(report.step, of: number)
        case .stateChanged(let state):
            note("client \(index) is \(state)")
        case .livePacket(let packet): hear(packet, on: index)
        case .roundFinished, .statusChanged: break
        case .diagnostic(let diagnostic):
            note("client \(index): \(diagnostic.code.rawValue)")
        }
    }

    private mutating func show(_ message: ReceivedMessage, on index: Int) {
        guard let number = MessageNumber.number(in: message.body), let sent = ledger[number] else { return }
        if !devices[index].disk.known.contains(number), settings.bug != .keySkipped {
            ledger.fail(.shownTooEarly, "message \(number) on client \(index)")
        }
        // What a device wrote after its last backup is new to it when the backup was restored.
        let isOwnWriting = sent.device == index && !devices[index].hasGoneBack
        // The store knows a withdrawal by the withdrawn message, not by its own name.
        let isRepeatable = devices[index].store != nil && !sent.content.isText
        if !devices[index].disk.shown.insert(number).inserted || isOwnWriting, !isRepeatable {
            ledger.fail(.shownTwice, "message \(number) on client \(index)")
        }
    }

    // MARK: What messages do

    /// Does to the count of unread messages what a message does.
    private mutating func takeEffect(_ number: Int, on index: Int, isQueued: Bool) {
        let user = devices[index].user
        guard let message = ledger[number] else { return }
        guard let target = message.content.target else {
            if message.author != user {
                devices[index].disk.unread.arrived(number, in: ledger.conversation(of: message, for: user))
            }
            return
        }
        guard let old = ledger[target] else { return }
        let name = ledger.conversation(of: old, for: user)
        switch message.content {
        case .receipt, .readMark:
            guard message.author == user else { return }
            if settings.bug == .readMarkIgnored, !isQueued { return }
            devices[index].disk.unread.read(upTo: target, in: name)
        case .revoke where old.author == message.author && old.author != user:
            devices[index].disk.unread.vanished(target, in: name)
        case .burned where message.author == user && old.author != user:
            devices[index].disk.unread.vanished(target, in: name)
        case .text, .burning, .revoke, .burned, .edit: break
        }
    }

    /// A device's own message came back to it: the server has it, whether or not the answer arrives.
    private mutating func learnFate(_ number: Int, on index: Int) {
        guard devices[index].store != nil, let fate = ledger[number]?.fate,
            fate == .requested || fate == .queued
        else { return }
        ledger.report(.acknowledged, of: number)
    }

    /// A live packet reaches the app.
    private mutating func hear(_ packet: Packet, on index: Int) {
        guard case .room(let message) = packet.body else { return }
        if packet.command == .rt { takeDelivered(message, on: index) }
        guard packet.command == .roomIM else { return }
        ledger.checkRoom(
            message, isInside: devices[index].hasEnteredRoom, where: "client \(index), who never entered it")
        guard let number = MessageNumber.number(in: message.content) else { return }
        note("client \(index) hears message \(number) of the room")
        let author = ledger[number]?.device ?? 0
        if author == index || !devices[index].heard.insert(number).inserted {
            ledger.fail(.shownTwice, "message \(number) of the room on client \(index)")
        }
        if let last = devices[index].lastHeard[author], last > number {
            ledger.fail(.disordered, "client \(index) hears message \(number) of the room after \(last)")
        }
        devices[index].lastHeard[author] = number
    }
}

extension PacketBody {
    /// The user or group that a message goes to.
    fileprivate var receiver: Int64? {
        guard case .im(let message) = self else { return nil }
        return message.receiver
    }
}
