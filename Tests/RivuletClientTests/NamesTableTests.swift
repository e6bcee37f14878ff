import Foundation
import Testing

/// Section 3 of docs/names.md has every described name, and whatever it leads to is used by a test of the client.
@Suite("The table of the described names")
struct NamesTableTests {
    /// One row: the cells, without the bars.
    private typealias Row = [String]

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static let folders = ["Tests/RivuletClientTests", "Tests/RivuletClientCoreTests"].map {
        root.appending(path: $0)
    }

    /// Every name of docs/protocol.md, section 19, of both eras.
    static let described = [
        // 19.1
        "connectState", "host", "port", "heartbeat", "queue", "reachable", "start", "stop", "enterForeground",
        "enterBackground", "addConnectionObserver", "removeConnectionObserver", "onConnectState",
        "startRechabilityNotifier", "onReachabilityChange",
        // 19.2: properties, sends, queries
        "instance", "deviceID", "token", "uid", "appID", "syncKey", "peerMessageHandler",
        "groupMessageHandler",
        "customerMessageHandler", "sync-key handler", "sendPeerMessage", "sendGroupMessage",
        "sendRoomMessage",
        "sendCustomerMessage", "sendCustomerSupportMessage", "sendRTMessage", "sendVOIPControl",
        "isPeerMessageSending", "isGroupMessageSending", "isCustomerSupportMessageSending",
        "isCustomerMessageSending", "enterRoom", "leaveRoom", "sendInputing", "sendUnreadCount",
        "addSuperGroupSyncKey", "removeSuperGroupSyncKey", "clearSuperGroupSyncKey", "saveSyncKey",
        "saveGroupSyncKey",
        // 19.2: handlers and observers
        "handleMessage", "handleMessageACK", "handleMessageFailure", "handleGroupNotification",
        "handleMessages", "handleCustomerSupportMessage", "onPeerMessage", "onPeerSecretMessage",
        "onPeerMessageACK", "onPeerMessageFailure", "onPeerInputing", "onGroupMessage", "onGroupMessages",
        "onGroupMessageACK", "onGroupMessageFailure", "onGroupNotification", "onRoomMessage",
        "onRoomMessageACK", "onRoomMessageFailure", "onRTMessage", "onSystemMessage", "onCustomerMessage",
        "onCustomerSupportMessage", "onCustomerMessageACK", "onCustomerMessageFailure", "onLoginPoint",
        "onVOIPControl", "pushVOIPObserver", "popVOIPObserver",
    ]

    private func section() throws -> String {
        let text = try String(contentsOf: Self.root.appending(path: "docs/names.md"), encoding: .utf8)
        return try #require(text.components(separatedBy: "\n## 3 IMService\n").last)
    }

    private func rows() throws -> [Row] {
        try section().split(separator: "\n").filter { $0.hasPrefix("|") && !$0.hasPrefix("|---") }.map {
            $0.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    @Test func `has every name of the description`() throws {
        let firstCells = try rows().compactMap(\.first).joined(separator: "\n")
        let missing = Self.described.filter { !firstCells.contains(word: $0) }
        #expect(missing == [], "not in the first column")
    }

    @Test func `every name that it leads to is used by a test`() throws {
        let sources = try Sources(Self.folders)
        var names: Set<String> = []
        for row in try rows() where row.first != "described" {
            names.formUnion(row.dropFirst().flatMap(\.codeSpans))
            // Its name was kept; its parameters stand there as in the description.
            guard row.dropFirst().contains(where: { $0.contains("the same") }) else { continue }
            names.formUnion((row.first?.codeSpans ?? []).map { String($0.prefix { $0 != "(" }) })
        }
        #expect(names.count > 100, "the table was read")
        let unused = names.sorted().filter { !sources.use($0) }
        #expect(unused == [], "used by no test")
    }

    /// The check must be able to fail.
    @Test func `a name that nobody uses is found out`() throws {
        let sources = try Sources(Self.folders)
        let used = ["isPeerMessageSending(_:id:)", "IMService.shared", "send(.peer(_:))"]
        let unused = ["teleportTo(_:room:)", "isPeerMessageSending(_:room:)", "send(.teleport(_:))"]
        #expect((used + unused).filter { sources.use($0) } == used)
    }
}

/// The text of a target's tests, asked whether it uses a name.
private struct Sources {
    private let text: String

    init(_ folders: [URL]) throws {
        var text = ""
        for folder in folders {
            let files = try #require(
                FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
            for case let file as URL in files
            where file.pathExtension == "swift" && file.lastPathComponent != "NamesTableTests.swift" {
                text += try String(contentsOf: file, encoding: .utf8)
            }
        }
        self.text = text
    }

    /// Whether a call, a definition or a mention of the name is there, with the labels that the name has.
    func use(_ span: String) -> Bool {
        // One of the kinds of message that a method takes: `send(.peer(_:))`.
        if span.hasPrefix("send(."), let kind = span.dropFirst(6).split(separator: "(").first {
            return ["", "LiveMessage", "OutgoingMessage"].contains { text.contains("send(\($0).\(kind)(") }
        }
        let (path, labels) = Self.parts(of: span)
        guard let name = path.split(separator: ".").last.map(String.init) else { return false }
        // `Type.member`: the type must be known, too, unless a value of it is used.
        guard let labels else { return text.contains(word: name) }
        return text.ranges(of: name + "(").contains { range in
            guard text.isWordStart(range.lowerBound) else { return false }
            return Self.labels(behind: text[range.upperBound...]) == labels
        }
    }

    /// `A.b(_:c:)` is `A.b` with `_` and `c`; without brackets there are no labels to look for.
    private static func parts(of span: String) -> (path: String, labels: [String]?) {
        guard let bracket = span.firstIndex(of: "(") else { return (span, nil) }
        let inner = span[span.index(after: bracket)...].prefix { $0 != ")" }
        return (String(span[..<bracket]), inner.split(separator: ":").map(String.init))
    }

    /// The labels of the arguments or parameters that stand behind an opening bracket.
    private static func labels(behind text: Substring) -> [String] {
        var labels: [String] = []
        var depth = 0
        var argument = ""
        var isString = false
        func finish() {
            let trimmed = argument.trimmingCharacters(in: .whitespacesAndNewlines)
            guard !trimmed.isEmpty else { return }
            let head = trimmed.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == " " }
            let isLabelled = trimmed[head.endIndex...].first == ":"
            labels.append(isLabelled ? head.split(separator: " ").first.map(String.init) ?? "_" : "_")
        }
        for character in text {
            if character == "\"" { isString.toggle() }
            if !isString {
                if "([{".contains(character) { depth += 1 }
                if ")]}".contains(character) {
                    guard depth > 0 else {
                        finish()
                        return labels
                    }
                    depth -= 1
                }
                if character == ",", depth == 0 {
                    finish()
                    argument = ""
                    continue
                }
            }
            argument.append(character)
        }
        return labels
    }
}

extension String {
    /// What stands between backticks.
    fileprivate var codeSpans: [String] {
        components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
    }

    fileprivate func contains(word: String) -> Bool {
        ranges(of: word).contains { range in
            isWordStart(range.lowerBound)
                && (range.upperBound == endIndex || !self[range.upperBound].isWordCharacter)
        }
    }

    fileprivate func isWordStart(_ index: String.Index) -> Bool {
        index == startIndex || !self[self.index(before: index)].isWordCharacter
    }
}

extension Character {
    fileprivate var isWordCharacter: Bool { isLetter || isNumber || self == "_" }
}
