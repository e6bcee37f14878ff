import Foundation
import RivuletModel
import RivuletTestSupport
import Testing

@testable import RivuletCommands

/// Runs the program in this process and returns its status and output.
private func run(_ words: [String], environment: [String: String] = [:]) async -> (
    status: Int32, collector: Collector
) {
    let collector = Collector()
    let context = CommandContext(
        console: collector.console, environment: environment, time: plainFormatter.time, now: { 0 },
        input: -1,
        output: -1)
    return (await RivuletProgram(context: context).run(words), collector)
}

@Suite(.timeLimit(.minutes(2)))
struct RivuletProgramTests {
    @Test(arguments: [
        ([], "Usage: rivulet COMMAND"), (["chta"], "rivulet: unknown command chta; did you mean chat?"),
        (["send", "--to", "8", "x"], "rivulet: --user is missing"),
        (
            ["send", "--user", "7", "--to", "0", "x", "--token", "t"],
            "rivulet: --to: a user's number is 1 or more"
        ),
        (["chat", "--user", "seven", "--with", "8"], "rivulet: --user: 'seven' is not a whole number"),
        (
            ["chat", "--user", "7", "--with", "8", "--server", "a:b"],
            "rivulet: --server: 'a:b' is not a host or HOST:PORT"
        ),
        (["tail", "--user", "7", "--count", "-1"], "rivulet: --count must be 0 or more"),
        (
            ["history", "--user", "7", "--with", "8", "--limit", "0"],
            "rivulet: --limit must lie between 1 and 1000000"
        ),
        (["token", "create"], "rivulet: --user or --users is missing"),
        (["token", "create", "--user", "7", "--users", "1-2"], "rivulet: give --user or --users, not both"),
        (["token", "create", "--users", "1-999999999"], "rivulet: --users: at most 100000 at a time"),
        (["token", "create", "--user", "7", "--expires", "0s"], "rivulet: --expires must be 1s or more"),
    ])
    func `Wrong use is told in words and exits with 2`(_ words: [String], _ message: String) async {
        let result = await run(words)
        #expect(result.status == 2)
        #expect(result.collector.errors.first == message)
        #expect(result.collector.output.isEmpty)
    }

    @Test(arguments: [
        (["send", "--user", "7", "--to", "8", "x"], "rivulet: no token: name one with --token-file FILE"),
        (
            ["send", "--user", "7", "--to", "8", "x", "--token-file", "/nonexistent"],
            "rivulet: cannot read the token file /nonexistent"
        ),
        (
            ["send", "--user", "7", "--to", "8", "x", "--token", "t", "--store", "/dev/null/x"],
            "rivulet: cannot write in the store folder /dev/null/x"
        ),
        (
            ["history", "--user", "7", "--with", "8", "--store", "/nonexistent"],
            "rivulet: there is no store for user 7"
        ),
        (["token", "list", "--data", "/dev/null/x"], "rivulet: cannot create the data folder /dev/null/x"),
    ])
    func `A failure is told in words and exits with 1`(_ words: [String], _ message: String) async throws {
        let folder = try TemporaryFolder()
        let result = await run(words, environment: ["XDG_DATA_HOME": folder.path])
        #expect(result.status == 1)
        #expect(result.collector.errors.first?.hasPrefix(message) == true, "\(result.collector.errors)")
    }

    @Test func `A closed output ends the program without a word`() async {
        let errors = Collector()
        let console = Console { text, isError in
            if isError { errors.console.error(text) }
            return isError
        }
        let context = CommandContext(
            console: console, environment: [:], time: plainFormatter.time, now: { 0 }, input: -1, output: -1)
        #expect(await RivuletProgram(context: context).run(["help"]) == 141)
        #expect(errors.errors.isEmpty)
    }

    @Test func `Tokens are made, listed without their secrets, ended and revoked`() async throws {
        let folder = try TemporaryFolder()
        let data = ["--data", folder.path]
        let made = await run(
            ["token", "create", "--user", "7", "--label", "laptop\u{1B}[31m", "--expires", "1s"] + data)
        let token = made.collector.output.trimmingCharacters(in: .newlines)
        let list = await run(["token", "list"] + data)
        let row = try #require(list.collector.lines.last)
        #expect(row.contains("7") && row.contains("valid") && row.hasSuffix("laptop␛[31m"))
        #expect(!list.collector.output.contains(token))
        let revoked = await run(["token", "revoke", token] + data)
        #expect(revoked.collector.output.hasPrefix("revoked rvt_"))
        #expect(await run(["token", "list"] + data).collector.lines.last?.contains("revoked") == true)
        let unknown = await run(["token", "revoke", "secret-with-typo"] + data)
        #expect(unknown.status == 1)
        #expect(unknown.collector.errors.first?.contains("secret-with-typo") == false)
    }

    @Test(arguments: ["one two\n", "token\n", "8 other\n7 mine\n", "\n  token  \n"])
    func `A token file holds one token, or one for each user`(_ text: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "tokens")
        try Data(text.utf8).write(to: URL(filePath: path))
        switch text {
        case "one two\n": #expect(throws: CommandError.self) { try TokenFile.read(path, user: UserID(7)) }
        case "8 other\n7 mine\n": #expect(try TokenFile.read(path, user: UserID(7)) == "mine")
        default: #expect(try TokenFile.read(path, user: UserID(7)) == "token")
        }
    }

    @Test func `The device keeps its name`() throws {
        let folder = try TemporaryFolder()
        let first = try DeviceFile(folder: folder.path).device()
        #expect(first.hasPrefix("rivulet-"))
        #expect(try DeviceFile(folder: folder.path).device() == first)
    }

    @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
    func `A signal ends the demo on a terminal with its status and cleans up`(
        _ signal: Int32, _ status: Int32
    ) async throws {
        let folder = try TemporaryFolder()
        let program = try Program(
            "rivulet", ["demo"], environment: ["TERM": "xterm", "TMPDIR": folder.path], terminal: true)
        try await program.waitForLine(containing: "Good evening from the lighthouse")
        try program.type("half a li")
        program.signal(signal)
        #expect(try await program.waitForExit() == status)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func `A signal ends the piped demo, too, and cleans up`() async throws {
        let folder = try TemporaryFolder()
        let program = try Program("rivulet", ["demo"], environment: ["TMPDIR": folder.path])
        try await program.waitForLine(containing: "Good evening from the lighthouse")
        program.signal(SIGINT)
        #expect(try await program.waitForExit() == 130)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func `The demo on a terminal answers what is typed and ends with /quit`() async throws {
        let folder = try TemporaryFolder()
        let program = try Program(
            "rivulet", ["demo", "--pause", "10ms"],
            environment: ["TERM": "xterm", "TMPDIR": folder.path, "NO_COLOR": "1"],
            terminal: true)
        try await program.waitForLine(containing: "Good evening from the lighthouse")
        try program.type("hello\r")
        try await program.waitForLine(containing: "Hello, sailor!")
        #expect(!program.output.contains("\u{1B}[1;36m"))
        try program.type("/quit\r")
        #expect(try await program.waitForExit() == 0)
    }
}

struct InspectCommandTests {
    @Test func `A PING is inspected in both forms, and nonsense has its status`() async {
        let ping = "000000000000000d0d020000"
        let row = await run(["inspect", ping])
        #expect(row.status == 0)
        #expect(row.collector.output.contains("PING"))
        let json = await run(["inspect", "--json", "--role", "server", ping])
        #expect(json.collector.lines.count == 1)
        #expect(json.collector.output.contains("\"cmd_name\":\"PING\""))
        #expect(await run(["inspect", "--json", "0000000000000001ff020000"]).status == 1)
        #expect(await run(["inspect", "/nonexistent"]).status == 2)
        #expect(await run(["inspect", "--profile", "future", ping]).status == 2)
        #expect(await run(["inspect"]).status == 2)
    }
}

struct DemoPartnerTests {
    @Test(arguments: [
        ("Hello there", "Hello, sailor! Good to see your light."),
        ("hi!", "Hello, sailor! Good to see your light."),
        ("this thing", "I have written that into the log."),
        ("any ships?", "I log every ship that passes. Yours is the first tonight that talks back."),
        ("what?", "A good question. The stars may know; I only keep the lamp."), ("你好", "你好！灯塔的灯亮着，我也在。"),
        ("", "I have written that into the log."),
    ])
    func `Mira answers in character`(_ text: String, _ answer: String) {
        #expect(DemoPartner.answer(to: text, count: 0) == answer)
    }
}
