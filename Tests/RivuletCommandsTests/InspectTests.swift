import Foundation
import RivuletCommands
import RivuletWire
import Testing

@Suite struct `rivulet inspect` {
    @Test(arguments: InspectVectors.golden)
    func `prints the fields of every golden frame`(_ vector: InspectVector) throws {
        let run = Inspection(vector.wholeHex, profile: vector.profile, role: vector.receiver, isJSON: true)
        // A current server knows no command 2, whatever its layout.
        if vector.name == "var_auth_token_int_device" {
            #expect(run.status == 1)
            #expect(run.objects.first?.reason == "command_not_allowed")
            return
        }
        #expect(run.status == 0)
        let object = try #require(run.objects.first)
        #expect(run.objects.count == 1)
        #expect(object.cmd == vector.cmd)
        #expect(object.cmd_name == vector.cmd_name)
        #expect(object.seq == vector.seq)
        #expect(object.version == vector.version)
        #expect(object.flag == vector.flag)
        #expect(object.length == vector.wholeHex.count / 2 - 12)
        var expected = vector.wholeFields
        // Two builds of one day in 2019 wrote a second key, which is excess to every other (section 6).
        if vector.name.hasSuffix("notify_with_prev") { expected?["prev_sync_key"] = nil }
        #expect(object.fields == expected)
        #expect(object.verdict == nil)
    }

    @Test(arguments: InspectVectors.malformed)
    func `prints the verdict of every malformed input`(_ vector: InspectVector) throws {
        let run = Inspection(vector.hex, profile: vector.profile, role: vector.receiver, isJSON: true)
        #expect(run.status == 1)
        let object = try #require(run.objects.last)
        #expect(run.objects.count == 1)
        #expect(object.verdict == vector.verdict)
        #expect(object.reason == vector.reason)
        #expect(object.cmd == vector.cmd)
        #expect(object.offset != nil)
        #expect(object.fields == nil)
    }

    @Test func `covers all vectors`() {
        #expect(InspectVectors.golden.count == 171)
        #expect(InspectVectors.malformed.count == 154)
    }

    @Test func `keeps going after a skipped frame and stops at a rejected one`() {
        let frames = "000000000000000163020000" + "00000000000000010e020000" + "ffffffff000000010e020000"
        let run = Inspection(frames + "00000000000000010e020000", role: .client, isJSON: true)
        #expect(run.objects.map(\.verdict) == ["skip", nil, "reject"])
        #expect(run.objects.map(\.offset) == [8, nil, 24])
    }

    @Test func `prints a table with escaped text`() {
        // The content is ESC [ 2 J, which clears a terminal.
        let run = Inspection(
            "000000140000000711020000" + "0000000000000001" + "0000000000000002" + "1b5b324a")
        #expect(
            run.lines == [
                "OFFSET  COMMAND                   SEQ         VER FLAG LENGTH  FIELDS",
                "0       RT(17)                    7           2   0x00 20      "
                    + "sender=1 receiver=2 content=\"\\u001b[2J\"",
            ])
        #expect(run.status == 0)
    }

    @Test(arguments: [
        ("0000000", "odd number of hex digits"), ("zz", "neither hex text nor a file"),
        ("/no/such/file", "neither hex text nor a file"), ("/", "neither hex text nor a file"),
    ])
    func `refuses what it cannot read`(_ input: String, _ reason: String) {
        let run = Inspection(input)
        #expect(run.status == 2)
        #expect(run.lines.isEmpty)
        #expect(run.complaint.contains(reason))
    }

    @Test func `reads hex text and raw bytes from files`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let text = folder.appendingPathComponent("ping.hex")
        try Data("00000000 00000003\n0D020000\r\n".utf8).write(to: text)
        let raw = folder.appendingPathComponent("ping.bin")
        try Data([0, 0, 0, 0, 0, 0, 0, 3, 13, 2, 0, 0]).write(to: raw)
        #expect(Inspection(text.path, isJSON: true).objects.first?.seq == 3)
        #expect(Inspection(raw.path, isJSON: true, isRaw: true).objects.first?.seq == 3)
        #expect(Inspection(raw.path).complaint.contains("is not hex text at byte 1"))
        #expect(Inspection("00", isRaw: true).complaint.contains("is no file"))
    }
}

/// One run of the command.
private struct Inspection {
    var status: Int32
    var lines: [String] = []
    var complaint = ""

    init(
        _ input: String, profile: Profile = .current, role: Role = .server, isJSON: Bool = false,
        isRaw: Bool = false
    ) {
        var lines: [String] = []
        var complaint = ""
        status = runInspect(
            options: InspectOptions(
                input: input, profile: profile, role: role, isJSON: isJSON, isRaw: isRaw),
            output: { lines.append($0) }, complaint: { complaint += $0 })
        self.lines = lines
        self.complaint = complaint
    }

    var objects: [InspectVector] {
        lines.compactMap { try? JSONDecoder().decode(InspectVector.self, from: Data($0.utf8)) }
    }
}

/// A vector of the wire tests, or an object that the command printed: the keys are the same on purpose.
struct InspectVector: Decodable, Sendable, CustomTestStringConvertible {
    struct Tail: Decodable {
        var byte: String
        var count: Int
    }

    enum Value: Decodable, Equatable {
        case integer(Int64)
        case integers([Int64])
        case text(String)

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
    }

    var name = ""
    var era = ""
    var direction: String?
    var role: String?
    var version: UInt8?
    var cmd: UInt8?
    var cmd_name: String?
    var seq: Int32?
    var flag: UInt8?
    var length: Int?
    var fields: [String: Value]?
    var hex = ""
    var repeat_tail: Tail?
    var verdict: String?
    var reason: String?
    var offset: Int?

    private enum CodingKeys: String, CodingKey {
        case name, era, direction, role, version, cmd, cmd_name, seq, flag, length, fields, hex, repeat_tail
        case verdict, reason, offset
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decodeIfPresent(String.self, forKey: .name) ?? ""
        era = try container.decodeIfPresent(String.self, forKey: .era) ?? ""
        hex = try container.decodeIfPresent(String.self, forKey: .hex) ?? ""
        direction = try container.decodeIfPresent(String.self, forKey: .direction)
        role = try container.decodeIfPresent(String.self, forKey: .role)
        version = try container.decodeIfPresent(UInt8.self, forKey: .version)
        cmd = try container.decodeIfPresent(UInt8.self, forKey: .cmd)
        cmd_name = try container.decodeIfPresent(String.self, forKey: .cmd_name)
        seq = try container.decodeIfPresent(Int32.self, forKey: .seq)
        flag = try container.decodeIfPresent(UInt8.self, forKey: .flag)
        length = try container.decodeIfPresent(Int.self, forKey: .length)
        fields = try container.decodeIfPresent([String: Value].self, forKey: .fields)
        repeat_tail = try container.decodeIfPresent(Tail.self, forKey: .repeat_tail)
        verdict = try container.decodeIfPresent(String.self, forKey: .verdict)
        reason = try container.decodeIfPresent(String.self, forKey: .reason)
        offset = try container.decodeIfPresent(Int.self, forKey: .offset)
    }

    var testDescription: String { name }

    var profile: Profile { era == "v0" || era == "seed" ? .seed : .current }

    /// The receiver; a current server drops first-generation customer messages, so a client reads those.
    var receiver: Role {
        if cmd == 24 || cmd == 25, profile == .current, verdict == nil { return .client }
        return direction == "c2s" || role == "server" ? .server : .client
    }

    var wholeHex: String {
        hex + (repeat_tail.map { String(repeating: $0.byte, count: $0.count) } ?? "")
    }

    var wholeFields: [String: Value]? {
        guard let repeat_tail, case .text(let content) = fields?["content"] else { return fields }
        var fields = fields
        let byte = UInt8(repeat_tail.byte, radix: 16) ?? 0
        fields?["content"] = .text(
            content + String(decoding: repeatElement(byte, count: repeat_tail.count), as: UTF8.self))
        return fields
    }
}

enum InspectVectors {
    static let golden = load("golden.json")
    static let malformed = load("malformed.json")

    private static func load(_ name: String) -> [InspectVector] {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let url = tests.appendingPathComponent("RivuletWireTests/Vectors").appendingPathComponent(name)
        do {
            return try JSONDecoder().decode([InspectVector].self, from: Data(contentsOf: url))
        } catch {
            fatalError("\(name): \(error)")
        }
    }
}
