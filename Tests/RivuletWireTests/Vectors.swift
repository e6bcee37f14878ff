import Foundation
import RivuletWire

/// The vector files, as docs/protocol.md, section 22 explains them.
enum Vectors {
    static let golden: [GoldenFrame] = load("golden.json")
    static let malformed: [MalformedInput] = load("malformed.json")
    static let streams: [StreamVector] = load("streams.json")

    /// The frames of the recorded sessions; lines that only tell an event are left out.
    static let captures: [CapturedFrame] = {
        do {
            let text = try String(contentsOf: url("captures.jsonl"), encoding: .utf8)
            return try text.split(separator: "\n").enumerated().compactMap { index, line in
                let entry = try JSONDecoder().decode(CaptureLine.self, from: Data(line.utf8))
                guard let hex = entry.hex, let description = entry.desc, let direction = entry.dir else {
                    return nil
                }
                return CapturedFrame(
                    line: index + 1, scenario: entry.scenario, direction: direction, bytes: bytes(hex),
                    description: description)
            }
        } catch {
            fatalError("captures.jsonl: \(error)")
        }
    }()

    static func golden(named name: String) -> GoldenFrame? {
        golden.first { $0.name == name }
    }

    /// The bytes of hex text; it stops the tests when the text is not hex.
    static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.utf8.map { digit -> UInt8 in
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
            default: fatalError("not hex: \(hex)")
            }
        }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    private static func load<Value: Decodable>(_ name: String) -> [Value] {
        do {
            return try JSONDecoder().decode([Value].self, from: Data(contentsOf: url(name)))
        } catch {
            fatalError("\(name): \(error)")
        }
    }

    private static func url(_ name: String) -> URL {
        Bundle.module.bundleURL.appendingPathComponent("Vectors").appendingPathComponent(name)
    }
}

/// A JSON value of a frame's `fields`.
enum VectorValue: Decodable, Equatable {
    case integer(Int64)
    case text(String)
    case integers([Int64])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode([Int64].self) {
            self = .integers(value)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    init(_ value: FieldValue) {
        switch value {
        case .integer(let value): self = .integer(value)
        case .text(let value): self = .text(value)
        case .integers(let value): self = .integers(value)
        case .bytes(let value):
            self = .text(
                value.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
        }
    }
}

struct GoldenFrame: Decodable, CustomTestStringConvertibleByName {
    struct Tail: Decodable {
        var byte: String
        var count: Int
    }

    var name: String
    var era: String
    var version: UInt8
    var direction: String
    var cmd: UInt8
    var seq: Int32
    var flag: UInt8
    var fields: [String: VectorValue]
    var hex: String
    var decode_only: Bool?
    var reserved: UInt8?
    var repeat_tail: Tail?

    var isDecodeOnly: Bool { decode_only ?? false }

    var profile: Profile { era == "v0" || era == "seed" ? .seed : .current }

    var receiver: Role { direction == "c2s" ? .server : .client }

    var sender: Role { direction == "c2s" ? .client : .server }

    /// The whole frame, tail included.
    var frame: [UInt8] {
        var frame = Vectors.bytes(hex)
        if let repeat_tail {
            frame += Array(repeating: Vectors.bytes(repeat_tail.byte)[0], count: repeat_tail.count)
        }
        return frame
    }

    /// The fields, the tail appended to the content.
    var expectedFields: [String: VectorValue] {
        guard let repeat_tail, case .text(let content) = fields["content"] else { return fields }
        let letter = String(decoding: Vectors.bytes(repeat_tail.byte), as: UTF8.self)
        var fields = fields
        fields["content"] = .text(content + String(repeating: letter, count: repeat_tail.count))
        return fields
    }
}

struct MalformedInput: Decodable, CustomTestStringConvertibleByName {
    var name: String
    var role: String
    var era: String
    var hex: String
    var verdict: String
    var reason: String
    var close: Bool
    var cmd: UInt8?

    var profile: Profile { era == "v0" || era == "seed" ? .seed : .current }

    var receiver: Role { role == "server" ? .server : .client }
}

struct StreamVector: Decodable, CustomTestStringConvertibleByName {
    var name: String
    var role: String
    var era: String
    var chunks: [String]
    var expect: [String]
    var end: String

    var profile: Profile { era == "v0" || era == "seed" ? .seed : .current }

    var receiver: Role { role == "server" ? .server : .client }
}

struct CapturedFrame: Sendable {
    var line: Int
    var scenario: String
    var direction: String
    var bytes: [UInt8]
    var description: String

    var receiver: Role { direction == "c2s" ? .server : .client }

    var sender: Role { direction == "c2s" ? .client : .server }
}

private struct CaptureLine: Decodable {
    var scenario: String
    var dir: String?
    var hex: String?
    var desc: String?
}
