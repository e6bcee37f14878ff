import Foundation
import RivuletServer
import RivuletTestSupport
import SQLiteKit
import Testing

/// The program `rivuletd` as people meet it.
@Suite struct DaemonTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func start(_ arguments: [String] = [], data: String? = nil) throws -> Program {
        try Program(
            "rivuletd", ["--data", data ?? folder.path(of: "data"), "--listen", "127.0.0.1:0"] + arguments)
    }

    private func startLimited(to count: Int) throws -> Program {
        let script = "ulimit -n \(count); exec \"$0\" \"$@\""
        return try Program(
            "/bin/sh",
            [
                "-c", script, Program.folder.appending(path: "rivuletd").path, "--data",
                folder.path(of: "data"),
                "--listen", "127.0.0.1:0",
            ])
    }

    /// Runs to the end; answers the exit status and what was printed.
    private func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> (
        Int32, String
    ) {
        let program = try Program("rivuletd", arguments, environment: environment)
        let status = try await program.waitForExit()
        return (status, program.output)
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `it listens, says where, and stops in order`(signal: Int32) async throws {
        let program = try start()
        let line = try await program.waitForLine(containing: "rivuletd: listening on 127.0.0.1:")
        #expect(!line.hasSuffix(":0"))
        program.signal(signal)
        #expect(try await program.waitForExit() == 0)
        #expect(program.output.contains("server stopped"))
    }

    @Test func `a taken port is named`() async throws {
        let first = try start()
        let line = try await first.waitForLine(containing: "listening on")
        let address = try #require(line.split(separator: " ").last.map(String.init))
        let (status, output) = try await run(["--data", folder.path(of: "other"), "--listen", address])
        #expect(status == 1)
        #expect(output.contains("\(address) is in use by another program"))
    }

    @Test func `a folder in use is named`() async throws {
        let first = try start()
        try await first.waitForLine(containing: "listening on")
        let (status, output) = try await run(["--data", folder.path(of: "data"), "--listen", "127.0.0.1:0"])
        #expect(status == 1)
        #expect(output.contains("another server uses the data folder \(folder.path(of: "data"))"))
    }

    @Test func `a folder that cannot be made is named`() async throws {
        let (status, output) = try await run(["--data", "/proc/nothing/here", "--listen", "127.0.0.1:0"])
        #expect(status == 1)
        #expect(output.contains("cannot create the data folder /proc/nothing/here"))
    }

    @Test(arguments: ["messages.sqlite", "accounts.sqlite"])
    func `a damaged file is named with what to do`(name: String) async throws {
        let data = folder.path(of: "data")
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        try Data(repeating: 0x58, count: 20_000).write(to: URL(filePath: "\(data)/\(name)"))
        let (status, output) = try await run(["--data", data, "--listen", "127.0.0.1:0"])
        #expect(status == 1)
        #expect(output.contains("\(data)/\(name) is damaged"))
        #expect(output.contains("move it away"))
    }

    @Test(arguments: ["messages.sqlite", "accounts.sqlite"])
    func `a file of a newer version is refused`(name: String) async throws {
        let first = try start()
        try await first.waitForLine(containing: "listening on")
        first.signal(SIGTERM)
        try await first.waitForExit()
        let database = try Database(path: folder.path(of: "data/\(name)"))
        try database.executeScript("PRAGMA user_version = 99")
        database.close()
        let (status, output) = try await run(["--data", folder.path(of: "data"), "--listen", "127.0.0.1:0"])
        #expect(status == 1)
        #expect(output.contains("\(name) was written by a newer version"))
    }

    @Test func `a file of another program is refused`() async throws {
        let data = folder.path(of: "data")
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        let database = try Database(path: data + "/messages.sqlite")
        try database.executeScript("CREATE TABLE recipe (name TEXT)")
        database.close()
        let (status, output) = try await run(["--data", data, "--listen", "127.0.0.1:0"])
        #expect(status == 1)
        #expect(output.contains("belongs to another program"))
    }

    @Test(arguments: [
        ["--nonsense"], ["--loops", "0"], ["--loops", "many"], ["--listen", "nowhere"], ["--sync-page", "0"],
        ["--log-level", "loud"], ["--log-format", "xml"], ["--ready-fd", "-1"], ["stray"],
    ])
    func `bad usage exits with 2 and points to the help`(arguments: [String]) async throws {
        let (status, output) = try await run(["--data", folder.path] + arguments)
        #expect(status == 2)
        #expect(output.contains("--help"))
    }

    @Test func `help and version exit with 0`() async throws {
        let (helpStatus, help) = try await run(["--help"])
        #expect(helpStatus == 0)
        for option in [
            "--listen", "--data", "--config", "--sync-page", "--loops", "--log-level", "--ready-fd",
        ] {
            #expect(help.contains(option))
        }
        let (versionStatus, version) = try await run(["--version"])
        #expect(versionStatus == 0)
        #expect(version.hasPrefix("rivuletd "))
    }

    @Test func `the configuration file counts where no option is given`() async throws {
        let file = folder.path(of: "rivuletd.json5")
        try Data(
            """
            {
                // comments are welcome
                listen: ['127.0.0.1:0', '127.0.0.2:0'],
                data: '\(folder.path(of: "from-file"))',
                logFormat: 'json', syncPage: 10, retentionDays: 30, checkFriends: true,
                checkBlacklist: false, customerServiceApp: 9, filteredWords: ['darn'],
            }
            """.utf8
        ).write(to: URL(filePath: file))
        let program = try Program("rivuletd", ["--config", file])
        try await program.waitForLine(containing: "listening on 127.0.0.2:")
        #expect(program.output.contains(#""message":"server started""#))
        #expect(FileManager.default.fileExists(atPath: folder.path(of: "from-file/messages.sqlite")))
        program.signal(SIGTERM)
        #expect(try await program.waitForExit() == 0)
    }

    @Test(arguments: [
        ("{ lisen: 'x' }", "unknown member 'lisen'"),
        ("{ loops: 'many' }", "'loops' has a value of the wrong kind"),
        ("{ loops: ", "is not JSON5"), ("[]", "the file has a value of the wrong kind"),
        ("{ syncPage: 0 }", "syncPage must lie between"),
        ("{ retentionDays: 0 }", "retentionDays must lie between"),
        ("{ filteredWords: 'darn' }", "'filteredWords' has a value of the wrong kind"),
        ("{ listen: 'nowhere' }", "is not HOST:PORT"),
    ])
    func `a bad configuration file is explained`(contents: String, complaint: String) async throws {
        let file = folder.path(of: "rivuletd.json5")
        try Data(contents.utf8).write(to: URL(filePath: file))
        let (status, output) = try await run(["--data", folder.path, "--config", file])
        #expect(status == 1)
        #expect(output.contains(complaint), "\(output)")
    }

    @Test func `a missing configuration file is named`() async throws {
        let (status, output) = try await run(["--config", folder.path(of: "none.json5")])
        #expect(status == 1)
        #expect(output.contains("none.json5"))
    }

    @Test func `without a home there must be a data folder`() async throws {
        let program = try Program("rivuletd", [], environment: ["HOME": "", "XDG_DATA_HOME": ""])
        #expect(try await program.waitForExit() == 1)
        #expect(program.output.contains("--data"))
    }

    @Test func `too few open files are refused or warned about`() async throws {
        let few = try startLimited(to: 40)
        #expect(try await few.waitForExit() == 1)
        #expect(few.output.contains("the system allows 40 open files"))
        let some = try startLimited(to: 200)
        try await some.waitForLine(containing: "listening on")
        #expect(some.output.contains("warning: the system allows only 200 open files"))
        some.signal(SIGTERM)
        #expect(try await some.waitForExit() == 0)
    }
}
