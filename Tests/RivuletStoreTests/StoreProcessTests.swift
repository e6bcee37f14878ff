import Foundation
import RivuletModel
import RivuletStore
import RivuletTestSupport
import SQLiteKit
import Testing

/// What happens around the file: other processes, damage, deletion.
@Suite("Store and its file")
struct StoreProcessTests {
    @Test func `processes use one file at once and none is told that it is locked`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("account.db")
        let count = 120
        let programs = try ["a", "b", "c"].map { name in
            try Program("store-hammer", [path, name, "\(count)"])
        }
        for program in programs {
            #expect(try await program.waitForExit(within: .seconds(100)) == 0, "\(program.output)")
        }
        let store = try SQLiteAccountStore(path: path, account: UserID(1))
        let page = try await store.page(PageQuery(session: .peer(UserID(2)), limit: 1_000))
        #expect(page.messages.count == 3 * count)
        // Each process's own messages stand in its own order.
        for name in ["a", "b", "c"] {
            let own = page.messages.compactMap(\.uuid).filter { $0.hasPrefix(name) }
            #expect(own == (0..<count).map { "\(name)-\($0)" })
        }
        #expect(try await store.integrityFindings() == [])
    }

    @Test func `a damaged file is kept aside and a new one begun`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("account.db")
        try Data("certainly no database, only words\n".utf8).write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: StoreError.self) {
            _ = try SQLiteAccountStore(path: path, account: UserID(1))
        }
        #expect(error?.code == .damaged)
        let store = try SQLiteAccountStore(path: path, account: UserID(1), damagePolicy: .keepAside)
        #expect(store.damagedFile == path + ".damaged-1")
        #expect(FileManager.default.contents(atPath: path + ".damaged-1")?.count == 34)
        #expect(try await store.clientState() == StoredClientState())
        #expect(try folder.mode(of: "account.db") == 0o600)
        await store.close()
    }

    @Test func `an account is deleted with everything beside it`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("account.db")
        for number in 1...2 {
            try Data("rubbish".utf8).write(to: URL(fileURLWithPath: "\(path).damaged-\(number)"))
        }
        let store = try SQLiteAccountStore(path: path, account: UserID(1))
        _ = try await store.apply([.setDraft(.group(1), "x")])
        await store.close()
        try SQLiteAccountStore.delete(path: path)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        // Nothing to delete is no error.
        try SQLiteAccountStore.delete(path: path)
    }

    @Test func `a file of another user is refused`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("account.db")
        await (try SQLiteAccountStore(path: path, account: UserID(1))).close()
        let error = #expect(throws: StoreError.self) {
            _ = try SQLiteAccountStore(path: path, account: UserID(2), damagePolicy: .keepAside)
        }
        #expect(error?.code == .foreignFile)
    }

    @Test func `an index of an older version is built anew`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("account.db")
        let codec = ContentCodec()
        var store = try SQLiteAccountStore(path: path, account: UserID(1))
        let operations = (0..<2_500).map { index in
            let raw = #"{"uuid":"u\#(index)","text":"word \#(index)"}"#
            return StoreOperation.receive(
                IncomingMessage(
                    session: .peer(UserID(2)), sender: UserID(2), isOutgoing: false, raw: raw,
                    content: codec.decode(raw), timeMilliseconds: 1))
        }
        _ = try await store.apply(operations)
        await store.close()
        let database = try Database(path: path)
        for shard in try database.rows("SELECT id FROM search_shard", make: { $0.integer(at: 0) }) {
            try database.executeScript("DROP TABLE search_\(shard)")
        }
        try database.executeScript(
            """
            ALTER TABLE session DROP COLUMN draft_details;
            DROP TABLE search_shard;
            DROP TABLE search_span;
            DROP TABLE own_change;
            CREATE VIRTUAL TABLE search USING fts5 (text, scope, content = '');
            PRAGMA user_version = 2;
            """)
        database.close()
        store = try SQLiteAccountStore(path: path, account: UserID(1))
        #expect(
            try await store.search(SearchQuery("word", limit: 3)).map(\.uuid) == ["u2499", "u2498", "u2497"])
        #expect(try await store.search(SearchQuery("0")).map(\.uuid) == ["u0"])
        await store.close()
    }

    @Test func `a file of a newer version is refused and left alone`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("account.db")
        await (try SQLiteAccountStore(path: path, account: UserID(1))).close()
        try Database(path: path).executeScript("PRAGMA user_version = 99")
        let error = #expect(throws: StoreError.self) {
            _ = try SQLiteAccountStore(path: path, account: UserID(1), damagePolicy: .keepAside)
        }
        #expect(error?.code == .newerVersion)
        #expect(try Database(path: path).integer("PRAGMA user_version") == 99)
    }
}
