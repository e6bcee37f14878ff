import RivuletWire
import Testing

@testable import RivuletClientCore

/// Watches the actions of a core and keeps the books that its promises are checked against.
struct Auditor {
    static let group: Int64 = 5
    static let restored = RestoredState(peerKey: 10, groupKeys: [group: 50])

    var driver = CoreDriver { $0.hasTokenSource = true }
    private var openEpoch: ConnectionEpoch?
    private var pushSequences: [String: Int32] = [:]
    private var committedSequences: Set<Int32> = []
    private var isBatchOut = false
    private var outChanges: [StorageChange] = []
    private var nextTicket: UInt64 = 1
    private var ended: [SendTicket: Int] = [:]
    private var storedKey: Int64 = 10
    private var queueKey: Int64 = 10
    private var storedGroupKey: Int64? = 50
    private var groupQueueKey: Int64 = 50
    private var stored: Set<SendID> = []
    /// What the shell was asked to upload and has not answered.
    private var uploads: [SendID] = []
    private(set) var faults: [String] = []

    mutating func play(_ symbol: Symbol) {
        switch symbol {
        case .start:
            tell(.started(CoreDriver.identity))
            if driver.core.restoration == .underway { tell(.restored(Self.restored)) }
        case .stop:
            tell(.stopped)
            uploads = []
        case .background: tell(.enteredBackground)
        case .foreground: tell(.enteredForeground)
        case .opened:
            if case .resolving = driver.core.link {
                tell(.resolved(CoreDriver.endpoint, addresses: ["10.0.0.1"]))
            }
            tell(.opened(driver.core.epoch))
        case .closed:
            if openEpoch == driver.core.epoch { openEpoch = nil }
            tell(.closed(driver.core.epoch, .failed))
        case .loginAccepted: receive(.authStatus, .authStatus(AuthenticationStatus(status: 0)))
        case .loginRefused: receive(.authStatus, .authStatus(AuthenticationStatus(status: 1)))
        case .kick: tell(.received(driver.core.epoch, [0, 0, 0, 0, 0, 0, 0, 1, 6, 2, 0, 0]))
        case .push: push()
        case .endRound: receive(.syncEnd, .syncKey(queueKey))
        case .acknowledge: acknowledge()
        case .committed: answer(isCommitted: true)
        case .commitFailed: answer(isCommitted: false)
        case .send:
            guard driver.core.isRunning else { return }
            ended[SendTicket(rawValue: nextTicket)] = 0
            tell(.sendRequested(driver.request("\(nextTicket)", ticket: nextTicket)))
            nextTicket += 1
        case .sendWithUpload:
            guard driver.core.isRunning else { return }
            ended[SendTicket(rawValue: nextTicket)] = 0
            var request = driver.request("upload \(nextTicket)", ticket: nextTicket)
            request.needsUpload = true
            tell(.sendRequested(request))
            nextTicket += 1
        case .uploaded:
            guard let id = uploads.first else { return }
            uploads.removeFirst()
            tell(.uploadFinished(id, .im(IMMessage(sender: 7, receiver: 8, content: "uploaded"))))
        case .uploadFailed:
            guard let id = uploads.first else { return }
            uploads.removeFirst()
            tell(.uploadFailed(id))
        case .refuse: acknowledge(status: .senderBlocked)
        case .offline: tell(.reachabilityChanged(false))
        case .online: tell(.reachabilityChanged(true))
        case .cancel: tell(.sendCancelled(.ticket(SendTicket(rawValue: 1))))
        case .deadline:
            if let deadline = driver.core.announcedDeadline { driver.now = max(driver.now, deadline) }
            tell(.deadline)
        case .malformed: tell(.received(driver.core.epoch, [UInt8](repeating: 0xFF, count: 12)))
        default: playRare(symbol)
        }
    }

    private mutating func playRare(_ symbol: Symbol) {
        switch symbol {
        case .startUnreadable:
            tell(.started(CoreDriver.identity))
            if driver.core.restoration == .underway { tell(.restoreFailed) }
        case .restored: if driver.core.restoration == .underway { tell(.restored(Self.restored)) }
        case .resolveFailed: tell(.resolveFailed(CoreDriver.endpoint))
        case .token: tell(.tokenProvided("fresh"))
        case .queued:
            let bytes = driver.frame(.im, .im(im("queued \(driver.serverSequence + 1)")))
            pushSequences["queued \(driver.serverSequence)"] = driver.serverSequence
            tell(.received(driver.core.epoch, bytes))
        case .unreadable:
            // A text that is no UTF-8; it is acknowledged at once, since there is nothing to store.
            var bytes = driver.frame(.im, .im(im("x")))
            bytes[bytes.count - 1] = 0xFF
            committedSequences.insert(driver.serverSequence)
            tell(.received(driver.core.epoch, bytes))
        case .enterRoom: tell(.roomEntered(3))
        case .leaveRoom: tell(.roomLeft(3))
        case .sendToRoom:
            guard driver.core.isRunning else { return }
            ended[SendTicket(rawValue: nextTicket)] = 0
            let message = RoomMessage(sender: 7, receiver: 3, content: "room \(nextTicket)")
            tell(
                .sendRequested(
                    SendRequest(
                        ticket: SendTicket(rawValue: nextTicket), command: .roomIM, body: .room(message))))
            nextTicket += 1
        case .live:
            let message = RTMessage(sender: 7, receiver: 8, content: "live")
            tell(.livePacketRequested(Packet(.rt, .room(message))))
        case .followGroup: tell(.superGroupAdded(Self.group, key: groupQueueKey))
        case .leaveGroup: tell(.superGroupRemoved(Self.group))
        case .pushToGroup: pushToGroup()
        case .endGroupRound:
            let end = GroupSyncKey(groupID: Self.group, key: groupQueueKey)
            receive(.syncGroupEnd, .groupSyncKey(end))
        default: break
        }
    }

    private mutating func pushToGroup() {
        let previous = groupQueueKey
        groupQueueKey += 1
        let bytes =
            driver.frame(
                .metadata, .metadata(Metadata(syncKey: groupQueueKey, previousSyncKey: previous)))
            + driver.frame(
                .groupIM, .im(im("group \(groupQueueKey)", to: Self.group)), flags: [.push, .superGroup])
        pushSequences["group \(groupQueueKey)"] = driver.serverSequence
        tell(.received(driver.core.epoch, bytes))
    }

    private mutating func receive(_ command: Command, _ body: PacketBody) {
        let bytes = driver.frame(command, body)
        tell(.received(driver.core.epoch, bytes))
    }

    private mutating func push() {
        let previous = queueKey
        let bytes =
            driver.frame(.metadata, .metadata(Metadata(syncKey: previous + 1, previousSyncKey: previous)))
            + driver.frame(.im, .im(im("key \(previous + 1)")), flags: .push)
        queueKey += 1
        pushSequences["key \(queueKey)"] = driver.serverSequence
        tell(.received(driver.core.epoch, bytes))
    }

    private mutating func acknowledge(status: ACKStatus = .success) {
        // In the order of the sends, so that the same symbols always do the same.
        for (_, slot) in driver.core.outbox.slots.sorted(by: { $0.key < $1.key }) {
            guard case .written(let sequence, _) = slot.stage else { continue }
            return receive(.ack, .ack(Acknowledgement(sequence: sequence, status: status)))
        }
    }

    private mutating func answer(isCommitted: Bool) {
        guard isBatchOut, let id = driver.core.commits.inFlight?.id else { return }
        isBatchOut = false
        if isCommitted {
            for change in outChanges {
                switch change {
                case .received(let message):
                    if let sequence = pushSequences[message.body.text ?? ""] {
                        committedSequences.insert(sequence)
                    }
                case .peerKey(let key): storedKey = key
                case .queued(let entry): stored.insert(entry.id)
                case .uploaded(let entry):
                    if entry.needsUpload { faults.append("\(entry.id) still needs an upload") }
                    if !stored.contains(entry.id) { faults.append("\(entry.id) was uploaded unstored") }
                case .acknowledged(let id, _), .refused(let id, _), .failed(let id, _), .cancelled(let id):
                    if stored.remove(id) == nil { faults.append("\(id) ended without being stored") }
                case .groupKey(_, let key): storedGroupKey = key
                case .groupRemoved: storedGroupKey = nil
                }
            }
            tell(.committed(batch: id, CommitOutcome()))
        } else {
            tell(.commitFailed(batch: id))
        }
    }

    private mutating func tell(_ event: ClientEvent) {
        let wasRunning = driver.core.isRunning
        let actions = driver.tell(event)
        if !wasRunning, event != .started(CoreDriver.identity), !actions.isEmpty {
            faults.append("acted while stopped: \(actions)")
        }
        for action in actions { check(action) }
    }

    private mutating func check(_ action: ClientAction) {
        switch action {
        case .open(let epoch, _, _):
            if openEpoch != nil { faults.append("a second connection is open") }
            openEpoch = epoch
        case .close(let epoch):
            if epoch != openEpoch { faults.append("closed what is not open") }
            openEpoch = nil
        case .write(let epoch, _):
            if epoch != openEpoch { faults.append("wrote to a closed connection") }
            checkWritten([action])
        case .commit(let batch):
            if isBatchOut { faults.append("two batches at once") }
            isBatchOut = true
            outChanges = batch.changes
            checkKeys(batch)
        case .notify(let notifications):
            for case .sendChanged(let report) in notifications where report.step.isLast {
                guard let ticket = report.ticket else { continue }
                ended[ticket, default: 0] += 1
                if ended[ticket] != 1 { faults.append("\(ticket) ended twice") }
            }
        case .upload(let entry):
            if uploads.contains(entry.id) { faults.append("asked twice for the upload of \(entry.id)") }
            if !stored.contains(entry.id) { faults.append("uploads what is not stored") }
            uploads.append(entry.id)
        case .cancelUpload(let id):
            if !uploads.contains(id) { faults.append("took back an upload that nobody makes") }
            uploads.removeAll { $0 == id }
        case .restore, .resolve, .setReading, .askToken, .setDeadline: break
        }
    }

    /// No packet may be acknowledged, no key reported, while the batch that holds it is not committed.
    private mutating func checkWritten(_ actions: [ClientAction]) {
        for packet in actions.packets() {
            switch packet.body {
            case .im(let message) where message.content.hasPrefix("upload "):
                faults.append("wrote a message that waits for its upload")
            case .ack(let acknowledgement) where !committedSequences.contains(acknowledgement.sequence):
                faults.append("acknowledged before the commit")
            case .groupSyncKey(let body) where packet.command == .groupSyncKey:
                // A group that was left in the meantime has no key any more.
                if let storedGroupKey, storedGroupKey != body.key {
                    faults.append("reported group key \(body.key) while \(storedGroupKey) is stored")
                }
            case .syncKey(let key) where packet.command == .syncKey && key != storedKey:
                faults.append("reported key \(key) while \(storedKey) is stored")
            case .syncKey(let key) where packet.command == .sync && key > queueKey:
                faults.append("asked beyond the queue")
            default: break
            }
        }
    }

    /// The key of a batch is that of its last message.
    private mutating func checkKeys(_ batch: StorageBatch) {
        var last: [MessageQueue: Int64] = [:]
        func check(_ key: Int64, of queue: MessageQueue) -> String? {
            guard let place = last.removeValue(forKey: queue), place != key else { return nil }
            return "key \(key) of \(queue) after message \(place)"
        }
        for change in batch.changes {
            var fault: String?
            switch change {
            case .received(let message): if let place = message.place { last[place.queue] = place.key }
            case .peerKey(let key): fault = check(key, of: .peer)
            case .groupKey(let group, let key): fault = check(key, of: .group(group))
            default: break
            }
            if let fault { faults.append(fault) }
        }
        if !last.isEmpty { faults.append("a pushed message without its key") }
    }

    /// Every send must have ended or be on its way.
    mutating func checkSends() {
        var pending = Set(driver.core.outbox.slots.values.compactMap(\.ticket))
        pending.formUnion(driver.core.requestsBeforeRestoration.map(\.ticket))
        // Decided while stopped, to be told after the next start.
        for case .sendChanged(let report) in driver.core.notifications where report.step.isLast {
            if let ticket = report.ticket { pending.insert(ticket) }
        }
        for (ticket, count) in ended where count == 0 && !pending.contains(ticket) {
            faults.append("\(ticket) was lost")
        }
        if stored.count > driver.core.outbox.slots.count { faults.append("the storage keeps a lost send") }
    }
}
