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

    private static let faultsMin = isThorough ? 60 : 12

    private struct Run {
        /// The states that the file may be in: every one that was reached, the newest last.
        var states: [StoreSight]
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
        var model = MemoryAccountStore(account: UserID(1), codec: RandomOperations.codec)
        var run = Run(states: [try await StoreSight(model, isThorough: false)])
        do {
            run.store = try SQLiteAccountStore(path: path, account: UserID(1), codec: RandomOperations.codec)
        } catch {
            guard !stopsAtError else { return run }
            run.store = try SQLiteAccountStore(path: path, account: UserID(1), codec: RandomOperations.codec)
        }
        var applied: [[StoreOperation]] = []
        for _ in 0..<Self.batchCount {
            let batch = random.batch()
            do {
                _ = try await run.store?.apply(batch)
            } catch {
                if stopsAtError {
                    _ = try await model.apply(batch)
                    run.states.append(try await StoreSight(model, isThorough: false))
                    run.isLastOpen = true
                    return run
                }
                // One failure only: the store goes on from the state before.
                let store = try #require(run.store)
                let sight = try await StoreSight(store, isThorough: false)
                let before = try await StoreSight(model, isThorough: false)
                if sight != before {
                    _ = try await model.apply(batch)
                    applied.append(batch)
                    #expect(
                        try await StoreSight(model, isThorough: false) == sight, "neither before nor after")
                }
                continue
            }
            _ = try await model.apply(batch)
            applied.append(batch)
            run.states.append(try await StoreSight(model, isThorough: false))
        }
        if !stopsAtError {
            model = MemoryAccountStore(account: UserID(1), codec: RandomOperations.codec)
            for batch in applied { _ = try await model.apply(batch) }
            run.states = [try await StoreSight(model, isThorough: false)]
        }
        return run
    }

    @Test(arguments: [RIVULET_FAULT_ERROR, RIVULET_FAULT_FULL].map(\.rawValue), seeds)
    func `after a failed write or a full disk the store goes on`(mode: UInt32, seed: UInt64) async throws {
        rivulet_fault_install()
        let folder = try TemporaryFolder()
        var numbers = Numbers(random: SplitMix(state: seed))
        var faultCount = 0
        while true {
            let number = numbers.next()
            try #require(number < Self.operationsMax)
            let path = folder.file("fault-\(number).db")
            // The first seed begins with a file that is there, the second makes it.
            if seed == Self.seeds[0] {
                await (try SQLiteAccountStore(path: path, account: UserID(1), codec: RandomOperations.codec))
                    .close()
            }
            rivulet_fault_arm(folder.path, rivulet_fault_mode(mode), number, seed)
            let run = try await play(path, seed: seed, stopsAtError: false)
            let hasFired = rivulet_fault_disarm() != 0
            let store = try #require(run.store)
            #expect(try await StoreSight(store, isThorough: false) == run.states.last, "operation \(number)")
            await store.close()
            let again = try SQLiteAccountStore(path: path, account: UserID(1), codec: RandomOperations.codec)
            #expect(
                try await StoreSight(again, isThorough: false) == run.states.last, "operation \(number), anew"
            )
            #expect(try await again.integrityFindings() == [], "operation \(number)")
            await again.close()
            try SQLiteAccountStore.delete(path: path)
            if !hasFired { break }
            faultCount += 1
        }
        // Without faults, the test would prove nothing.
        #expect(faultCount >= Self.faultsMin)
    }

    @Test(arguments: [RIVULET_FAULT_TEAR, RIVULET_FAULT_POWER].map(\.rawValue), seeds)
    func `a crash or power cut in any write leaves a state that was`(mode: UInt32, seed: UInt64) async throws
    {
        rivulet_fault_install()
        let folder = try TemporaryFolder()
        var numbers = Numbers(random: SplitMix(state: seed))
        var faultCount = 0
        while true {
            let number = numbers.next()
            try #require(number < Self.operationsMax)
            let path = folder.file("crash-\(number).db")
            if seed == Self.seeds[0] {
                await (try SQLiteAccountStore(path: path, account: UserID(1), codec: RandomOperations.codec))
                    .close()
            }
            rivulet_fault_arm(folder.path, rivulet_fault_mode(mode), number, seed &+ UInt64(number))
            let run = try await play(path, seed: seed, stopsAtError: true)
            // Closed while nothing more reaches the disk.
            await run.store?.close()
            let hasFired = rivulet_fault_disarm() != 0
            let again = try SQLiteAccountStore(path: path, account: UserID(1), codec: RandomOperations.codec)
            let sight = try await StoreSight(again, isThorough: false)
            // What the process did stays when only the process dies; the power takes the newest with it.
            let index = try #require(run.states.lastIndex(of: sight), "a state that never was: \(number)")
            if mode == RIVULET_FAULT_TEAR.rawValue {
                #expect(index >= run.states.count - (run.isLastOpen ? 2 : 1), "operation \(number) lost more")
            }
            #expect(try await again.integrityFindings() == [], "operation \(number)")
            await again.close()
            try SQLiteAccountStore.delete(path: path)
            if !hasFired { break }
            faultCount += 1
        }
        // Without faults, the test would prove nothing.
        #expect(faultCount >= Self.faultsMin)
    }

    // MARK: A long life

    /// A store that lives through one fault after another, beside the model of what it must hold.
    private struct Life {
        let path: String
        let mode: UInt32
        var store: SQLiteAccountStore
        var model = Self.makeModel()
        /// What became part of the store, and the sight after each; the first is that of an empty store.
        var applied: [[StoreOperation]] = []
        var sights: [StoreSight]
        /// How many of these cannot be lost, not even with the power.
        var safeCount = 0
        var faultCount = 0

        init(path: String, mode: UInt32) async throws {
            self.path = path
            self.mode = mode
            store = try Self.open(path)
            sights = [try await StoreSight(store)]
        }

        static func makeModel() -> MemoryAccountStore {
            MemoryAccountStore(account: UserID(1), codec: RandomOperations.codec)
        }

        static func open(_ path: String) throws -> SQLiteAccountStore {
            try SQLiteAccountStore(path: path, account: UserID(1), codec: RandomOperations.codec)
        }

        /// Applies a batch; true when it threw.
        mutating func apply(_ batch: [StoreOperation]) async throws -> Bool {
            do {
                _ = try await store.apply(batch)
            } catch is StoreError {
                return true
            }
            try await note(batch)
            return false
        }

        private mutating func note(_ batch: [StoreOperation]) async throws {
            _ = try await model.apply(batch)
            applied.append(batch)
            sights.append(try await StoreSight(model))
        }

        /// After a fault: the process and the file go on as they would.
        mutating func recover(from batch: [StoreOperation], hasThrown: Bool) async throws {
            faultCount += 1
            let isDeath = mode == RIVULET_FAULT_TEAR.rawValue || mode == RIVULET_FAULT_POWER.rawValue
            if isDeath {
                await store.close()
                _ = rivulet_fault_disarm()
                store = try Self.open(path)
            } else {
                _ = rivulet_fault_disarm()
            }
            if hasThrown {
                // A transaction that threw was done as a whole or not at all.
                try await note(batch)
            }
            let sight = try await StoreSight(store)
            let index = try #require(
                sights.lastIndex(of: sight),
                "a state that never was: \(sight.differences(from: sights[sights.count - 1]))")
            let mayBeLost = hasThrown ? 1 : 0
            let least = mode == RIVULET_FAULT_POWER.rawValue ? safeCount : applied.count - mayBeLost
            #expect(index >= least, "acknowledged transactions are lost")
            guard index < applied.count else { return }
            applied.removeSubrange(index...)
            sights.removeSubrange((index + 1)...)
            model = Self.makeModel()
            for batch in applied { _ = try await model.apply(batch) }
        }
    }

    @Test(
        arguments: [RIVULET_FAULT_ERROR, RIVULET_FAULT_FULL, RIVULET_FAULT_TEAR, RIVULET_FAULT_POWER]
            .map(\.rawValue), isThorough ? Array(seeds[0]...60) : seeds)
    func `through fault after fault the store equals its model`(mode: UInt32, seed: UInt64) async throws {
        rivulet_fault_install()
        let folder = try TemporaryFolder()
        var random = RandomOperations(seed: seed)
        var life = try await Life(path: folder.file("life.db"), mode: mode)
        var isArmed = false
        for round in 0..<40 {
            if !isArmed {
                life.safeCount = life.applied.count
                rivulet_fault_arm(
                    folder.path, rivulet_fault_mode(mode), 1 + random.number(60), seed &+ UInt64(round))
                isArmed = true
            }
            let batch = random.batch()
            let hasThrown = try await life.apply(batch)
            if rivulet_fault_has_fired() != 0 {
                try await life.recover(from: batch, hasThrown: hasThrown)
                isArmed = false
            } else {
                #expect(!hasThrown, "round \(round)")
                let expected = try #require(life.sights.last)
                let differences = try await StoreSight(life.store).differences(from: expected)
                try #require(differences == [], "round \(round)")
            }
        }
        _ = rivulet_fault_disarm()
        #expect(life.faultCount >= 8, "too few faults prove nothing")
        #expect(try await life.store.integrityFindings() == [])
        await life.store.close()
    }
}
