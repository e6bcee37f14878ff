import Foundation
import RivuletServer
import RivuletTestSupport
import Synchronization
import Testing

@testable import RivuletCommands

/// `rivulet group`, `room` and `friend` as people meet them, without and with a running server.
@Suite(.timeLimit(.minutes(2))) struct AdministrationTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Runs a command line; answers the exit status and what was printed.
    private func run(_ line: String) async -> (status: Int32, output: String, errors: String) {
        let printed = Mutex(("", ""))
        let console = Console { text, isError in
            printed.withLock { if isError { $0.1 += text } else { $0.0 += text } }
            return true
        }
        var context = CommandContext.standard()
        context.console = console
        context.environment = ["RIVULET_DATA": folder.path]
        let status = await RivuletProgram(context: context).run(line.split(separator: " ").map(String.init))
        let (output, errors) = printed.withLock { $0 }
        return (status, output, errors)
    }

    private func expect(
        _ line: String, prints output: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let result = await run(line)
        #expect(result.status == 0, "\(result.errors)", sourceLocation: sourceLocation)
        #expect(result.output == output, sourceLocation: sourceLocation)
    }

    private func tellStory() async throws {
        await expect("group create --owner 1 Crew 2 3", prints: "1\n")
        await expect("group create --owner 2 --super --id 50 Town", prints: "50\n")
        await expect(
            "group list",
            prints: """
                ID  NAME  OWNER  MEMBERS  KIND    STATE
                1   Crew  1      3        normal  open
                50  Town  2      1        super   open

                """)
        await expect("group members add 1 4 5", prints: "2 changes made\n")
        await expect("group members add 1 4", prints: "nothing to change\n")
        await expect("group members remove 1 5", prints: "1 change made\n")
        await expect("group role 1 2 admin", prints: "1 change made\n")
        await expect("group mute 1", prints: "1 change made\n")
        await expect("group mute 1 3", prints: "1 change made\n")
        await expect("group unmute 1", prints: "1 change made\n")
        await expect("group super 1 on", prints: "1 change made\n")
        await expect("group rename 1 Krew", prints: "1 change made\n")
        let shown = await run("group show 1")
        let lines = shown.output.split(separator: "\n").map(String.init)
        #expect(lines.first == "super group 1 \"Krew\", 4 members")
        #expect(lines.contains { $0.hasPrefix("2     admin ") })
        #expect(lines.contains { $0.hasPrefix("3     member ") && $0.hasSuffix("muted") })
        await expect("group dissolve 1", prints: "1 change made\n")

        await expect("room ban 7 1 2", prints: "2 changes made\n")
        await expect("room unban 7 1", prints: "1 change made\n")
        await expect("room list", prints: "ROOM  USER\n7     2\n")
        await expect("friend add 1 2 3", prints: "4 changes made\n")
        await expect("friend remove --one-way 1 3", prints: "1 change made\n")
        await expect("friend block 1 9", prints: "1 change made\n")
        await expect("friend list 1", prints: "USER  LIST\n2     friend\n9     blocked\n")
        await expect("friend list 3", prints: "USER  LIST\n1     friend\n")
        await expect("friend unblock 1 9", prints: "1 change made\n")
    }

    @Test func `everything works on the files of a stopped server`() async throws {
        try await tellStory()
    }

    @Test func `everything works on a running server`() async throws {
        var configuration = ServerConfiguration(data: DataDirectory(path: folder.path))
        configuration.listen = [ListenAddress(host: "127.0.0.1", port: 0)]
        let server = Server(configuration)
        try await server.start()
        try await tellStory()
        await server.stop()
    }

    @Test func `the answer as JSON is one line, also for a refusal`() async throws {
        var result = await run("group create --json --owner 1 Crew 2")
        #expect(result.status == 0)
        #expect(result.output.split(separator: "\n").count == 1)
        let answer = try JSONDecoder().decode(AdminAnswer.self, from: Data(result.output.utf8))
        #expect(answer.groups?.first?.members?.map(\.user) == [1, 2])
        result = await run("group show --json 99")
        #expect(result.status == 1)
        #expect(
            result.output
                == #"{"error":{"code":"no_such_group","message":"group 99 does not exist"},"ok":false}"#
                + "\n")
    }

    @Test(arguments: [
        ("group show 99", 1, "group 99 does not exist"), ("group show 0", 2, "GROUP must be 1 or more"),
        ("group show x", 2, "'x' is not a whole number"), ("group show", 2, "GROUP"),
        ("group role 1 2 king", 2, "'king' is not owner, admin or member"),
        ("group super 1 maybe", 2, "'maybe' is not on or off"),
        ("group create Crew", 2, "--owner"), ("group members add 9 1", 1, "group 9 does not exist"),
        ("room ban 1", 2, "USER"), ("room ban 1 -5", 2, ""), ("friend add 1 1", 1, "no list of their own"),
        ("friend add 1", 2, "OTHER"), ("group dance", 2, "dance"),
    ])
    func `a fault is told with its exit status`(line: String, status: Int32, part: String) async {
        let result = await run(line)
        #expect(result.status == status)
        #expect(part.isEmpty || result.errors.contains(part))
        #expect(!result.errors.isEmpty)
    }

    @Test func `control characters of a name do not reach the terminal`() async throws {
        let administration = ServerAdministration(of: DataDirectory(path: folder.path))
        let answer = try await administration.perform(
            .createGroup(id: nil, name: "a\u{202E}b", owner: 1, members: [], isSuper: false))
        #expect(answer.ok)
        #expect(await !run("group list").output.contains("\u{202E}"))
    }
}
