import Foundation
import RivuletModel
import Testing

@testable import RivuletCommands

let plainFormatter = ChatFormatter(
    style: Style(usesColour: false), time: LocalTime(timeZone: TimeZone(secondsFromGMT: 0) ?? .gmt))

private func model() -> ChatModel {
    ChatModel(peer: UserID(8), formatter: plainFormatter)
}

struct ChatModelTests {
    @Test func `A day is announced once, before its first message`() {
        var model = model()
        let day: Int64 = 86_400_000
        let actions = model.handle(
            .history([
                .sample(1, from: 8, text: "a"), .sample(2, from: 7, text: "b", state: .accepted),
                .sample(3, from: 8, text: "c", time: Message.sampleTime + day),
            ]))
        #expect(
            actions == [
                .show("— Monday, 30 November 2026 —", id: nil), .show("10:42 8: a", id: 1),
                .show("10:42 you: b  ✓", id: 2), .show("— Tuesday, 1 December 2026 —", id: nil),
                .show("10:42 8: c", id: 3),
            ])
    }

    @Test func `A sent message passes from sending to accepted and delivered`() {
        var model = model()
        var message = Message.sample(1, from: 7, text: "hi", state: .sending)
        #expect(model.handle(.message(message)).last == .show("10:42 you: hi  sending…", id: 1))
        #expect(model.pendingCount == 1)
        message.state = .accepted
        #expect(
            model.handle(.message(message)) == [
                .update(1, text: "10:42 you: hi  ✓", otherwise: "      “hi”  ✓")
            ])
        #expect(model.handle(.message(message)) == [])
        message.state = .delivered
        #expect(model.handle(.message(message)).count == 1)
        #expect(model.pendingCount == 0)
        #expect(!model.hasFailed)
    }

    @Test func `A change that no line shows prints nothing`() {
        var model = model()
        var message = Message.sample(1, from: 7, text: "hi", state: .accepted)
        _ = model.handle(.message(message))
        message.position = MessagePosition(99)
        message.revision += 1
        #expect(model.handle(.message(message)).isEmpty)
    }

    @Test func `A failure says why`() {
        var model = model()
        var message = Message.sample(1, from: 7, text: "hi", state: .sending)
        _ = model.handle(.message(message))
        message.state = .failed(reason: "you are blocked")
        guard case .update(1, let text, _) = model.handle(.message(message)).first else {
            Issue.record("no update")
            return
        }
        #expect(text == "10:42 you: hi  ✗ not sent: you are blocked")
        #expect(model.hasFailed)
    }

    @Test func `A message that history and the live stream both bring is shown once`() {
        var model = model()
        _ = model.handle(.message(.sample(1, from: 8, text: "a")))
        #expect(model.handle(.history([.sample(1, from: 8, text: "a")])) == [])
    }

    @Test func `Messages of other conversations are announced without their text`() {
        var model = model()
        #expect(
            model.handle(.message(.sample(1, from: 9, with: 9, text: "secret"))) == [
                .show("· message from 9", id: nil)
            ])
    }

    @Test func `The connection has one line that is rewritten until something else is shown`() {
        var model = model()
        #expect(model.handle(.connection(.connecting)) == [.show("· connecting…", id: 1)])
        #expect(model.handle(.connection(.connecting)) == [])
        let offline = "· offline, retrying in 3 s: connection refused"
        #expect(
            model.handle(.connection(.offline(reason: "connection refused", retrySeconds: 3))) == [
                .update(1, text: offline, otherwise: offline)
            ])
        _ = model.handle(.message(.sample(1, from: 8, text: "a")))
        #expect(model.handle(.connection(.connected)) == [.show("· connected", id: 3)])
    }

    @Test func `Recall shows messages again`() {
        var model = model()
        _ = model.handle(.history([.sample(1, from: 8, text: "a")]))
        #expect(
            model.handle(.recall([.sample(1, from: 8, text: "a")])) == [
                .show("· the last 1", id: nil), .show("— Monday, 30 November 2026 —", id: nil),
                .show("10:42 8: a", id: nil),
            ])
    }

    @Test func `Very many messages keep a bounded memory and unsent ones are not forgotten`() {
        var model = model()
        _ = model.handle(.message(.sample(1, from: 7, text: "waiting", state: .sending)))
        for id in Int64(2)...3000 { _ = model.handle(.message(.sample(id, from: 8, text: "x"))) }
        #expect(model.pendingCount == 1)
    }

    @Test(arguments: [
        ("", ChatInput.nothing), ("   ", .nothing), ("hi", .text("hi")), ("/help", .help), ("/quit", .quit),
        ("/history", .history(20)), ("/history 5", .history(5)), ("//etc", .text("/etc")),
        (" /quit", .text(" /quit")),
    ])
    func `A typed line is understood`(_ line: String, _ expected: ChatInput) {
        #expect(ChatInput(line) == expected)
    }

    @Test(arguments: [
        "/history 0", "/history x", "/history 1 2", "/history 99999999999999999999", "/", "/nope",
        "/quit now",
    ])
    func `A wrong command is explained and not sent`(_ line: String) {
        guard case .mistake = ChatInput(line) else {
            Issue.record("\(ChatInput(line))")
            return
        }
    }
}

struct UntrustedTextTests {
    @Test(arguments: [
        ("plain 你好 😀", "plain 你好 😀"), ("\u{1B}[2Jgone", "␛[2Jgone"), ("\u{1B}]0;title\u{07}", "␛]0;title␇"),
        ("a\u{9B}31mb", "a\u{FFFD}31mb"), ("x\u{7F}", "x␡"), ("abc\rdef", "abc def"),
        ("a\r\nb\n\nc", "a b  c"),
        ("\u{202E}evil\u{2066}", "\u{FFFD}evil\u{FFFD}"), ("a\tb", "a b"), ("\u{2028}", " "), ("\0", "␀"),
        ("", ""),
    ])
    func `Nothing that a terminal obeys is left`(_ text: String, _ expected: String) {
        #expect(UntrustedText.line(text) == expected)
    }

    @Test func `Every control character is replaced, wherever it stands`() {
        for value in Array(UInt32(0)...0x1F) + Array(0x7F...0x9F) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let line = UntrustedText.line("a\(Character(scalar))b")
            #expect(!line.unicodeScalars.contains { $0.properties.generalCategory == .control }, "U+\(value)")
        }
    }

    @Test func `Chat lines of hostile messages are harmless`() {
        var hostile = Message.sample(1, from: 8, text: "\u{1B}]52;c;AAAA\u{07}\nsecond\u{1B}c")
        #expect(plainFormatter.message(hostile) == "10:42 8: ␛]52;c;AAAA␇\n      second␛c")
        hostile.timeMilliseconds = .max
        #expect(!plainFormatter.message(hostile).isEmpty)
        hostile.timeMilliseconds = .min
        #expect(!plainFormatter.dayLine(.min).isEmpty)
    }

    @Test func `JSON lines hold no control character and still say the same`() throws {
        let text = "\u{1B}[31m\u{9B}31m\u{7F}\u{202E}\u{2028}\"\\\n你"
        let lines = MessageLines(isJSON: true, time: plainFormatter.time)
        let line = try lines.line(.sample(1, from: 8, text: text))
        #expect(!line.unicodeScalars.contains { $0.properties.generalCategory == .control })
        #expect(!line.contains("\u{202E}"))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(object["text"] as? String == text)
        #expect(object["sender"] as? Int == 8)
        #expect(object["kind"] as? String == "text")
    }

    @Test func `Columns are as wide as their widest cell, also in Chinese`() {
        #expect(Table.lines([["a", "b", "c"], ["你好", "x", ""]]) == ["a     b  c", "你好  x"])
    }
}
