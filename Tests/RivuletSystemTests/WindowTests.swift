import Foundation
import RivuletTestSupport
import Testing

/// The desktop program seen from outside: real windows on a display of the test's own, driven by keys.
@Suite(.serialized) struct WindowTests {
    private func window(
        of user: Int, with other: Int, token: String, in deployment: Deployment, on display: VirtualDisplay
    ) async throws -> (Program, id: String) {
        let title = "User \(other)"
        let program = try Program(
            "rivulet-chat",
            [
                "--user", "\(user)", "--with", "\(other)", "--server", deployment.address, "--strict",
                "--store",
                deployment.folder.path(of: "client-\(user)"), "--theme", "light",
            ], environment: display.environment.merging(["RIVULET_TOKEN": token]) { $1 })
        let found = try await display.xdotool("search", "--sync", "--onlyvisible", "--name", "^\(title)$")
        guard let id = found.split(separator: "\n").last else {
            throw Program.Failure(description: "no window of user \(user): \(program.output)")
        }
        return (program, String(id))
    }

    private func write(_ text: String, in window: String, on display: VirtualDisplay) async throws {
        try await display.xdotool("windowfocus", "--sync", window)
        try await display.xdotool("type", "--delay", "5", text)
        try await display.xdotool("key", "Return")
    }

    private func waitUntil(
        _ user: Int, has text: String, token: String, in deployment: Deployment, with other: Int
    ) async throws {
        let end = ContinuousClock.now.advanced(by: .seconds(40))
        while ContinuousClock.now < end {
            if try await history(of: user, with: other, token: token, in: deployment).contains(text) {
                return
            }
        }
        throw Program.Failure(description: "user \(user) did not get '\(text)'")
    }

    private func history(of user: Int, with other: Int, token: String, in deployment: Deployment) async throws
        -> [String]
    {
        let program = try deployment.client(
            "history", user: user, token: token, ["--with", "\(other)", "--json"])
        try await program.waitForExit()
        return program.lines.compactMap { line in
            let object = (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any]
            return object?["text"] as? String
        }
    }

    @Test(.timeLimit(.minutes(3)))
    func `two windows chat while the server is killed and started again`() async throws {
        let deployment = try await Deployment()
        let (first, second) = (try await deployment.token(for: 7), try await deployment.token(for: 8))
        let display = try await VirtualDisplay()
        let (ada, adaWindow) = try await window(of: 7, with: 8, token: first, in: deployment, on: display)
        let (ben, benWindow) = try await window(of: 8, with: 7, token: second, in: deployment, on: display)

        try await write("one", in: adaWindow, on: display)
        try await waitUntil(8, has: "one", token: second, in: deployment, with: 7)
        try await write("two", in: benWindow, on: display)
        try await waitUntil(7, has: "two", token: first, in: deployment, with: 8)

        try await deployment.killServer()
        try await write("three, while nobody listens", in: adaWindow, on: display)
        try await deployment.restartServer()
        try await waitUntil(8, has: "three, while nobody listens", token: second, in: deployment, with: 7)

        for program in [ada, ben] { program.signal(SIGTERM) }
        // Status 3 would say that GTK warned of something.
        #expect(try await ada.waitForExit(within: .seconds(20)) == 0, "\(ada.output.suffix(600))")
        #expect(try await ben.waitForExit(within: .seconds(20)) == 0, "\(ben.output.suffix(600))")
        let seen = try await history(of: 8, with: 7, token: second, in: deployment)
        #expect(seen == ["one", "two", "three, while nobody listens"])
    }
}
