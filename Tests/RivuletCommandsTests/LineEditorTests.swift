import EditLineKit
import Foundation
import Testing

private func editor(_ terminal: PseudoTerminal, prompt: String = "8> ") throws -> LineEditor {
    try #require(TerminalTests.isPrepared)
    return try LineEditor(
        program: "test", prompt: prompt, input: terminal.slave, output: terminal.slave, catchesSignals: false)
}

/// Tests with a line editor, one at a time: the terminal library below libedit keeps its terminal in a global variable.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct TerminalTests {
    /// The terminal's kind, which libedit reads from the environment.
    static let isPrepared = setenv("TERM", "xterm", 1) == 0
}

extension TerminalTests {
    @Suite struct LineEditorTests {
        @Test(arguments: ["hello", "你好，世界", "a😀b", "naïve", "x"])
        func `A typed line is returned and taken off the screen`(_ text: String) async throws {
            let terminal = try PseudoTerminal()
            let editor = try editor(terminal)
            async let input = onThread { editor.readLine() }
            await terminal.wait { $0.last == "8>" }
            terminal.type(text)
            await terminal.wait { $0.last == "8> \(text)" }
            terminal.type("\r")
            #expect(await input == .line(text))
            await terminal.wait { $0 == [""] }
            #expect(terminal.unknown.isEmpty)
        }

        @Test(arguments: [
            "", "hel", "你好", "a longer line that wraps around the narrow edge of the terminal, twice or so",
        ])
        func `A message appears above the line being typed, and the line is whole`(_ typed: String)
            async throws
        {
            let terminal = try PseudoTerminal(columns: 30)
            let editor = try editor(terminal)
            async let input = onThread { editor.readLine() }
            let whole = "8> \(typed)"
            await terminal.wait { $0 == ["8>"] }
            terminal.type(typed)
            await terminal.wait { $0.joined().filter { $0 != " " } == whole.filter { $0 != " " } }
            for number in 1...3 {
                editor.show("message \(number)")
                await terminal.wait { screen in
                    screen.prefix(number) == ["message 1", "message 2", "message 3"].prefix(number)
                        && screen.dropFirst(number).joined().filter { $0 != " " }
                            == whole.filter { $0 != " " }
                }
            }
            terminal.type("!\r")
            #expect(await input == .line(typed + "!"))
            await terminal.wait { $0 == ["message 1", "message 2", "message 3", ""] }
        }

        @Test func `The cursor stays where it was in the line`() async throws {
            let terminal = try PseudoTerminal()
            let editor = try editor(terminal)
            async let input = onThread { editor.readLine() }
            await terminal.wait { $0 == ["8>"] }
            terminal.type("word")
            await terminal.wait { $0.last == "8> word" }
            terminal.type("\u{1B}[D\u{1B}[D")
            editor.show("above")
            await terminal.wait { $0 == ["above", "8> word"] }
            terminal.type("X")
            await terminal.wait { $0 == ["above", "8> woXrd"] }
            terminal.type("\r")
            #expect(await input == .line("woXrd"))
        }

        @Test func `An updated text replaces itself while it is the last, and is repeated otherwise`()
            async throws
        {
            let terminal = try PseudoTerminal()
            let editor = try editor(terminal)
            async let input = onThread { editor.readLine() }
            editor.show("hello  sending…", id: 1)
            await terminal.wait { $0 == ["hello  sending…", "8>"] }
            editor.update(1, text: "hello  ✓", otherwise: "✓ hello")
            await terminal.wait { $0 == ["hello  ✓", "8>"] }
            editor.show("other")
            editor.update(1, text: "never", otherwise: "✓✓ hello")
            await terminal.wait { $0 == ["hello  ✓", "other", "✓✓ hello", "8>"] }
            editor.cancel()
            #expect(await input == .cancelled)
        }

        @Test func `The arrow key brings earlier lines back`() async throws {
            let terminal = try PseudoTerminal()
            let editor = try editor(terminal)
            for line in ["first", "second 你"] {
                async let input = onThread { editor.readLine() }
                await terminal.wait { $0 == ["8>"] }
                terminal.type(line + "\r")
                #expect(await input == .line(line))
            }
            async let input = onThread { editor.readLine() }
            await terminal.wait { $0.last == "8>" }
            terminal.type("\u{1B}[A")
            await terminal.wait { $0.last == "8> second 你" }
            terminal.type("\u{1B}[A")
            await terminal.wait { $0.last == "8> first" }
            terminal.type("\r")
            #expect(await input == .line("first"))
        }

        @Test func `Ctrl-D on an empty line is the end, and so is a terminal that went away`() async throws {
            let terminal = try PseudoTerminal()
            let editor = try editor(terminal)
            async let input = onThread { editor.readLine() }
            await terminal.wait { $0.last == "8>" }
            terminal.type("\u{4}")
            #expect(await input == .endOfInput)
        }

        @Test(arguments: [true, false])
        func `The terminal is as before when a line was read or given up`(_ isEntered: Bool) async throws {
            let terminal = try PseudoTerminal()
            let before = terminal.modes
            let editor = try editor(terminal)
            async let input = onThread { editor.readLine() }
            await terminal.wait { $0.last == "8>" }
            #expect(terminal.modes != before)
            if isEntered { terminal.type("\r") } else { editor.cancel() }
            _ = await input
            #expect(terminal.modes == before)
        }

        @Test func `Bytes that are no UTF-8 become replacement characters`() async throws {
            let terminal = try PseudoTerminal()
            let editor = try editor(terminal)
            async let input = onThread { editor.readLine() }
            await terminal.wait { $0.last == "8>" }
            terminal.typeBytes([0x61, 0xFF, 0xE4, 0x62, 0xF0, 0x9F, 0x98, 0x80, 0x0D])
            #expect(await input == .line("a\u{FFFD}\u{FFFD}b😀"))
        }

        @Test func `Many messages from many threads all appear once, and the line survives`() async throws {
            let terminal = try PseudoTerminal(columns: 40)
            let editor = try editor(terminal)
            async let input = onThread { editor.readLine() }
            await terminal.wait { $0 == ["8>"] }
            terminal.type("typing")
            await terminal.wait { $0.last == "8> typing" }
            await withTaskGroup(of: Void.self) { group in
                for worker in 0..<4 {
                    group.addTask { for number in 0..<50 { editor.show("message \(worker) \(number)") } }
                }
            }
            let screen = await terminal.wait { $0.count == 201 && $0.last == "8> typing" }
            #expect(Set(screen.dropLast()).count == 200)
            terminal.type("\r")
            #expect(await input == .line("typing"))
        }

        @Test(arguments: [("a", 1), ("你", 2), ("😀", 2), ("e\u{301}", 1), ("", 0), ("ｱ", 1), ("한글", 4)])
        func `Text is as wide as terminals draw it`(_ text: String, _ width: Int) {
            #expect(displayWidth(of: text) == width)
        }
    }
}
