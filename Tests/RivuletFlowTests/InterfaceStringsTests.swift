import Foundation
import RivuletModel
import Testing

@testable import RivuletFlow

@Suite struct InterfaceStringsTests {
    private static let english = InterfaceStrings.english
    private static let chinese = InterfaceStrings.simplifiedChinese

    /// The names that `InterfaceStrings+Keys.swift` declares.
    private static func declaredKeys() throws -> Set<String> {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/RivuletFlow/Strings/InterfaceStrings+Keys.swift")
        let text = try String(contentsOf: file, encoding: .utf8)
        return Set(text.matches(of: /Self\("([a-z.-]+)"\)/).map { String($0.output.1) })
    }

    @Test func `every phrase is said in English and in Chinese`() throws {
        let declared = try Self.declaredKeys()
        #expect(declared.count > 90)
        #expect(Set(Self.english.phrases.keys.map(\.rawValue)) == declared)
        #expect(Set(Self.chinese.phrases.keys.map(\.rawValue)) == declared)
    }

    @Test func `no Chinese phrase is the English one, empty, or without Chinese`() {
        for (key, phrase) in Self.chinese.phrases where key != .separator {
            #expect(phrase != Self.english.phrases[key], "\(key.rawValue)")
            for form in phrase.forms {
                #expect(
                    form.unicodeScalars.contains { (0x4E00...0x9FFF).contains($0.value) },
                    "\(key.rawValue): \(form)")
            }
        }
        #expect(Self.chinese[.separator] == "，")
    }

    @Test func `a phrase has the same places in both languages`() {
        func places(_ form: String) -> Set<String> {
            Set(form.matches(of: /%[0-9]/).map { String($0.output) })
        }
        for (key, phrase) in Self.english.phrases {
            let all = (phrase.forms + (Self.chinese.phrases[key]?.forms ?? [])).map(places)
            #expect(Set(all).count == 1, "\(key.rawValue)")
        }
    }

    @Test func `numbers choose the form of their language`() {
        #expect(Self.english[.newMessageCount, count: 1] == "1 new message")
        #expect(Self.english[.newMessageCount, count: 0] == "0 new messages")
        #expect(Self.english[.newMessageCount, count: 3] == "3 new messages")
        #expect(Self.chinese[.newMessageCount, count: 1] == "1 条新消息")
        #expect(Self.chinese[.newMessageCount, count: 3] == "3 条新消息")
    }

    @Test func `a language with three forms gets each where it belongs`() {
        var polish = InterfaceStrings(language: "pl", times: .english, phrases: [:]) { count in
            count == 1 ? 0 : (2...4).contains(count % 10) && !(12...14).contains(count % 100) ? 1 : 2
        }
        polish[phrase: .newMessageCount] = .plural("%1 wiadomość", "%1 wiadomości", "%1 nowych wiadomości")
        #expect(
            [1, 2, 5, 12, 22].map { polish[.newMessageCount, count: $0] } == [
                "1 wiadomość", "2 wiadomości", "5 nowych wiadomości", "12 nowych wiadomości", "22 wiadomości",
            ])
        // What it does not have is said in English, in an English form.
        #expect(polish[.recordCount, count: 2] == "2 messages")
        #expect(polish[.copy] == "Copy")
    }

    @Test func `values are put in as they are, in the order of the language`() {
        var strings = Self.english
        let key = InterfaceStrings.Key(rawValue: "own.moved")
        strings.add([key: "%2 came before %1, 100% sure, %9"])
        #expect(strings[key, "a%2", "b%1"] == "b%1 came before a%2, 100% sure, %9")
        #expect(strings[InterfaceStrings.Key(rawValue: "own.unknown")] == "own.unknown")
        strings[phrase: key] = "ends with %"
        #expect(strings[key, "x"] == "ends with %")
        #expect(Self.english[phrase: key] == nil, "another session's words are its own")
    }

    @Test(
        arguments: [
            ([:], "en"), (["LANG": "zh_CN.UTF-8"], "zh-Hans"), (["LANG": "C.UTF-8", "LANGUAGE": "zh"], "en"),
            (["LANG": "en_US.UTF-8", "LC_ALL": "zh_CN"], "zh-Hans"),
            (["LC_ALL": "", "LANG": "zh_CN"], "zh-Hans"),
            (["LANG": "zh_CN.UTF-8", "LC_MESSAGES": "en_GB.UTF-8"], "en"),
            (["LANG": "zh_CN.UTF-8", "LC_ALL": "C"], "en"),
            (["LANG": "de_DE.UTF-8", "LANGUAGE": "de:zh:en"], "zh-Hans"),
            (["LANG": "de_DE.UTF-8", "LANGUAGE": "::"], "en"), (["LANG": "zh_CN", "LANGUAGE": "en"], "en"),
            (["LANG": "zha_CN"], "en"), (["LANG": "zh-Hans-CN"], "zh-Hans"),
        ] as [([String: String], String)])
    func `the environment chooses the language`(environment: [String: String], language: String) {
        #expect(InterfaceStrings.system(environment).language == language)
    }

    @Test func `the English summaries are those of the model, for every kind`() {
        let contents: [MessageContent] = [
            .image(ImageContent(url: "u", width: 1, height: 1)),
            .audio(AudioContent(url: "u", durationSeconds: 14)),
            .location(LocationContent(latitude: 1, longitude: 2)),
            .location(LocationContent(latitude: 1, longitude: 2, address: "North Gate")),
            .file(FileContent(url: "u", filename: "a.pdf", byteCount: 3)),
            .link(LinkContent(url: "u", title: "T")),
            .call(CallContent(outcome: .missed, durationSeconds: 0, isVideo: true)),
            .merged(MergedContent(title: "R", items: [])), .card(CardContent(user: UserID(3), name: "Mei")),
            .poll(PollContent(question: "When?", options: ["a"])), .notice("n"), .headline("h"),
            .refusal(status: 1),
            .groupNotification(
                GroupNotification(groupID: 7, time: 0, change: .memberLeft(UserID(3), name: nil))),
            .groupNotification(GroupNotification(groupID: 7, time: 0, change: .renamed("%1"))),
        ].compactMap { $0 }
        for content in contents {
            #expect(Self.english.summary(of: content) == content.summary)
            #expect(!Self.chinese.summary(of: content).isEmpty)
        }
    }

    @Test func `menus and failures speak the session's language`() {
        let message = Message(
            id: MessageID(1), session: .peer(UserID(2)), sender: UserID(2), position: MessagePosition(1),
            timeMilliseconds: 0,
            content: .text("hello"))
        let titles = MessageMenu().items(for: message, component: .content, strings: Self.chinese).map(
            \.title)
        #expect(titles.contains("回复") && titles.contains("删除") && !titles.contains { $0.contains("Reply") })
        let own = MessageMenu(provider: StandardMenuProvider { "own \($0.rawValue)" })
        #expect(
            own.items(for: message, component: .content, strings: Self.chinese).first?.title == "own copy")
        #expect(Self.chinese.reason(for: InteractionError(.timedOut)) == "等待超时。")
        #expect(Self.chinese.reason(for: InteractionError.burning) == "阅后即焚的消息不能转发。")
        #expect(Self.chinese.reason(for: InteractionError(.vetoed, reason: "because")) == "because")
    }
}
