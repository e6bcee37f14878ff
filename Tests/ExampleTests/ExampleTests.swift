import Foundation
import RivuletTestSupport
import Testing

/// The examples between two processes and a real server.
@Suite struct ExampleTests {
    private let folder: TemporaryFolder
    private let server: Program
    private let address: String

    init() async throws {
        folder = try TemporaryFolder()
        server = try Program(
            "rivuletd", ["--listen", "127.0.0.1:0", "--data", folder.path(of: "server")])
        let line = try await server.waitForLine(containing: "listening on ")
        address = try #require(
            line.split(separator: " ").last { $0.contains("127.0.0.1:") }.map(String.init))
    }

    private func start(_ example: String, user: Int, partner: Int) async throws -> Program {
        let made = try Program(
            "rivulet", ["token", "create", "--user", "\(user)", "--data", folder.path(of: "server")])
        try await made.waitForExit()
        let token = try #require(made.lines.last { !$0.isEmpty })
        let file = folder.path(of: "token-\(user)")
        try Data(token.utf8).write(to: URL(fileURLWithPath: file))
        return try Program(
            example, [address, "\(user)", file, "\(partner)", folder.path(of: "client-\(user)")])
    }

    @Test func `a nudge shakes the other's window once in ten seconds`() async throws {
        let ada = try await start("example-nudge", user: 7, partner: 8)
        let ben = try await start("example-nudge", user: 8, partner: 7)
        try ada.type("hello\n/nudge\n/nudge\n")
        try await ben.waitForLine(containing: "7: hello")
        try await ben.wait("to be nudged twice") { $0.components(separatedBy: "7 nudges 8").count == 3 }
        // The second nudge's own line is the last that could have brought another shake.
        try ben.type("stop it\n")
        try await ada.waitForLine(containing: "8: stop it")
        #expect(ben.output.components(separatedBy: "*shake*").count == 2)
        try ada.closeInput()
        try ben.closeInput()
        #expect(try await ada.waitForExit() == 0)
        #expect(try await ben.waitForExit() == 0)
    }

    @Test func `positions travel while the place is shared`() async throws {
        let ada = try await start("example-location", user: 7, partner: 8)
        let ben = try await start("example-location", user: 8, partner: 7)
        try ada.type("/share 600\n")
        try await ben.waitForLine(containing: "Sharing the location")
        try ada.type("/at 31.25 121.5\n/at 31.26 121.5\n")
        try await ben.waitForLine(containing: "7 is at 31.25, 121.5")
        // The second came within the same second.
        try await ada.waitForLine(containing: "not sent")
        try ada.type("/stop\n")
        try await ben.waitForLine(containing: "Location no longer shared")
        try ada.type("/at 31.27 121.5\nend\n")
        try await ben.waitForLine(containing: "7: end")
        #expect(!ben.output.contains("31.26"))
        #expect(!ben.output.contains("31.27"))
        try ada.closeInput()
        try ben.closeInput()
        #expect(try await ada.waitForExit() == 0)
        #expect(try await ben.waitForExit() == 0)
    }

    @Test func `burning leaves no trace of the text in any file`() async throws {
        let secret = "quicksilver-\(UUID().uuidString)"
        let ada = try await start("example-burn", user: 7, partner: 8)
        let ben = try await start("example-burn", user: 8, partner: 7)
        for index in 0..<20 { try ada.type("ordinary line \(index)\n") }
        try ada.type("/burn 1 the word is \(secret)\n")
        for index in 20..<40 { try ada.type("ordinary line \(index)\n") }
        try await ben.waitForLine(containing: secret)
        // Else the search for bytes would prove nothing.
        #expect(try !files(containing: secret, in: "client-8").isEmpty)
        #expect(try !files(containing: secret, in: "server").isEmpty)
        try await ben.waitForLine(containing: "burned: ")
        try await ada.waitForLine(containing: "burned: ")
        try await ben.waitForLine(containing: "ordinary line 39")
        // While everything runs: the server cuts its log when it is idle.
        for place in ["client-7", "client-8", "server"] {
            try await waitUntilForgotten(secret, in: place)
        }
        try ada.closeInput()
        try ben.closeInput()
        #expect(try await ada.waitForExit() == 0)
        #expect(try await ben.waitForExit() == 0)
        server.signal(SIGTERM)
        try await server.waitForExit()
        #expect(try files(containing: secret, in: "") == [])
        // The others are still there.
        #expect(try !files(containing: "ordinary line 3", in: "client-8").isEmpty)
    }

    private func waitUntilForgotten(_ text: String, in place: String) async throws {
        let deadline = ContinuousClock.now + .seconds(20)
        while try !files(containing: text, in: place).isEmpty, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(try files(containing: text, in: place) == [])
    }

    /// The files below a folder whose bytes hold the text, as UTF-8.
    private func files(containing text: String, in place: String) throws -> [String] {
        let root = URL(fileURLWithPath: folder.path(of: place))
        let names = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
        return names.filter { name in
            // A file may go while it is looked at.
            guard let bytes = FileManager.default.contents(atPath: root.appending(path: name).path) else {
                return false
            }
            return bytes.range(of: Data(text.utf8)) != nil
        }
    }
}
