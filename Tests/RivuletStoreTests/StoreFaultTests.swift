import CFaultVFS
import Foundation
import RivuletModel
import RivuletStore
import Testing

/// The n-th write goes wrong, for n = 1, 2, 3 … until a whole run passes: SQLite's own method.
///
/// What was applied stays, what threw is undone or done as a whole, and the file opens again. With `RIVULET_SOAK` every n
/// is tried, else the seed picks about every fifth.
@Suite("Store with a failing disk", .serialized)
struct StoreFaultTests {
    static let seeds: [UInt64] = [11, 12]
    private static let batchCount = 5
    private static let isThorough = ProcessInfo.processInfo.environment["RIVULET_SOAK"] != nil
    /// A run has a few hundred operations; a fault that never comes would go on for ever.
    private static let operationsMax = 3_000

    private struct Run {
        /// The states that the file may be in: every one that was reached, the newest last.
        var states: [StoreModelTests.Sight]
        /// Whether the last state is one that was asked for and may not have been reached.
        var isLastOpen = false
        var store: SQLiteAccountStore?
    }

    /// The numbers of the operations that go wrong, one run each.
    private struct Numbers {
        var random: SplitMix
        var number = 0

        mutating func next() -> Int {
            number += isThorough ? 1 : 1 + Int(random.next() % 9)
            return number
        }
    }

    /// Plays the batches of a seed until something throws.
    private func play(_ path: String, seed: UInt64, stopsAtError: Bool) async throws -> Run {
        var random = RandomOperations(seed: seed)
        var model = MemoryAccountStore(account: UserID(1))
        var run = Run(states: [try await StoreModelTests.Sight(model)])
        do {
            run.store = try SQLiteAccountStore(path: path, account: UserID(1))
        } catch {
            guard !stopsAtError else { return run }
            run.store = try SQLiteAccountStore(path: path, account: UserID(1))
        }
        var applied: [[StoreOperation]] = []
        for _ in 0..<Self.batchCount {
            let batch = random.batch()
            do {
                _ = try await run.store?.apply(batch)
            } catch {
                if stopsAtError {
                    _ = try await model.apply(batch)
                    run.states.append(try await StoreModelTests.Sight(model))
                    run.isLastOpen = true
                    return run
                }
                // One failure only: the store goes on from the state before.
                let store = try #require(run.store)
                let sight = try await StoreModelTests.Sight(store)
                let before = try await StoreModelTests.Sight(model)
                if sight != before {
                    _ = try await model.apply(batch)
                    applied.append(batch)
                    #expect(try await StoreModelTests.Sight(model) == sight, "neither before nor after")
                }
                continue
            }
            _ = try await model.apply(batch)
            applied.append(batch)
            run.states.append(try await StoreModelTests.Sight(model))
        }
        if !stopsAtError {
            model = MemoryAccountStore(account: UserID(1))
            for batch in applied { _ = try await model.apply(batch) }
            run.states = [try await StoreModelTests.Sight(model)]
        }
        return run
    }

    @Test(arguments: [RIVULET_FAULT_ERROR, RIVULET_FAULT_FULL].map(\.rawValue), seeds)
    func `after a failed write or a full disk the store goes on`(mode: UInt32, seed: UInt64) async throws {
        rivulet_fault_install()
        let folder = try TemporaryFolder()
        var numbers = Numbers(random: SplitMix(state: seed))
        while true {
            let number = numbers.next()
            try #require(number < Self.operationsMax)
            let path = folder.file("fault-\(number).db")
            // The first seed begins with a file that is there, the second makes it.
            if seed == Self.seeds[0] {
                await (try SQLiteAccountStore(path: path, account: UserID(1))).close()
            }
            rivulet_fault_arm(folder.path, rivulet_fault_mode(mode), number, seed)
            let run = try await play(path, seed: seed, stopsAtError: false)
            let hasFired = rivulet_fault_disarm() != 0
            let store = try #require(run.store)
            #expect(try await StoreModelTests.Sight(store) == run.states.last, "operation \(number)")
            await store.close()
            let again = try SQLiteAccountStore(path: path, account: UserID(1))
            #expect(try await StoreModelTests.Sight(again) == run.states.last, "operation \(number), anew")
            #expect(try await again.integrityFindings() == [], "operation \(number)")
            await again.close()
            try SQLiteAccountStore.delete(path: path)
            if !hasFired { break }
        }
    }

    @Test(arguments: [RIVULET_FAULT_TEAR, RIVULET_FAULT_POWER].map(\.rawValue), seeds)
    func `a crash or power cut in any write leaves a state that was`(mode: UInt32, seed: UInt64) async throws
    {
        rivulet_fault_install()
        let folder = try TemporaryFolder()
        var numbers = Numbers(random: SplitMix(state: seed))
        while true {
            let number = numbers.next()
            try #require(number < Self.operationsMax)
            let path = folder.file("crash-\(number).db")
            if seed == Self.seeds[0] {
                await (try SQLiteAccountStore(path: path, account: UserID(1))).close()
            }
            rivulet_fault_arm(folder.path, rivulet_fault_mode(mode), number, seed &+ UInt64(number))
            let run = try await play(path, seed: seed, stopsAtError: true)
            // Closed while nothing more reaches the disk.
            await run.store?.close()
            let hasFired = rivulet_fault_disarm() != 0
            let again = try SQLiteAccountStore(path: path, account: UserID(1))
            let sight = try await StoreModelTests.Sight(again)
            // What the process did stays when only the process dies; the power takes the newest with it.
            let index = try #require(run.states.lastIndex(of: sight), "a state that never was: \(number)")
            if mode == RIVULET_FAULT_TEAR.rawValue {
                #expect(index >= run.states.count - (run.isLastOpen ? 2 : 1), "operation \(number) lost more")
            }
            #expect(try await again.integrityFindings() == [], "operation \(number)")
            await again.close()
            try SQLiteAccountStore.delete(path: path)
            if !hasFired { break }
        }
    }
}
