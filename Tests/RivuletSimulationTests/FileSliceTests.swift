import CFaultVFS
import Foundation
import RivuletModel
import RivuletSimulation
import RivuletStore
import Testing

/// A slice of the worlds over SQLite and a disk that fills up, tears writes and loses with the power what was not synced.
@Suite(.serialized) struct FileSliceTests {
    /// The layer over SQLite knows one folder at a time, so one world runs after the other.
    ///
    /// In 9 and 14 the server's files are put back from copies, in 5 and 9 members of the super group come and go.
    @Test(arguments: [3, 5, 6, 9, 14] as [UInt64])
    func `worlds over real files hold all rules`(seed: UInt64) async throws {
        rivulet_fault_install()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "rivulet-slice-\(seed)-\(UInt64.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        rivulet_fault_record(folder.path)
        defer {
            rivulet_fault_record(nil)
            try? FileManager.default.removeItem(at: folder)
        }
        var settings = SimulationSettings(seed: seed)
        settings.clients = 6
        settings.milliseconds = 600_000
        settings.faultsPerHour = 300
        settings.messagesPerHour = 120
        // Not on the threads of Swift's tasks: the world waits for each file.
        let result = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { [settings] in
                var count = 0
                continuation.resume(
                    with: Result {
                        let log = try SQLiteLogFile(folder.path, seed: seed)
                        return try Simulation.run(settings, log: log) { account in
                            count += 1
                            return try SQLiteFile(folder.path, "\(count).db", account, seed: seed)
                        }
                    })
            }
        }
        #expect(result.violation == nil, "seed \(seed)")
        #expect(result.totals.stored > 30)
        #expect(result.totals.crashes > 3)
    }
}

/// An account's file whose disk fails when it is told to.
private final class SQLiteFile: SimulatedFile {
    /// A conversation that no world has: its draft says which transaction was the last.
    private static let marker = Session(kind: Session.Kind(rawValue: "marker"), id: 1)

    private let root: String
    private let folder: String
    private let path: String
    private let account: UserID
    private let seed: UInt64
    private var store: SQLiteAccountStore
    private var transaction = 0

    init(_ folder: String, _ name: String, _ account: UserID, seed: UInt64) throws {
        root = folder
        self.folder = folder + "/" + name
        path = folder + "/" + name
        self.account = account
        self.seed = seed
        store = try SQLiteAccountStore(path: path, account: account, codec: SimulationContents.codec)
    }

    func apply(_ operations: [StoreOperation]) throws -> [StoreOutcome] {
        transaction += 1
        let marked = operations + [.setDraft(Self.marker, "\(transaction)")]
        let outcomes = try wait { [store] in try await store.apply(marked) }
        // A world begins with files that nothing takes away.
        if transaction == 1 { rivulet_fault_record(root) }
        return Array(outcomes.dropLast())
    }

    func applyOnFullDisk(_ operations: [StoreOperation]) throws -> Bool {
        rivulet_fault_arm(folder, RIVULET_FAULT_FULL, 1, seed)
        do {
            _ = try apply(operations)
            _ = rivulet_fault_disarm()
        } catch {
            _ = rivulet_fault_disarm()
            let isThere = try lastTransaction() == transaction
            transaction -= isThere ? 0 : 1
            return isThere
        }
        return true
    }

    func crash(during operations: [StoreOperation], afterWrites count: Int, losesPower: Bool) throws -> Int {
        let mode = losesPower ? RIVULET_FAULT_POWER : RIVULET_FAULT_TEAR
        rivulet_fault_arm(folder, mode, count + 1, seed &+ UInt64(transaction))
        let before = transaction
        if !operations.isEmpty {
            do {
                _ = try apply(operations)
            } catch {
                // The program is dead; what its file holds is seen when it is opened again.
            }
        }
        wait { [store] in await store.close() }
        _ = rivulet_fault_disarm()
        store = try SQLiteAccountStore(path: path, account: account, codec: SimulationContents.codec)
        transaction = try lastTransaction()
        guard transaction <= before + 1, losesPower || transaction >= before else {
            throw SliceError(description: "transaction \(before) was done, and \(transaction) is the last")
        }
        return transaction - before
    }

    func clientState() throws -> StoredClientState {
        try wait { [store] in try await store.clientState() }
    }

    func check(against tables: AccountTables) throws -> String? {
        let findings = try wait { [store] in try await store.integrityFindings() }
        guard findings.isEmpty else { return "\(findings)" }
        for session in tables.sessions {
            let page = try wait { [store] in
                try await store.page(PageQuery(session: session, limit: PageQuery.limitMax))
            }
            let expected = tables.shown(in: session)
            guard page.messages.map(\.uuid) == expected.map(\.uuid) else {
                return "\(session) shows \(page.messages.map(\.uuid)) instead of \(expected.map(\.uuid))"
            }
            let kinds = page.messages.map(\.content.kind.rawValue)
            guard kinds == expected.map(\.kind) else {
                return "\(session) shows \(kinds) instead of \(expected.map(\.kind))"
            }
        }
        let unread = try wait { [store] in try await store.unreadTotal() }
        return unread == tables.unreadTotal ? nil : "\(unread) unread instead of \(tables.unreadTotal)"
    }

    private func lastTransaction() throws -> Int {
        let draft = try wait { [store] in try await store.conversation(Self.marker)?.draft }
        return draft.flatMap { Int($0) } ?? 0
    }

    // MARK: Waiting

    private final class Box<Value: Sendable>: @unchecked Sendable {
        // Invariant: written before the semaphore is signalled, read after it was waited for.
        var result: Result<Value, any Error>?
    }

    private func wait<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) throws -> Value {
        let box = Box<Value>()
        let semaphore = DispatchSemaphore(value: 0)
        Task.detached {
            do {
                box.result = .success(try await body())
            } catch {
                box.result = .failure(error)
            }
            semaphore.signal()
        }
        semaphore.wait()
        guard let result = box.result else { throw SliceError(description: "no answer") }
        return try result.get()
    }

    private func wait(_ body: @escaping @Sendable () async -> Void) {
        let semaphore = DispatchSemaphore(value: 0)
        Task.detached {
            await body()
            semaphore.signal()
        }
        semaphore.wait()
    }
}

struct SliceError: Error, CustomStringConvertible {
    let description: String
}
