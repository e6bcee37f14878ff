import Foundation
import RivuletModel
import RivuletWire
import Testing

@testable import RivuletServerCore

@Suite struct ContentScannerTests {
    static let known: [(String, String?)] = [
        (#"{"uuid":"A"}"#, "A"),
        (#"  { "text" : "x" , "uuid" : "A-1" }  "#, "A-1"),
        (#"{"text":"{\"uuid\":\"no\"}","uuid":"yes"}"#, "yes"),
        (#"{"a":{"uuid":"inner"},"b":[{"uuid":"inner"}]}"#, nil),
        (#"{"a":{"uuid":"inner"},"uuid":"outer"}"#, "outer"),
        (#"{"\u0075uid":"escaped key"}"#, "escaped key"),
        (#"{"uuid":"é\n漢\u6f22\ud83e\uddf5\"\\\/"}"#, "é\n漢漢🧵\"\\/"),
        (#"{"uuid":""}"#, nil), (#"{"uuid":7}"#, nil), (#"{"uuid":null}"#, nil), (#"{"uuid":["A"]}"#, nil),
        (#"{"x":1.5e3,"y":true,"z":null,"uuid":"A"}"#, "A"),
        (#"["uuid","A"]"#, nil), (#""uuid""#, nil), ("", nil), ("{", nil), ("{}", nil), ("hello", nil),
        (#"{"uuid"#, nil), (#"{"uuid":"A"#, nil), (#"{"uuid":"A\"#, nil), (#"{"x":"\"#, nil),
        (#"{"x":[[[["#, nil),
    ]

    @Test(arguments: known)
    func `the value of the top-level key is found`(content: String, uuid: String?) {
        #expect(ContentScanner.uuid(in: content).map { String(decoding: $0, as: UTF8.self) } == uuid)
    }

    @Test func `deep nesting costs no stack`() {
        let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        #expect(ContentScanner.uuid(in: #"{"x":\#(deep),"uuid":"A"}"#) == Array("A".utf8))
    }

    @Test(arguments: 1...300 as ClosedRange<UInt64>)
    func `it agrees with a full parser on random documents`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let document = Self.object(&random, depth: 0)
        let parsed = try JSONSerialization.jsonObject(with: Data(document.utf8)) as? [String: Any]
        let expected = (parsed?["uuid"] as? String).flatMap { $0.isEmpty ? nil : $0 }
        let found = ContentScanner.uuid(in: document).map { String(decoding: $0, as: UTF8.self) }
        #expect(found == expected, "\(document)")
    }

    @Test(arguments: 1...300 as ClosedRange<UInt64>)
    func `no damaged document makes it trap`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var bytes = Array(Self.object(&random, depth: 0).utf8)
        for _ in 0..<3 where !bytes.isEmpty {
            bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...127, using: &random)
        }
        bytes.removeLast(Int.random(in: 0...min(10, bytes.count), using: &random))
        _ = ContentScanner.uuid(in: String(decoding: bytes, as: UTF8.self))
    }

    @Test(arguments: 1...300 as ClosedRange<UInt64>)
    func `paths agree with a full parser on random documents`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let document = Self.object(&random, depth: 0)
        let parsed = try JSONSerialization.jsonObject(with: Data(document.utf8)) as? [String: Any]
        for key in ["uuid", "uui", "漢"] {
            let inner = parsed?["text"] as? [String: Any]
            let path = [Array("text".utf8), Array(key.utf8)]
            let text = (inner?[key] as? String).flatMap { $0.isEmpty ? nil : $0 }
            let found = ContentScanner.string(at: path, in: document).map {
                String(decoding: $0, as: UTF8.self)
            }
            #expect(found == text, "\(document)")
        }
    }

    @Test(
        arguments: [
            (#"{"a":{"b":-9223372036854775808}}"#, Int64.min), (#"{"a":{"b":9223372036854775807}}"#, .max),
            (#"{"a":{"b":9223372036854775808}}"#, nil), (#"{"a":{"b":-9223372036854775809}}"#, nil),
            (#"{"a":{"b":1.0}}"#, nil), (#"{"a":{"b":1e3}}"#, nil), (#"{"a":{"b":-}}"#, nil),
            (#"{"a":{"b":"7"}}"#, nil), (#"{"a":{"b": 7 }}"#, 7), (#"{"a":[{"b":7}]}"#, nil),
            (#"{"b":7}"#, nil), (#"{"a":{"c":{"b":7}}}"#, nil), (#"{"a":{"b":7"#, 7), (#"{"a":"#, nil),
        ] as [(String, Int64?)])
    func `whole numbers are read within their bounds`(content: String, number: Int64?) {
        #expect(ContentScanner.integer(at: [Array("a".utf8), Array("b".utf8)], in: content) == number)
    }

    @Test(
        arguments: [
            ("[1,2,3]", [1, 2, 3]), ("[]", []), ("[ 1 , -2 ]", [1, -2]), ("[1,2,3,4,5]", [1, 2, 3, 4]),
            ("[1,\"2\",3]", [1]), ("[1", [1]), ("7", nil), ("{}", nil),
        ] as [(String, [Int64]?)])
    func `lists are read up to their bound`(list: String, numbers: [Int64]?) {
        let content = "{\"a\":\(list)}"
        #expect(ContentScanner.integers(at: [Array("a".utf8)], in: content, countMax: 4) == numbers)
    }

    /// A random object in which each key stands once.
    private static func object(_ random: inout SeededGenerator, depth: Int) -> String {
        let keys = ["uuid", "text", "\\u0075uid2", "a\\\"b", "uui", "uuidd", "漢"].shuffled(using: &random)
        let members = keys.prefix(Int.random(in: 0...5, using: &random)).map { key in
            let space = [" ", "", "\n\t"].randomElement(using: &random) ?? ""
            return "\(space)\"\(key)\"\(space):\(space)\(value(&random, depth: depth))\(space)"
        }
        return "{\(members.joined(separator: ","))}"
    }

    private static func value(_ random: inout SeededGenerator, depth: Int) -> String {
        switch Int.random(in: 0..<8, using: &random) {
        case 0 where depth < 4: object(&random, depth: depth + 1)
        case 1 where depth < 4:
            "["
                + (0..<Int.random(in: 0...3, using: &random)).map { _ in value(&random, depth: depth + 1) }
                .joined(separator: ",") + "]"
        case 2: "\(Int.random(in: -1000...1000, using: &random))"
        case 3: ["true", "false", "null", "1.5e-3"].randomElement(using: &random) ?? "null"
        default:
            "\""
                + (0..<Int.random(in: 0...6, using: &random)).map { _ in
                    [
                        "a", "}", "{", "]", "[", ",", ":", "\\\"", "\\\\", "\\n", "\\u00e9", "\\ud83e\\uddf5",
                        "漢",
                    ]
                    .randomElement(using: &random) ?? ""
                }.joined() + "\""
        }
    }
}
