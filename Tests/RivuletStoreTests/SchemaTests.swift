import Foundation
import RivuletModel
import SQLiteKit
import Testing

@testable import RivuletStore

@Suite struct SchemaTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// What SQLite does for a statement, step by step.
    private func steps(of sql: String, in database: Database) throws -> [String] {
        try database.rows("EXPLAIN \(sql)") { $0.text(at: 1) }
    }

    @Test(arguments: [
        "INSERT INTO message VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        "UPDATE message SET position = ?1 WHERE id = ?2 AND position IS NOT ?1",
        "UPDATE message SET server_key = ?, time_ms = ?, kind = ?, state = ?, flags = ? WHERE id = ?",
    ])
    func `writing a message makes no table on the way`(sql: String) throws {
        let path = folder.file("account.db")
        _ = try SQLiteAccountStore(path: path, account: UserID(1))
        let steps = try steps(of: sql, in: Database(path: path))
        #expect(steps.contains { $0.hasPrefix("Insert") || $0 == "IdxInsert" })
        #expect(!steps.contains("OpenEphemeral"), "\(steps)")
    }

    @Test func `a file of the version before finds its media after the step`() async throws {
        let path = folder.file("account.db")
        var before = Schema.migrations.steps
        before.removeLast()
        do {
            let database = try Database(path: path)
            try database.migrate(Migrations(applicationID: Schema.applicationID, steps: before))
            try database.executeScript(
                """
                INSERT INTO session (id, kind, peer, app, next_position, first_position, last_position, activity_ms)
                    VALUES (1, 'peer', 2, 0, 9, 1, 2, 5);
                INSERT INTO message VALUES (1, 1, 1, 2, 'a', 1, 0, 5, 'image', 0, NULL, 0, 0,
                    '{"uuid":"a","image2":{"url":"u","width":4,"height":3}}');
                INSERT INTO message VALUES (2, 1, 2, 2, 'b', 2, 0, 5, 'text', 0, NULL, 0, 0, '{"uuid":"b","text":"t"}');
                """)
        }
        let store = try SQLiteAccountStore(path: path, account: UserID(1))
        let found = try await store.media(MediaQuery(session: .peer(UserID(2))))
        #expect(found.map(\.uuid) == ["a"])
    }
}
