import Foundation
import RivuletTestSupport
import Testing

/// What the first conversation promises, seen from outside: real processes, real sockets, real files.
@Suite struct ConversationTests {
    @Test func `two terminals chat while the server is killed and started again`() async throws {
        let deployment = try await Deployment()
        let (first, second) = (try await deployment.token(for: 7), try await deployment.token(for: 8))
        let ada = try deployment.client("chat", user: 7, token: first, ["--with", "8"], terminal: true)
        let ben = try deployment.client("chat", user: 8, token: second, ["--with", "7"], terminal: true)

        try ada.type("one\r")
        try await ben.waitForLine(containing: "one")
        try ben.type("two\r")
        try await ada.waitForLine(containing: "two")

        try await deployment.killServer()
        try ada.type("three, while nobody listens\r")
        try ben.type("four, likewise\r")
        try await deployment.restartServer()
        try await ben.waitForLine(containing: "three, while nobody listens", within: .seconds(60))
        try await ada.waitForLine(containing: "four, likewise", within: .seconds(60))
        try ada.type("five\r")
        try await ben.waitForLine(containing: "five")

        try ada.type("/quit\r")
        try ben.type("/quit\r")
        #expect(try await ada.waitForExit() == 0)
        #expect(try await ben.waitForExit() == 0)

        let adaSaw = try await history(of: 7, with: 8, token: first, in: deployment)
        let benSaw = try await history(of: 8, with: 7, token: second, in: deployment)
        #expect(adaSaw.sorted() == benSaw.sorted())
        #expect(Set(adaSaw).count == 5 && adaSaw.count == 5, "\(adaSaw)")
        for saw in [adaSaw, benSaw] {
            #expect(saw.first == "one" && saw.dropFirst().first == "two" && saw.last == "five", "\(saw)")
        }
    }

    @Test func `a user who was away for 5,000 messages gets each once, in order`() async throws {
        let deployment = try await Deployment(["--sync-page", "1000"])
        let (first, second) = (try await deployment.token(for: 7), try await deployment.token(for: 8))

        let sent = (1...5_000).map { "message \($0)" }
        let ada = try deployment.client("chat", user: 7, token: first, ["--with", "8"])
        try ada.type(sent.joined(separator: "\n") + "\n")
        try ada.closeInput()
        #expect(try await ada.waitForExit(within: .seconds(120)) == 0, "\(ada.output.suffix(500))")

        let ben = try deployment.client("tail", user: 8, token: second, ["--json", "--count", "5000"])
        #expect(try await ben.waitForExit(within: .seconds(120)) == 0, "\(ben.output.suffix(500))")
        let received = ben.lines.compactMap(text(ofLine:))
        #expect(received.count == 5_000)
        #expect(received == sent)

        let again = try deployment.client("tail", user: 8, token: second, ["--json", "--count", "1"])
        let late = try deployment.client("send", user: 7, token: first, ["--to", "8", "afterwards"])
        #expect(try await late.waitForExit() == 0, "\(late.output)")
        #expect(try await again.waitForExit() == 0, "\(again.output)")
        #expect(again.lines.compactMap(text(ofLine:)) == ["afterwards"], "nothing comes a second time")
    }

    /// The texts that a user's own store holds of a conversation, oldest first.
    private func history(
        of user: Int, with other: Int, token: String, in deployment: Deployment
    ) async throws -> [String] {
        let program = try deployment.client(
            "history", user: user, token: token, ["--with", "\(other)", "--json", "--limit", "1000"])
        #expect(try await program.waitForExit() == 0, "\(program.output)")
        return program.lines.compactMap(text(ofLine:))
    }

    /// The `text` of one line of JSON.
    private func text(ofLine line: String) -> String? {
        guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
            return nil
        }
        return object["text"] as? String
    }
}
