import Foundation
import RivuletModel
import RivuletStore
import Testing

/// Random transactions on the file and on the model in memory, which must agree after each, whatever happens to the
/// process and the file in between.
@Suite("Store against its model")
struct StoreModelTests {
    static let seeds: [UInt64] = [1, 2, 3, 0xC0FFEE, 0x5EED]

    @Test(arguments: seeds) func `the file agrees with the model, also after crashes`(seed: UInt64)
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.file("account.db")
        var random = RandomOperations(seed: seed)
        var store = try SQLiteAccountStore(path: path, account: UserID(1), codec: RandomOperations.codec)
        let model = MemoryAccountStore(account: UserID(1), codec: RandomOperations.codec)
        for round in 0..<60 {
            let batch = random.batch()
            let outcomes = try await store.apply(batch)
            #expect(try await model.apply(batch) == outcomes, "round \(round)")
            if random.chance(5) {
                // The process is gone: nothing is closed, the file is opened anew.
                store = try SQLiteAccountStore(path: path, account: UserID(1), codec: RandomOperations.codec)
            }
            if random.chance(4) || round == 59 {
                let differences = try await StoreSight(store).differences(from: StoreSight(model))
                try #require(differences == [], "round \(round)")
            }
        }
        await store.close()
        #expect(
            try await StoreSight(
                SQLiteAccountStore(path: path, account: UserID(1), codec: RandomOperations.codec))
                == StoreSight(model))
    }

    @Test(arguments: seeds) func `the changes that are told lead from one state to the next`(
        seed: UInt64
    ) async throws {
        let folder = try TemporaryFolder()
        var random = RandomOperations(seed: seed)
        let store = try SQLiteAccountStore(
            path: folder.file("account.db"), account: UserID(1), codec: RandomOperations.codec)
        let stream = store.changes()
        for _ in 0..<60 { _ = try await store.apply(random.batch()) }
        var flows: [MessageID: Message] = [:]
        await store.close()
        var expected = 1
        for await changes in stream {
            #expect(changes.number == UInt64(expected))
            expected += 1
            for message in changes.inserted {
                #expect(flows.updateValue(message, forKey: message.id) == nil)
            }
            for message in changes.updated {
                #expect(flows.updateValue(message, forKey: message.id) != nil)
            }
            for id in changes.deleted { #expect(flows.removeValue(forKey: id) != nil) }
        }
        let again = try SQLiteAccountStore(
            path: folder.file("account.db"), account: UserID(1), codec: RandomOperations.codec)
        for session in RandomOperations.sessions {
            let told = flows.values.filter { $0.session == session }.sorted { $0.position < $1.position }
            #expect(try await again.page(PageQuery(session: session, limit: 1_000)).messages == told)
        }
    }

    @Test(arguments: seeds) func `a torn log loses the newest transactions as a whole`(seed: UInt64)
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.file("account.db")
        var random = RandomOperations(seed: seed)
        let store = try SQLiteAccountStore(path: path, account: UserID(1), codec: RandomOperations.codec)
        let model = MemoryAccountStore(account: UserID(1), codec: RandomOperations.codec)
        var states = [try await StoreSight(model)]
        for _ in 0..<25 {
            let batch = random.batch()
            _ = try await store.apply(batch)
            _ = try await model.apply(batch)
            states.append(try await StoreSight(model))
        }
        let log = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
        let file = try Data(contentsOf: URL(fileURLWithPath: path))
        var last = states.count - 1
        // Cut shorter and shorter, at any byte, with rubbish behind the cut.
        for cut in (0..<12).map({ _ in random.number(log.count) }).sorted(by: >) {
            let torn = folder.file("torn-\(cut).db")
            try file.write(to: URL(fileURLWithPath: torn))
            try (log[..<cut] + Data(repeating: 0xEE, count: 100)).write(
                to: URL(fileURLWithPath: torn + "-wal"))
            let sight = try await StoreSight(
                SQLiteAccountStore(path: torn, account: UserID(1), codec: RandomOperations.codec))
            let index = try #require(states.lastIndex(of: sight), "a state that never was, cut at \(cut)")
            #expect(index <= last)
            last = index
        }
    }

    /// A random test proves nothing of what it never does.
    @Test func `the random operations do everything that a store can do`() async throws {
        var effective: [String: Int] = [:]
        for seed in Self.seeds + (100..<106) {
            var random = RandomOperations(seed: seed)
            let model = MemoryAccountStore(account: UserID(1), codec: RandomOperations.codec)
            for _ in 0..<60 {
                let batch = random.batch()
                let outcomes = try await model.apply(batch)
                for (operation, outcome) in zip(batch, outcomes) where outcome != .ignored {
                    if case .duplicate = outcome { continue }
                    effective[operation.label, default: 0] += 1
                }
            }
        }
        let controls = [
            "revoke", "readed", "tag", "no tag", "edit", "end of stream", "reaction", "no reaction",
            "read mark",
            "vote", "pin", "no pin", "burned",
        ]
        let contents = [
            "text", "image", "audio", "link", "location", "poll", "burning", "unknown", "attachment",
            "notification",
        ]
        let expected = (contents + controls).flatMap { ["receive \($0)", "send \($0)"] }
        let others = [
            "receive video", "receive file", "history", "acknowledge", "acknowledge, placed", "fail",
            "cancel",
            "deliver", "key", "group key", "no group key", "upload", "save", "delete", "clear", "read",
            "read all", "draft",
            "pin conversation", "mute", "hide", "favourite", "no favourite", "contact", "no contact", "group",
            "members", "no group",
        ]
        let missing = (expected + others).filter { effective[$0] == nil }
        #expect(missing == [], "never took effect; what did: \(effective.keys.sorted())")
    }
}
