import Foundation
import SQLiteKit
import Testing

@Suite("SQLiteKit")
struct SQLiteKitTests {
    let folder: TemporaryFolder
    var path: String { folder.file("data.db") }

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func `every type of value comes back as it was bound`() throws {
        let database = try Database(path: path)
        try database.execute("CREATE TABLE t (a, b, c, d, e)")
        let text = "汉字 \u{0} ünï 🀄️"
        try database.execute(
            "INSERT INTO t VALUES (?, ?, ?, ?, ?)", .integer(.min), .real(1.5), .text(text),
            .blob([0, 255, 3]), .null)
        let found = try database.first("SELECT * FROM t") { row in
            #expect(row.integer(at: 0) == .min)
            #expect(row.real(at: 1) == 1.5)
            #expect(row.text(at: 2) == text)
            #expect(row.bytes(at: 3) == [0, 255, 3])
            let isNull = row.isNull(at: 4)
            #expect(isNull)
            #expect(row.optionalInteger(at: 4) == nil)
            #expect(row.optionalText(at: 2) == text)
            return true
        }
        #expect(found == true)
    }

    @Test func `empty text and empty blobs are not NULL`() throws {
        let database = try Database(path: path)
        try database.execute("CREATE TABLE t (a NOT NULL, b NOT NULL, c NOT NULL, d NOT NULL)")
        let insert = try database.statement("INSERT INTO t VALUES (?, ?, '', ?)")
        try insert.bind("", at: 1)
        try insert.bind([], at: 2)
        try insert.run(borrowing: [], at: 3)
        #expect(try database.first("SELECT * FROM t") { $0.bytes(at: 1) + $0.bytes(at: 3) } == [])
    }

    @Test func `borrowed values are stored and unbound afterwards`() throws {
        let database = try Database(path: path)
        try database.execute("CREATE TABLE t (a)")
        let insert = try database.statement("INSERT INTO t VALUES (?)")
        try insert.run(borrowing: [1, 2, 3], at: 1)
        try insert.run(borrowing: "four", at: 1)
        try insert.run()
        let all = try database.rows("SELECT typeof(a) FROM t ORDER BY rowid") { $0.text(at: 0) }
        #expect(all == ["blob", "text", "null"])
    }

    @Test func `a statement can be used again while it is being read`() throws {
        let database = try Database(path: path)
        let sql = "WITH n(i) AS (VALUES (1), (2), (3)) SELECT i FROM n"
        var pairs = 0
        try database.forEachRow(sql) { _ in
            try database.forEachRow(sql) { _ in pairs += 1 }
        }
        #expect(pairs == 9)
    }

    @Test func `an error tells its code and statement and hides the values`() throws {
        let database = try Database(path: path)
        try database.execute("CREATE TABLE t (a UNIQUE)")
        try database.execute("INSERT INTO t VALUES (?)", .text("secret"))
        let error = #expect(throws: SQLiteError.self) {
            try database.execute("INSERT INTO t VALUES (?)", .text("secret"))
        }
        #expect(error?.code.rawValue == 2067)
        #expect(error?.code.primary == .constraint)
        #expect(error?.symbolicName == "SQLITE_CONSTRAINT")
        #expect(error?.description.contains("INSERT INTO t VALUES (?)") == true)
        #expect(error?.description.contains("secret") == false)
    }

    @Test func `binding outside the parameters is refused`() throws {
        let database = try Database(path: path)
        let statement = try database.statement("SELECT ?")
        #expect(throws: SQLiteError.self) { try statement.bind(1, at: 2) }
        #expect(throws: SQLiteError.self) { try statement.bind("x", at: 0) }
        #expect(throws: SQLiteError.self) { try statement.bind([1], at: .max) }
    }

    @Test func `text without a statement is refused`() throws {
        let database = try Database(path: path)
        #expect(throws: SQLiteError.self) { try database.execute("-- nothing") }
        #expect(throws: SQLiteError.self) { try database.execute("SELEKT 1") }
    }

    @Test func `a transaction that throws leaves nothing behind`() throws {
        struct Change: Error {}
        let database = try Database(path: path)
        try database.execute("CREATE TABLE t (a)")
        #expect(throws: Change.self) {
            try database.transaction {
                try database.execute("INSERT INTO t VALUES (1)")
                throw Change()
            }
        }
        #expect(!database.isInTransaction)
        #expect(try database.integer("SELECT count(*) FROM t") == 0)
    }

    @Test func `a second writer is told that the file is busy`() throws {
        let first = try Database(path: path)
        try first.execute("CREATE TABLE t (a)")
        var options = DatabaseOptions()
        options.busyTimeoutMilliseconds = 1
        let second = try Database(path: path, options: options)
        try first.transaction {
            try first.execute("INSERT INTO t VALUES (1)")
            let error = #expect(throws: SQLiteError.self) { try second.transaction {} }
            #expect(error?.isBusy == true)
            // A reader is not kept waiting and sees the state before.
            #expect(try second.integer("SELECT count(*) FROM t") == 0)
        }
        try second.execute("INSERT INTO t VALUES (2)")
        #expect(try first.integer("SELECT count(*) FROM t") == 2)
    }

    @Test func `a full disk is an error and the file stays sound`() throws {
        let database = try Database(path: path)
        try database.execute("CREATE TABLE t (a)")
        try database.execute("PRAGMA max_page_count = 8")
        let error = #expect(throws: SQLiteError.self) {
            try database.transaction {
                for _ in 0..<100 {
                    try database.execute(
                        "INSERT INTO t VALUES (?)", .blob([UInt8](repeating: 7, count: 4_000)))
                }
            }
        }
        #expect(error?.code.primary == .full)
        #expect(!database.isInTransaction)
        #expect(try database.integer("SELECT count(*) FROM t") == 0)
        #expect(try database.quickCheck() == [])
    }

    @Test func `migrations run once, in order, and in one transaction`() throws {
        let scripts = ["CREATE TABLE a (x)", "CREATE TABLE b (x)", "CREATE TABLE broken ("]
        let database = try Database(path: path)
        try database.migrate(Migrations(applicationID: 77, scripts: Array(scripts[..<1])))
        #expect(throws: SQLiteError.self) {
            try database.migrate(Migrations(applicationID: 77, scripts: scripts))
        }
        #expect(try database.integer("PRAGMA user_version") == 1)
        #expect(try database.integer("SELECT count(*) FROM sqlite_schema") == 1)
        try database.migrate(Migrations(applicationID: 77, scripts: Array(scripts[..<2])))
        #expect(try database.integer("PRAGMA user_version") == 2)
        #expect(try database.integer("PRAGMA application_id") == 77)
    }

    @Test func `a file of a newer program is refused and stays as it is`() throws {
        let newer = Migrations(applicationID: 77, scripts: ["CREATE TABLE a (x)", "CREATE TABLE b (x)"])
        try Database(path: path).migrate(newer)
        let older = Migrations(applicationID: 77, scripts: ["CREATE TABLE a (x)"])
        let error = #expect(throws: SQLiteError.self) { try Database(path: path).migrate(older) }
        #expect(error?.code == .schemaIsNewer)
        #expect(try Database(path: path).integer("PRAGMA user_version") == 2)
    }

    @Test func `a file of another program is refused`() throws {
        try Database(path: path).execute("CREATE TABLE foreign_thing (x)")
        let error = #expect(throws: SQLiteError.self) {
            try Database(path: path).migrate(Migrations(applicationID: 77, scripts: []))
        }
        #expect(error?.code == .foreignFile)
    }

    @Test func `a file that is no database is recognised`() throws {
        try Data("this is certainly not a database, only some text\n".utf8).write(
            to: URL(fileURLWithPath: path))
        let error = #expect(throws: SQLiteError.self) { _ = try Database(path: path) }
        #expect(error?.isCorrupt == true)
    }

    @Test func `a file with overwritten pages is recognised`() throws {
        do {
            let database = try Database(path: path)
            try database.execute("CREATE TABLE t (a)")
            for index in 0..<500 {
                try database.execute(
                    "INSERT INTO t VALUES (?)", .text(String(repeating: "x", count: 100 + index)))
            }
            try database.checkpoint(truncates: true)
        }
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        for index in 4_096..<20_000 { bytes[index] = 0xA5 }
        try bytes.write(to: URL(fileURLWithPath: path))
        let database = try Database(path: path)
        do {
            #expect(try database.quickCheck() != [])
        } catch let error as SQLiteError {
            #expect(error.isCorrupt)
        }
    }

    @Test(arguments: [true, false])
    func `a write-ahead log with room behind it is read up to what was written`(truncatesFirst: Bool) throws {
        let database = try Database(path: path)
        try database.execute("CREATE TABLE t (a)")
        try database.execute("INSERT INTO t VALUES (1)")
        if truncatesFirst { try database.checkpoint(truncates: true) }
        let roomBytes = 1 << 20
        database.reserveWriteAheadLog(roomBytes)
        database.reserveWriteAheadLog(roomBytes)
        #expect(try Data(contentsOf: URL(filePath: path + "-wal")).count == roomBytes)
        for number in 2...40 { try database.execute("INSERT INTO t VALUES (?)", .integer(Int64(number))) }
        // As a crash leaves them: nothing was closed.
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: path + ".copy" + suffix)
        }
        let copy = try Database(path: path + ".copy")
        #expect(try copy.rows("SELECT a FROM t ORDER BY a") { $0.integer(at: 0) } == Array(1...40))
        #expect(try copy.integrityCheck() == [])
        copy.reserveWriteAheadLog(0)
        #expect(try copy.checkpoint(truncates: true))
        #expect(try database.integer("SELECT count(*) FROM t") == 40)
    }

    @Test func `without a write-ahead log there is nothing to give room to`() throws {
        let database = try Database(path: ":memory:")
        database.reserveWriteAheadLog(1 << 20)
        try database.execute("CREATE TABLE t (a)")
        #expect(!FileManager.default.fileExists(atPath: ":memory:-wal"))
    }

    @Test func `new files are for their owner only`() throws {
        let database = try Database(path: path)
        try database.execute("CREATE TABLE t (a)")
        for name in ["data.db", "data.db-wal", "data.db-shm"] {
            #expect(try folder.mode(of: name) == 0o600, "\(name)")
        }
    }

    @Test func `a missing file is not made by a reader`() throws {
        let error = #expect(throws: SQLiteError.self) { _ = try Database(path: path, options: .readOnly) }
        #expect(error?.code.primary == .cannotOpen)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `a reader cannot write`() throws {
        try Database(path: path).execute("CREATE TABLE t (a)")
        let reader = try Database(path: path, options: .readOnly)
        #expect(throws: SQLiteError.self) { try reader.execute("INSERT INTO t VALUES (1)") }
    }

    @Test func `a closed connection says so`() throws {
        let database = try Database(path: path)
        let interrupter = database.interrupter
        database.close()
        interrupter.interrupt()
        let error = #expect(throws: SQLiteError.self) { try database.execute("SELECT 1") }
        #expect(error?.code == .closed)
    }

    @Test func `a queue reads and writes from concurrent tasks`() async throws {
        let queue = try DatabaseQueue(path: path) { try $0.executeScript("CREATE TABLE t (a)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for value in 0..<50 {
                group.addTask {
                    try await queue.write {
                        try $0.execute("INSERT INTO t VALUES (?)", .integer(Int64(value)))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await queue.read { try $0.integer("SELECT sum(a) FROM t") } == 1_225)
        #expect(try queue.performBlocking { try $0.integer("SELECT count(*) FROM t") } == 50)
        queue.close()
        await #expect(throws: SQLiteError.self) { try await queue.read { try $0.integer("SELECT 1") } }
    }

    @Test func `a running statement is stopped from outside`() async throws {
        let queue = try DatabaseQueue(path: path)
        let interrupter = queue.interrupter
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let work = Task {
            try await queue.perform { database in
                start.yield()
                return try database.integer(
                    "WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n")
            }
        }
        for await _ in started { break }
        // The statement may not have begun yet: interrupting nothing does nothing, so repeat until it ends.
        let stopper = Task {
            while !Task.isCancelled {
                interrupter.interrupt()
                await Task.yield()
            }
        }
        let error = await #expect(throws: SQLiteError.self) { _ = try await work.value }
        stopper.cancel()
        #expect(error?.code.primary == .interrupted)
    }
}
