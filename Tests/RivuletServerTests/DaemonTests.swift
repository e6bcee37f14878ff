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

    @Test func `the end of its input stops it in order, when it is told so, and else means nothing`()
        async throws
    {
        let program = try start(["--stop-at-eof"])
        try await program.waitForLine(containing: "listening on")
        try program.type("what comes is not looked at\n")
        try program.closeInput()
        #expect(try await program.waitForExit() == 0)
        #expect(program.output.contains("server stopped"))

        let other = try start()
        try other.closeInput()
        let line = try await other.waitForLine(containing: "listening on")
        let port = try #require(line.split(separator: ":").last.flatMap { UInt16($0) })
        let client = try await RawClient.connect(port: port)
        #expect(try await client.receiveUntilPong().isEmpty)
        other.signal(SIGTERM)
        #expect(try await other.waitForExit() == 0)
    }

    @Test func `SIGHUP lets it read the certificate again, and files that cannot be used change nothing`()
        async throws
    {
        let authority = try CertificateMaker()
        let made = try (0..<2).map { _ in try authority.certificate(for: ["DNS:localhost"]) }
        let (certificate, key) = (folder.path(of: "cert.pem"), folder.path(of: "key.pem"))
        func install(_ index: Int) throws {
            for (from, to) in [(made[index].certificateFile, certificate), (made[index].keyFile, key)] {
                try Data(contentsOf: URL(filePath: from)).write(to: URL(filePath: to))
            }
        }
        try install(0)
        let program = try start([
            "--listen-tls", "127.0.0.1:0", "--tls-cert", certificate, "--tls-key", key,
        ])
        let line = try await program.waitForLine(containing: "listening with TLS on 127.0.0.1:")
        let address = try #require(line.split(separator: " ").last.map(String.init))
        /// Which of the certificates a new connection is shown.
        func shown() throws -> [Int] {
            let (printed, _) = try runToEnd("/usr/bin/openssl", ["s_client", "-connect", address])
            return try made.indices.filter { index in
                let text = try String(contentsOfFile: made[index].certificateFile, encoding: .utf8)
                return printed.contains(text.trimmingCharacters(in: .newlines))
            }
        }
        #expect(try shown() == [0])
        try install(1)
        #expect(try shown() == [0], "not before it is asked to")
        program.signal(SIGHUP)
        try await program.waitForLine(containing: "certificate read again")
        #expect(try shown() == [1])
        try Data("no certificate".utf8).write(to: URL(filePath: certificate))
        program.signal(SIGHUP)
        try await program.waitForLine(containing: "the old certificate stays")
        #expect(try shown() == [1])
        program.signal(SIGTERM)
        #expect(try await program.waitForExit() == 0)
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
            "--stop-at-eof",
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
