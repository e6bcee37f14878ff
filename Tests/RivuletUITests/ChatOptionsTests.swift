import Foundation
import RivuletArguments
import RivuletModel
import Testing

@testable import rivulet_chat

/// What the program takes on its command line, and what it refuses.
@MainActor @Suite struct ChatOptionsTests {
    private func options(_ line: String) throws -> ChatOptions {
        let words = line.split(separator: " ").map(String.init)
        guard case .run(let arguments) = ChatProgram.command.parse(words, environment: [:]) else {
            throw ChatError("not even parsed")
        }
        return try ChatOptions(arguments, ["XDG_DATA_HOME": "/data"])
    }

    private nonisolated static let signedIn = "--user 7 --token abc"

    @Test(arguments: [
        "", "--user 0 --token abc", "--user -3 --token abc", "--user 7", "--demo --user 0",
        "\(signedIn) --with 0",
        "\(signedIn) --with -5", "\(signedIn) --server :23000", "\(signedIn) --server host:99999",
        "\(signedIn) --server host:0", "\(signedIn) --server ::1", "\(signedIn) --size x1120x820",
        "\(signedIn) --size 1120x820x", "\(signedIn) --size 0x0", "\(signedIn) --size 900",
        "\(signedIn) --name -1=X", "\(signedIn) --name Ada", "\(signedIn) --theme none",
        "\(signedIn) --language xx",
        "\(signedIn) --direction up", "\(signedIn) --http ftp://host",
    ])
    func `a wrong word on the line is bad usage`(line: String) {
        #expect(throws: UsageError.self) { try options(line) }
    }

    @Test(arguments: [
        ("", "127.0.0.1", 23_000), ("--server chat.example", "chat.example", 23_000),
        ("--server chat.example:1", "chat.example", 1), ("--server [::1]:5", "::1", 5),
        ("--server [::1]", "::1", 23_000),
    ])
    func `a server has a host and perhaps a port`(words: String, host: String, port: UInt16) throws {
        let found = try options("\(Self.signedIn) \(words)")
        #expect(found.host == host)
        #expect(found.port == port)
        #expect(found.user == UserID(7))
    }
}
