import Foundation
import RivuletModel
import RivuletStore
import SQLiteKit
import Testing

/// Files that are torn or overwritten: a clear error, the file is kept aside, and the next one works.
@Suite("Store and damage")
struct StoreDamageTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("account.db") }
    private let session = Session.peer(UserID(2))
    private static let codec = ContentCodec()

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open(_ policy: SQLiteAccountStore.DamagePolicy = .keepAside) throws -> SQLiteAccountStore {
        try SQLiteAccountStore(path: path, account: UserID(1), damagePolicy: policy)
    }

    private func messages(_ range: Range<Int>) -> [StoreOperation] {
        range.map { index in
            let raw = #"{"uuid":"u\#(index)","text":"word number \#(index) 汉字"}"#
            return .receive(
                IncomingMessage(
                    session: session, sender: UserID(2), isOutgoing: false, raw: raw,
                    content: Self.codec.decode(raw), timeMilliseconds: Int64(index)))
        }
    }

    /// A closed file of some hundred pages.
    private func fill() async throws -> Data {
        let store = try open()
        _ = try await store.apply(messages(0..<600))
        await store.close()
        return try Data(contentsOf: URL(fileURLWithPath: path))
    }

    private func put(_ bytes: Data) throws {
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    /// Does what a program does: reads, searches, writes.
    private func use(_ store: SQLiteAccountStore) async throws {
        _ = try await store.conversations(limit: 10, offset: 0)
        _ = try await store.page(PageQuery(session: session, place: .oldest, limit: 1_000))
        _ = try await store.page(PageQuery(session: session, limit: 1_000))
        _ = try await store.search(SearchQuery("word", order: .rank))
        _ = try await store.apply(messages(0..<600))
        _ = try await store.apply(messages(5_000..<5_050))
        _ = try await store.apply([.clear(session)])
    }

    @Test func `damage that is met in use is told, and the next start keeps the file aside`() async throws {
        var bytes = try await fill()
        // The first pages are those that are read at opening.
        for index in (30 * 4_096)..<bytes.count { bytes[index] = 0xA5 }
        try put(bytes)
        let store = try open()
        #expect(store.damagedFile == nil)
        let error = await #expect(throws: StoreError.self) { try await use(store) }
        #expect(error?.code == .damaged)
        await store.close()
        let refusal = #expect(throws: StoreError.self) { _ = try open(.refuse) }
        #expect(refusal?.code == .damaged)
        let next = try open()
        #expect(next.damagedFile == path + ".damaged-1")
        #expect(FileManager.default.contents(atPath: path + ".damaged-1") == bytes)
        #expect(try folder.mode(of: "account.db.damaged-1") == 0o600)
        try await use(next)
        await next.close()
        let last = try open()
        #expect(last.damagedFile == nil)
        await last.close()
        try SQLiteAccountStore.delete(path: path)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test func `damage of long rows is found by the check of a marked file`() async throws {
        let filled = try open()
        for index in 0..<60 {
            let raw = #"{"uuid":"u\#(index)","text":"\#(index) \#(String(repeating: "long ", count: 200))"}"#
            _ = try await filled.apply([
                .receive(
                    IncomingMessage(
                        session: session, sender: UserID(2), isOutgoing: false, raw: raw,
                        content: Self.codec.decode(raw), timeMilliseconds: 1))
            ])
        }
        await filled.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        for index in (30 * 4_096)..<bytes.count { bytes[index] = 0xA5 }
        try put(bytes)
        do {
            let store = try open()
            #expect(store.damagedFile == nil)
            let error = await #expect(throws: StoreError.self) {
                _ = try await store.page(PageQuery(session: session, limit: 1_000))
            }
            #expect(error?.code == .damaged)
            await store.close()
        }
        let next = try open()
        #expect(next.damagedFile == path + ".damaged-1")
        try await use(next)
        await next.close()
    }

    @Test func `an index of the search that is damaged alone is built anew`() async throws {
        _ = try await fill()
        let database = try Database(path: path)
        let pages = try database.rows(
            """
            SELECT pageno FROM dbstat WHERE pagetype = 'leaf' AND ncell = 1 AND payload > 3800
                AND name IN (SELECT 'search_' || id || '_data' FROM search_shard)
            """
        ) { Int($0.integer(at: 0)) }
        database.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        for page in pages {
            for index in 800..<3_500 { bytes[(page - 1) * 4_096 + index] = 0xA5 }
        }
        try #require(pages.count > 2)
        try put(bytes)
        let store = try open()
        let error = await #expect(throws: StoreError.self) {
            for word in ["word", "number", "599", "汉字"] { _ = try await store.search(SearchQuery(word)) }
            _ = try await store.apply([.clear(session)])
        }
        #expect(error?.code == .damaged)
        await store.close()
        let next = try open()
        #expect(next.damagedFile == nil)
        #expect(try await next.search(SearchQuery("word", limit: 500)).count == 500)
        try await use(next)
        await next.close()
    }

    @Test(arguments: [1, 2] as [UInt64]) func `a file that is cut short anywhere never ends the account`(
        seed: UInt64
    )
        async throws
    {
        let bytes = try await fill()
        var generator = SplitMix(state: seed)
        let cuts =
            [1, 99, 100, 511, 512, 4_095, 4_096, 8_192]
            + (0..<3).map { _ in Int(generator.next() % UInt64(bytes.count)) }
        for cut in cuts { try await survive(bytes.prefix(cut), "cut at \(cut)") }
    }

    @Test(arguments: [1, 2] as [UInt64]) func `a file with overwritten bytes never ends the account`(
        seed: UInt64
    )
        async throws
    {
        let bytes = try await fill()
        var generator = SplitMix(state: seed)
        for _ in 0..<8 {
            var torn = bytes
            let start = Int(generator.next() % UInt64(bytes.count))
            let length = 1 + Int(generator.next() % 20_000)
            for index in start..<min(bytes.count, start + length) {
                torn[index] = UInt8(truncatingIfNeeded: generator.next())
            }
            try await survive(torn, "\(length) bytes at \(start)")
        }
    }

    /// Whatever the file is: it works, or after an error that says so the next start works.
    private func survive(_ bytes: Data, _ what: Comment) async throws {
        try SQLiteAccountStore.delete(path: path)
        try put(bytes)
        var attempts = 0
        while true {
            attempts += 1
            try #require(attempts <= 3, what)
            let store: SQLiteAccountStore
            do {
                store = try open()
            } catch let error as StoreError {
                // The page that says whose file it is may be the damaged one.
                #expect([.foreignFile, .newerVersion].contains(error.code), what)
                return
            }
            do {
                try await use(store)
                await store.close()
                break
            } catch let error as StoreError {
                #expect(error.code == .damaged, what)
                await store.close()
            }
        }
    }
}
