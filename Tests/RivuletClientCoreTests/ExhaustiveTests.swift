import RivuletWire
import Testing

@testable import RivuletClientCore

/// The things that can happen to a client, a small alphabet of them.
///
/// Symbols that make no sense at the moment (a commit while none is under way) fall through to the core all the same
/// where they can: it must hold its own.
enum Symbol: CaseIterable {
    case start, stop, background, foreground
    case opened, closed, loginAccepted, loginRefused, kick
    case push, endRound, acknowledge
    case committed, commitFailed
    case send, sendWithUpload, uploaded, uploadFailed, cancel, refuse
    case offline, online
    case deadline, malformed
}

/// Watches the actions of a core and keeps the books that its promises are checked against.
struct Auditor {
    var driver = CoreDriver()
    private var openEpoch: ConnectionEpoch?
    private var pushSequences: [String: Int32] = [:]
    private var committedSequences: Set<Int32> = []
    private var isBatchOut = false
    private var outChanges: [StorageChange] = []
    private var nextTicket: UInt64 = 1
    private var ended: [SendTicket: Int] = [:]
    private var storedKey: Int64 = 10
    private var queueKey: Int64 = 10
    private var stored: Set<SendID> = []
    /// What the shell was asked to upload and has not answered.
    private var uploads: [SendID] = []
    private(set) var faults: [String] = []

    mutating func play(_ symbol: Symbol) {
        switch symbol {
        case .start:
            tell(.started(CoreDriver.identity))
            if driver.core.restoration == .underway { tell(.restored(RestoredState(peerKey: 10))) }
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
        }
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
        for slot in driver.core.outbox.slots.values {
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
                case .groupKey, .groupRemoved: break
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
        var last: Int64?
        for change in batch.changes {
            switch change {
            case .received(let message): last = message.place?.key
            case .peerKey(let key):
                if let last, last != key { faults.append("key \(key) after message \(last)") }
                last = nil
            default: break
            }
        }
        if last != nil { faults.append("a pushed message without its key") }
    }

    /// Every send must have ended or be on its way.
    mutating func checkSends() {
        var pending = Set(driver.core.outbox.slots.values.compactMap(\.ticket))
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

@Suite("Every short sequence of events")
struct ExhaustiveTests {
    /// Prefixes from which all sequences are tried, so that they reach deep states.
    enum Beginning: CaseIterable {
        case nothing, started, loggingIn, online, sending, written

        var symbols: [Symbol] {
            switch self {
            case .nothing: []
            case .started: [.start]
            case .loggingIn: [.start, .opened]
            case .online: [.start, .opened, .loginAccepted, .endRound]
            case .sending: [.start, .opened, .loginAccepted, .endRound, .send]
            case .written: [.start, .opened, .loginAccepted, .endRound, .send, .committed, .push, .send]
            }
        }
    }

    /// The symbols to try behind a beginning: all of them where sequences are short.
    private static func alphabet(_ beginning: Beginning) -> [Symbol] {
        guard depth(beginning) > 3 else { return Symbol.allCases }
        let later: Set<Symbol> = [.sendWithUpload, .uploaded, .uploadFailed, .refuse, .offline, .online]
        return Symbol.allCases.filter { !later.contains($0) }
    }

    /// All sequences of up to this many symbols behind a beginning: the longest where most can happen.
    private static func depth(_ beginning: Beginning) -> Int {
        beginning == .online ? 4 : 3
    }

    @Test(arguments: Beginning.allCases)
    func `keeps every promise`(from beginning: Beginning) async {
        var auditor = Auditor()
        for symbol in beginning.symbols { auditor.play(symbol) }
        var count = 0
        let alphabet = Self.alphabet(beginning)
        for symbol in alphabet {
            // The other tests want their turn, too.
            await Task.yield()
            explore(
                auditor, alphabet, symbol, path: beginning.symbols, depth: Self.depth(beginning),
                count: &count)
        }
        #expect(count == (1...Self.depth(beginning)).reduce(0) { $0 + power(alphabet.count, $1) })
    }

    private func power(_ base: Int, _ exponent: Int) -> Int {
        (0..<exponent).reduce(1) { product, _ in product * base }
    }

    private func explore(
        _ auditor: Auditor, _ alphabet: [Symbol], _ symbol: Symbol, path: [Symbol], depth: Int,
        count: inout Int
    ) {
        var next = auditor
        next.play(symbol)
        next.checkSends()
        count += 1
        let path = path + [symbol]
        if !next.faults.isEmpty { Issue.record("\(path): \(next.faults)") }
        guard depth > 1 else { return }
        for symbol in alphabet {
            explore(next, alphabet, symbol, path: path, depth: depth - 1, count: &count)
        }
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `keeps every promise over a long random run`(seed: UInt64) {
        var random = SplitMixGenerator(seed: seed)
        var auditor = Auditor()
        var path: [Symbol] = []
        for _ in 0..<2000 {
            guard let symbol = Symbol.allCases.randomElement(using: &random) else { return }
            path.append(symbol)
            auditor.play(symbol)
            auditor.checkSends()
            guard auditor.faults.isEmpty else {
                Issue.record("\(path.suffix(12)): \(auditor.faults)")
                return
            }
        }
    }
}
