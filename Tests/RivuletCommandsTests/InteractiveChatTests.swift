import EditLineKit
import Foundation
import RivuletModel
import Testing

@testable import RivuletCommands

private func chat(
    _ backend: FakeBackend, _ terminal: PseudoTerminal, colour: Bool = false
) throws -> InteractiveChat {
    try #require(TerminalTests.isPrepared)
    let editor = try LineEditor(
        program: "test", prompt: "8> ", input: terminal.slave, output: terminal.slave, catchesSignals: false)
    let formatter = ChatFormatter(style: Style(usesColour: colour), time: plainFormatter.time)
    return InteractiveChat(backend: backend, peer: UserID(8), formatter: formatter, editor: editor)
}

extension TerminalTests {
    @Suite struct InteractiveChatTests {
        @Test func `History, typing, an interrupting message and the send states share the screen`()
            async throws
        {
            let terminal = try PseudoTerminal()
            let backend = FakeBackend(stored: [.sample(1, from: 8, text: "earlier")])
            let chat = try chat(backend, terminal)
            async let status = chat.run()
            await terminal.wait { $0.contains("10:42 8: earlier") && $0.last == "8>" }
            terminal.type("half a sent")
            await terminal.wait { $0.last == "8> half a sent" }
            backend.tell(.message(.sample(2, from: 8, text: "are you there?\u{1B}[2J")))
            await terminal.wait { $0.suffix(2) == ["10:42 8: are you there?␛[2J", "8> half a sent"] }
            terminal.type("ence\r")
            await terminal.wait { $0.suffix(2) == ["10:42 you: half a sentence  sending…", "8>"] }
            let sent = try #require(backend.sent.first)
            backend.settle(sent, .accepted)
            await terminal.wait { $0.suffix(2) == ["10:42 you: half a sentence  ✓", "8>"] }
            terminal.type("\u{4}")
            #expect(try await status == 0)
            #expect(backend.isStopped)
            #expect(terminal.unknown.isEmpty)
        }

        @Test func `Slash commands answer on the screen and are not sent`() async throws {
            let terminal = try PseudoTerminal()
            let backend = FakeBackend(stored: [.sample(1, from: 8, text: "earlier")])
            let chat = try chat(backend, terminal)
            async let status = chat.run()
            await terminal.wait { $0.contains("10:42 8: earlier") && $0.last == "8>" }
            terminal.type("/help\r")
            await terminal.wait { $0.contains { $0.hasPrefix("· /quit") } }
            terminal.type("/nope\r")
            await terminal.wait { $0.contains { $0.hasPrefix("· /nope is no command") } }
            terminal.type("/history 1\r")
            await terminal.wait { $0.contains("· the last 1") }
            terminal.type("/quit\r")
            #expect(try await status == 0)
            #expect(backend.sent.isEmpty)
        }

        @Test func `Leaving with something unsent says so`() async throws {
            let terminal = try PseudoTerminal()
            let backend = FakeBackend()
            let chat = try chat(backend, terminal)
            async let status = chat.run()
            await terminal.wait { $0.last == "8>" }
            terminal.type("lost?\r")
            await terminal.wait { $0.contains("10:42 you: lost?  sending…") }
            terminal.type("/quit\r")
            #expect(try await status == 0)
            await terminal.wait { $0.contains("· 1 not sent yet; kept for the next time") }
        }

        @Test(arguments: [true, false])
        func `Colours are written only when wanted`(_ colour: Bool) async throws {
            let terminal = try PseudoTerminal()
            let backend = FakeBackend(stored: [.sample(1, from: 8, text: "hi")])
            let chat = try chat(backend, terminal, colour: colour)
            async let status = chat.run()
            await terminal.wait { $0.contains("10:42 8: hi") }
            terminal.type("\u{4}")
            #expect(try await status == 0)
            #expect(terminal.output.contains("\u{1B}[1;36m8\u{1B}[0m") == colour)
        }
    }
}
