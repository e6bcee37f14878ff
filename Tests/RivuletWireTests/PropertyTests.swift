import RivuletWire
import Testing

/// One way of reading and one seed; the failing case prints both.
struct StreamCase: Sendable, CustomTestStringConvertible {
    var receiver: Role
    var profile: Profile
    var seed: UInt64

    static let all: [StreamCase] = (1...6).flatMap { seed in
        Role.allCases.flatMap { role in
            Profile.allCases.map { StreamCase(receiver: role, profile: $0, seed: UInt64(seed)) }
        }
    }

    var testDescription: String { "\(receiver) \(profile) seed \(seed)" }

    var packets: RandomPackets {
        RandomPackets(receiver: receiver, profile: profile, generator: SeededGenerator(seed: seed))
    }

    var decoder: PacketDecoder { PacketDecoder(role: receiver, profile: profile) }
}

@Suite struct `Any packet` {
    @Test(arguments: StreamCase.all)
    func `survives a round trip`(_ stream: StreamCase) throws {
        var packets = stream.packets
        for number in RandomPackets.commands(receiver: stream.receiver, profile: stream.profile) {
            for _ in 0..<25 {
                let packet = packets.packet(number)
                let bytes = try packet.pack(from: packets.sender, profile: stream.profile)
                #expect(try Packet.unpack(bytes, by: stream.receiver, profile: stream.profile) == packet)
            }
        }
    }

    @Test(arguments: StreamCase.all)
    func `comes out the same wherever the stream is cut`(_ stream: StreamCase) throws {
        var packets = stream.packets
        let expected = (0..<12).map { _ in packets.next() }
        var encoder = PacketEncoder(role: packets.sender, profile: stream.profile)
        for packet in expected { try encoder.append(packet) }
        let bytes = encoder.takeBytes()
        for cut in 0...bytes.count {
            let result = decode([Array(bytes[..<cut]), Array(bytes[cut...])], with: stream.decoder)
            #expect(result == DecodedStream(frames: expected.map { .packet($0) }))
        }
        for length in [1, 2, 3, 5, 11, 12, 13, 64] {
            let result = decode(pieces(of: bytes, length: length), with: stream.decoder)
            #expect(result == DecodedStream(frames: expected.map { .packet($0) }))
        }
    }

    @Test(arguments: StreamCase.all)
    func `is refused or read alike in one piece and in many when it was damaged`(_ stream: StreamCase) throws
    {
        var packets = stream.packets
        for _ in 0..<60 {
            var encoder = PacketEncoder(role: packets.sender, profile: stream.profile)
            for _ in 0..<5 { try encoder.append(packets.next()) }
            var bytes = encoder.takeBytes()
            for _ in 0..<Int.random(in: 1...6, using: &packets.generator) {
                let place = Int.random(in: 0..<bytes.count, using: &packets.generator)
                bytes[place] = .random(in: 0...255, using: &packets.generator)
            }
            let whole = decode([bytes], with: stream.decoder)
            #expect(decode(pieces(of: bytes, length: 1), with: stream.decoder) == whole)
            #expect(decode(pieces(of: bytes, length: 7), with: stream.decoder) == whole)
        }
    }

    @Test(arguments: StreamCase.all)
    func `never comes with a trap out of noise`(_ stream: StreamCase) {
        var generator = SeededGenerator(seed: stream.seed &+ 1_000)
        for _ in 0..<300 {
            var bytes = (0..<Int.random(in: 0...200, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            // Half of the noise has a length that lets the command and the body be looked at.
            if bytes.count > 20, Bool.random(using: &generator) {
                bytes.replaceSubrange(0..<4, with: [0, 0, 0, UInt8(bytes.count - 12)])
                bytes[8] = .random(in: 1...64, using: &generator)
            }
            let whole = decode([bytes], with: stream.decoder)
            #expect(decode(pieces(of: bytes, length: 1), with: stream.decoder) == whole)
        }
    }
}

@Suite struct `UTF-8` {
    @Test func `is checked as the standard library does for every pair and many longer sequences`() {
        let edges: [UInt8] = [
            0x41, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xE0, 0xE1, 0xED, 0xF0, 0xF4,
        ]
        var sequences: [[UInt8]] = []
        for first in UInt8.min...UInt8.max { sequences += edges.map { [first, $0] } }
        for first in edges { for second in edges { sequences += edges.map { [first, second, $0] } } }
        for lead in 0xF0...0xF5 as ClosedRange<UInt8> {
            for second in edges { sequences += edges.map { [lead, second, $0, 0x80] } }
        }
        for (index, sequence) in sequences.enumerated() {
            // Alone, behind ASCII that ends inside a word, and inside Chinese that fills words.
            expectSameVerdict(sequence)
            expectSameVerdict(Array("abcdefghijk".utf8) + sequence + Array("xyz".utf8))
            expectSameVerdict(Array("敏捷的".utf8) + sequence + Array("棕色狐狸一次又一次".utf8))
            // At every place of a block of sixteen bytes, and cut by the end of a long text.
            let lead = Array("敏捷的棕色".utf8) + Array(repeating: 0x61, count: 1 + index % 16)
            expectSameVerdict(lead + sequence + Array("一次又一次地跳过了".utf8))
            expectSameVerdict(lead + sequence)
        }
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `is checked as the standard library does for damaged text`(_ seed: UInt64) {
        var packets = RandomPackets(
            receiver: .client, profile: .current, generator: SeededGenerator(seed: seed))
        for _ in 0..<800 {
            var bytes = Array(packets.text().utf8)
            expectSameVerdict(bytes)
            guard !bytes.isEmpty else { continue }
            bytes[Int.random(in: 0..<bytes.count, using: &packets.generator)] = .random(
                in: 0...255, using: &packets.generator)
            expectSameVerdict(bytes)
        }
    }

    /// A SYSTEM body is nothing but text.
    private func expectSameVerdict(_ bytes: [UInt8]) {
        let length = UInt32(bytes.count)
        let frame =
            (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) } + [0, 0, 0, 1, 21, 2, 0, 0]
        let packet = try? Packet.unpack(frame + bytes, by: .client, profile: .current)
        let expected = String(validating: bytes, as: UTF8.self)
        if packet?.body != expected.map({ .text($0) }) { Issue.record("wrong verdict on \(bytes)") }
    }
}
