import Foundation
import RivuletTestSupport
import Testing

/// Runs the sample sessions as programs, as a reader of Examples/ would.
@Suite(.serialized) struct `The sample sessions` {
    private func output(of name: String) async throws -> String {
        let program = try Program(name, [])
        let status = try await program.waitForExit(within: .seconds(60))
        #expect(status == 0, "\(name) ended with \(status):\n\(program.output)")
        return program.output
    }

    @Test func `a private chat has its checks, its preparations and its receipts`() async throws {
        let output = try await output(of: "example-private")
        for line in [
            "Ben answered Ada's message: true", "7: Shall we meet at the gate? [read by 1]",
            "8: Yes, at noon. 👍1", "7: Bring the keys (edited)", "[Message withdrawn]",
            "Note to myself: noon", "send not allowed: addresses are not allowed here",
        ] {
            #expect(output.contains(line), "no “\(line)” in\n\(output)")
        }
        #expect(!output.contains("example.org\n"))
    }

    @Test func `a group has rules for one of its members, mentions, and records`() async throws {
        let output = try await output(of: "example-group")
        for line in [
            "Ada mentioned: Ben", "From Hikers: Ada, Ben", "8: Thank you!", "[Poll] Which hill?",
            "send not allowed: please wait until somebody greets you",
        ] {
            #expect(output.contains(line), "no “\(line)” in\n\(output)")
        }
        #expect(!output.contains("Hello?"))
    }

    @Test func `a room has its history from the server, and each message once`() async throws {
        let output = try await output(of: "example-room")
        let lines = output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        for text in ["7: Anybody here?", "8: Now there is.", "7: Welcome!"] {
            #expect(lines.count { $0.hasPrefix(text) } == 2, "not twice, “\(text)”, in\n\(output)")
        }
        #expect(output.contains("send not allowed: 40 characters at most"))
    }

    @Test func `customer service signs, greets and keeps`() async throws {
        let output = try await output(of: "example-customer")
        for line in [
            "100: Welcome to the shop! (never sent)", "100: On its way. — Mia, customer service",
            "7: Where is my parcel?", "revoke not allowed: questions to the shop are kept", "Open a ticket",
        ] {
            #expect(output.contains(line), "no “\(line)” in\n\(output)")
        }
    }

    @Test func `a session behind a business server pages, tries again and renews its authorization`()
        async throws
    {
        let output = try await output(of: "example-http")
        for line in [
            "Two pages: 40", "7: I agree [accepted]", "8: So do I", "Withdrawing: unsupported",
            "Comments on the server: 46",
        ] {
            #expect(output.contains(line), "no “\(line)” in\n\(output)")
        }
    }

    @Test func `a foreign kit is joined, and its faults make no second row`() async throws {
        let output = try await output(of: "example-foreign")
        let lines = output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(
            lines == [
                "── Pigeons", "8: letter 1", "8: letter 2", "8: letter 3", "7: coo [accepted]",
                "7: in the storm [accepted]", "8: heard you", "! send failed",
            ])
    }

    @Test func `an app with a foreign kit links neither libuv, OpenSSL nor SQLite`() async throws {
        let linked = try await Self.libraries(of: "example-foreign")
        #expect(linked.contains("libswiftCore"))
        for library in ["libuv", "libssl", "libcrypto", "libsqlite3", "libgtk", "libmicrohttpd"] {
            #expect(!linked.contains(library))
        }
        // The check can see what it looks for.
        #expect(try await Self.libraries(of: "example-private").contains("libsqlite3"))
    }

    @Test(arguments: [
        "PrivateChat", "GroupChat", "ChatRoom", "CustomerService", "HTTPSession", "ForeignSDK",
    ])
    func `each is short`(folder: String) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = root.appending(path: "Examples/\(folder)/\(folder).swift")
        let lines = try String(contentsOf: file, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count < 150)
    }

    private static func libraries(of name: String) async throws -> String {
        let path = Program.folder.appending(path: name).path
        let program = try Program("/usr/bin/ldd", [path])
        _ = try await program.waitForExit()
        return program.output
    }
}
