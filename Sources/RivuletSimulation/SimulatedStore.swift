import RivuletClientCore
import RivuletEngine
package import RivuletModel
import RivuletStore
import RivuletWire

/// The real store's rules of one device, over tables in memory, behind the translation that the programs use.
struct SimulatedStore {
    let tables: AccountTables
    private let mapping: BatchMapping

    init(_ device: SimulatedDevice, _ settings: SimulationSettings) {
        let account = UserID(Int64(device.user))
        tables = AccountTables(account: account, codec: SimulationContents.codec)
        mapping = BatchMapping(account: account, profile: settings.era, codec: SimulationContents.codec)
        // The groups that the app knows of at the start.
        let keys = device.disk.groupKeys.map { StoreOperation.setKey(group: $0.key, key: $0.value) }
        do {
            _ = try tables.apply(keys)
        } catch {
            // Then the client never asks for the group, and its messages are missed at the end.
        }
    }

    private init(tables: AccountTables, mapping: BatchMapping) {
        self.tables = tables
        self.mapping = mapping
    }

    func copy() -> SimulatedStore {
        SimulatedStore(tables: tables.copy(), mapping: mapping)
    }

    /// What a batch means to the store, and which of it are the received messages.
    func operations(of batch: StorageBatch) -> (operations: [StoreOperation], received: [Int?]) {
        mapping.operations(of: batch)
    }

    /// Which received messages are new, by what became of the operations.
    func isNew(_ received: [Int?], _ outcomes: [StoreOutcome]) -> [Bool] {
        mapping.outcome(received, outcomes).isNew
    }

    var restored: RestoredState { mapping.restored(tables.clientState).state }
}

/// The kinds of contents that the simulated work has.
package enum SimulationContents {
    /// Reads and writes them.
    package static let codec: ContentCodec = {
        var registry = ContentRegistry()
        do {
            try registry.register(BurnedContent.self)
        } catch {
            // The first kind of an empty registry is always taken; without it burning would be seen to fail.
        }
        return ContentCodec(registry: registry)
    }()
}

/// The reader's word that a message has burned (docs/extensions.md, section 1).
private struct BurnedContent: CustomContent {
    static let kind = MessageKind(rawValue: "burned")
    static let behavior = ContentBehavior.control

    var msgid: String

    var summary: String { "" }
    var effect: ContentEffect? { .erase(target: msgid) }
}

extension Simulation {
    /// Applies a batch to the real store, too, and compares.
    mutating func applyToStore(
        _ batch: StorageBatch, of index: Int, _ expected: [Bool], isInFile: Bool = false
    ) -> [Bool] {
        guard let store = devices[index].store else { return expected }
        var batch = batch
        if settings.bug == .receiptForgotten || settings.bug == .withdrawalForgotten {
            batch.changes.removeAll { isForgotten($0, on: index) }
        }
        do {
            let (operations, received) = store.operations(of: batch)
            let outcomes = try store.tables.apply(operations)
            if !isInFile { applyToFile(operations, outcomes, of: index) }
            keepState(of: index)
            let isNew = store.isNew(received, outcomes)
            var place = 0
            for change in batch.changes {
                guard case .received(let message) = change else { continue }
                defer { place += 1 }
                guard let number = MessageNumber.number(in: message.body), place < isNew.count,
                    ledger[number]?.content.isText == true, place < expected.count,
                    isNew[place] != expected[place], settings.bug == nil
                else { continue }
                ledger.fail(
                    .storeDiffers,
                    "client \(index): message \(number) is \(isNew[place] ? "new" : "known") to the store")
            }
            let unread = devices[index].disk.unread.count
            if store.tables.unreadTotal != unread, settings.bug == nil {
                ledger.fail(
                    .storeDiffers,
                    "client \(index): the store counts \(store.tables.unreadTotal) unread instead of \(unread)"
                )
            }
            return isNew.count == expected.count ? isNew : expected
        } catch {
            ledger.fail(.storeDiffers, "client \(index): the store failed: \(error)")
            return expected
        }
    }

    // MARK: At rest

    /// Checks what people see: each text once, in the order of the keys, changed and withdrawn as it should be.
    mutating func checkStore(of index: Int) {
        guard let store = devices[index].store else { return }
        let user = devices[index].user
        var expected: [ConversationName: [Int]] = [:]
        for queue in ledger.queueIDs(of: user) {
            var seen: Set<Int> = []
            for place in ledger.places(in: queue, of: user, known: devices[index].disk.known) {
                // A message to oneself stands in the queue twice and is seen once.
                guard let message = ledger[place.number], isInOrder(message, place.number, on: index),
                    seen.insert(place.number).inserted
                else { continue }
                expected[ledger.conversation(of: message, for: user), default: []].append(place.number)
            }
        }
        for session in store.tables.sessions {
            guard let name = ConversationName(session) else { continue }
            let rows = store.tables.shown(in: session).filter { $0.isSettled && $0.kind != "erased" }
            let numbers = rows.map { $0.uuid.flatMap { Int($0.dropFirst()) } ?? 0 }
                .filter { number in ledger[number].map { isInOrder($0, number, on: index) } ?? true }
            let wanted = expected.removeValue(forKey: name) ?? []
            if numbers != wanted {
                let difference = difference(numbers, wanted)
                ledger.fail(.disordered, "client \(index) shows in \(name) \(difference)")
            }
            for row in rows { checkText(row, on: index) }
        }
        for (name, wanted) in expected.sorted(by: { "\($0.key)" < "\($1.key)" }) {
            ledger.fail(.lost, "client \(index) does not show the \(wanted.count) messages of \(name)")
        }
    }

    /// Whether a message has its place in what people see; one that burned for this device alone has none.
    private func isInOrder(_ message: Ledger.Sent, _ number: Int, on index: Int) -> Bool {
        switch message.content {
        // In the first era the ACK alone gives an own message its place, by which time others may have come.
        case _ where settings.era == .seed && message.device == index: false
        // A user's own message that never comes back from the server gets no place among the others.
        case _ where ledger.isNeverReturned(message, number, to: devices[index].user): false
        // What the server lost with its files has no place that all devices agree upon.
        case _ where message.wasTakenBack: false
        // A server of the first era acknowledges what it refuses, so the author alone has it.
        case .text: !message.isDropped || message.isStored
        case .burning: !message.wasBurned && !devices[index].hasLocalMarks
        default: false
        }
    }

    private func difference(_ shown: [Int], _ wanted: [Int]) -> String {
        let place = zip(shown, wanted).prefix { $0 == $1 }.count
        return
            "\(shown.dropFirst(place).prefix(5)) instead of \(wanted.dropFirst(place).prefix(5)) at \(place)"
    }

    private mutating func checkText(_ row: AccountTables.ShownMessage, on index: Int) {
        guard let number = row.uuid.flatMap({ Int($0.dropFirst()) }), let message = ledger[number] else {
            return
        }
        let known = devices[index].disk.known
        // A change that the server lost holds where it came to.
        guard !message.wasTakenBack, !message.changes.contains(where: { ledger[$0]?.wasTakenBack == true })
        else { return }
        checkReceipts(row, number, message, on: index)
        // A server of the first era acknowledges a withdrawal that it refuses: the author alone goes by it.
        guard settings.era == .current || !devices[index].hasLocalMarks else { return }
        let isRevoked = ledger.isRevoked(message, known: known)
        if isRevoked != (row.kind == "revoked") {
            ledger.fail(
                .storeDiffers, "client \(index): message \(number) is \(row.kind), withdrawn: \(isRevoked)")
        }
        guard !isRevoked, message.content == .text, message.device != index else { return }
        let wanted = ledger.lastEdit(message, known: known).map { "\($0) changed" } ?? "\(number) hello"
        if row.text != wanted {
            ledger.fail(
                .storeDiffers,
                "client \(index): message \(number) says “\(row.text ?? "")” instead of “\(wanted)”")
        }
    }
}

extension ConversationName {
    fileprivate init?(_ session: Session) {
        switch session.kind {
        case .peer: self = .user(session.id)
        case .group: self = .group(session.id)
        case .customer: self = .customer(session.id)
        default: return nil
        }
    }
}
