import CAllocationCounter
import RivuletWire

extension BenchmarkSuite {
    /// The codec, per second of one core's time, and the blocks of memory that it asks for.
    ///
    /// `decode` reads frames in place, where the text is checked and lent to a visitor; `decode_packets` makes a packet
    /// of its own of each, with the text in a string, whose block alone costs about half of the time. `encode` writes
    /// packets from their parts, `encode_packets` from values put together before.
    static let wire = BenchmarkSuite(name: "wire", summary: "packets encoded and decoded per second") {
        report, options in
        for workload in WireWorkload.all {
            let stream = try workload.stream()
            let ways: [(name: String, bar: Double?, allocations: Double, run: () -> Void)] = [
                ("decode", workload.decodeBar, 0, { workload.read(stream) }),
                (
                    "decode_packets", nil, workload.messages.isEmpty ? 0 : 1,
                    { workload.decodePackets(stream) }
                ),
                ("encode", workload.encodeBar, 0, { workload.encode() }),
                ("encode_packets", nil, 0, { workload.encodePackets() }),
            ]
            for way in ways where options.includes("wire.\(way.name).\(workload.name)") {
                let samples = Samples(count: options.sampleCount, time: .cpu, of: way.run)
                report.add(workload.figure(way.name, samples, bar: way.bar))
                report.add(workload.allocations(way.name, bar: way.allocations, of: way.run))
            }
        }
    }
}

/// One kind of packet, many times.
///
/// Decoding goes the way of a server: a stream arrives in pieces of 64 KiB whose ends fall where they fall, and
/// each piece is drained before the next. Encoding makes packets, appends
/// them to one encoder, and takes its bytes once 64 KiB wait (a thousand messages make twice that).
private struct WireWorkload: Sendable {
    var name: String
    var decodeBar: Double
    var encodeBar: Double?
    /// What the packets say; PINGs when there are none.
    var messages: [IMMessage]

    private static let packetCount = 1_000_000
    private static let chunkByteCount = 65_536

    static let all = [
        WireWorkload(name: "ping", decodeBar: 80, encodeBar: 60, messages: []),
        WireWorkload(
            name: "im100", decodeBar: 20, encodeBar: 20,
            messages: messages(
                "{\"text\":\"The quick brown fox jumps over the lazy dog, again and again\",\"uuid\":\"")),
        WireWorkload(
            name: "im100han", decodeBar: 12, encodeBar: nil,
            messages: messages("{\"text\":\"敏捷的棕色狐狸一次又一次地跳过了那只懒狗\",\"uuid\":\"")),
    ]

    /// A thousand different messages whose content has 100 bytes.
    private static func messages(_ prefix: String) -> [IMMessage] {
        var generator = SeededGenerator(seed: 0x5EED)
        let digits = Array("0123456789abcdef")
        return (0..<1_000).map { index in
            var content = prefix
            while content.utf8.count < 98 { content.append(digits[Int(generator.next() % 16)]) }
            content += "\"}"
            return IMMessage(
                sender: Int64(1_000 + index), receiver: Int64(2_000 + index), timestamp: 1_700_000_000,
                content: content)
        }
    }

    /// The packets in a stream of about a mebibyte.
    private var streamPacketCount: Int { messages.isEmpty ? 87_000 : 8 * messages.count }

    /// How often the stream is decoded for one sample.
    private var roundCount: Int { Self.packetCount / streamPacketCount + 1 }

    /// The packets of one sample.
    private var sampledPacketCount: Int { streamPacketCount * roundCount }

    /// A stream of whole packets, in the pieces in which it arrives.
    func stream() throws -> [[UInt8]] {
        var encoder = PacketEncoder(role: .client, profile: .current)
        for index in 0..<streamPacketCount {
            if messages.isEmpty {
                try encoder.append(Packet(.ping, sequence: Int32(index)))
            } else {
                try encoder.append(Packet(.im, .im(messages[index % messages.count]), sequence: Int32(index)))
            }
        }
        let bytes = encoder.takeBytes()
        return stride(from: 0, to: bytes.count, by: Self.chunkByteCount).map { start in
            Array(bytes[start..<min(start + Self.chunkByteCount, bytes.count)])
        }
    }

    /// Looks at every frame where it lies; the text is checked and lent.
    @inline(never)
    func read(_ stream: [[UInt8]]) {
        var decoder = PacketDecoder(role: .server, profile: .current)
        var counter = FrameCounter()
        for _ in 0..<roundCount {
            for chunk in stream {
                do throws(WireError) {
                    try decoder.read(chunk, into: &counter)
                } catch {
                    preconditionFailure("the stream is well-formed: \(error)")
                }
            }
        }
        precondition(counter.count == sampledPacketCount)
        blackHole(counter.sum)
    }

    /// Makes a packet of its own of every frame, with its text in a string.
    @inline(never)
    func decodePackets(_ stream: [[UInt8]]) {
        var decoder = PacketDecoder(role: .server, profile: .current)
        var count = 0
        var sum = 0
        for _ in 0..<roundCount {
            for chunk in stream {
                decoder.append(chunk)
                do throws(WireError) {
                    while let frame = try decoder.next() {
                        guard case .packet(let packet) = frame else { continue }
                        count += 1
                        sum &+= Int(packet.sequence)
                        if case .im(let message) = packet.body { sum &+= message.content.utf8.count }
                    }
                } catch {
                    preconditionFailure("the stream is well-formed: \(error)")
                }
            }
        }
        precondition(count == sampledPacketCount)
        blackHole(sum)
    }

    /// Writes packets from their parts.
    @inline(never)
    func encode() {
        encodeStream { encoder, sequence, message throws(WireError) in
            if let message {
                try encoder.append(.im, .im(message), sequence: sequence)
            } else {
                try encoder.append(.ping, sequence: sequence)
            }
        }
    }

    /// Writes packets that are values of their own.
    @inline(never)
    func encodePackets() {
        encodeStream { encoder, sequence, message throws(WireError) in
            try encoder.append(
                message.map { Packet(.im, .im($0), sequence: sequence) } ?? Packet(.ping, sequence: sequence))
        }
    }

    @inline(__always)
    private func encodeStream(
        _ append: (inout PacketEncoder, Int32, IMMessage?) throws(WireError) -> Void
    ) {
        var encoder = PacketEncoder(role: .client, profile: .current)
        var sum = 0
        let count = Int32(sampledPacketCount)
        do throws(WireError) {
            var sequence: Int32 = 0
            while sequence < count {
                if messages.isEmpty {
                    try append(&encoder, sequence, nil)
                    sequence &+= 1
                } else {
                    for message in messages {
                        try append(&encoder, sequence, message)
                        sequence &+= 1
                    }
                }
                if encoder.byteCount >= Self.chunkByteCount { sum &+= encoder.takeBytes().count }
            }
        } catch {
            preconditionFailure("the packet is well-formed: \(error)")
        }
        blackHole(sum)
    }

    /// Blocks of memory a packet, to two places: the few for buffers that a whole stream shares do not show.
    func allocations(_ direction: String, bar: Double, of work: () -> Void) -> Figure {
        let before = allocation_count()
        work()
        let count = Double(allocation_count() - before) / Double(sampledPacketCount)
        return Figure(
            suite: "wire", name: "wire.\(direction).\(name).allocations",
            parameters: [("packets", sampledPacketCount)], value: (count * 100).rounded() / 100,
            unit: "blocks/packet", better: .lower, bar: bar)
    }

    func figure(_ direction: String, _ samples: Samples, bar: Double?) -> Figure {
        let millions = Double(sampledPacketCount) / 1e6
        let content = messages.first?.content.utf8.count
        return Figure(
            suite: "wire", name: "wire.\(direction).\(name)",
            parameters: [("packets", sampledPacketCount), ("chunk_bytes", Self.chunkByteCount)]
                + (content.map { [("content_bytes", $0)] } ?? []),
            value: millions / samples.median, best: millions / samples.best,
            unit: "M packets/s", better: .higher, bar: bar)
    }
}

/// Counts frames and adds up what they hold.
private struct FrameCounter: FrameVisitor {
    var count = 0
    var sum = 0

    mutating func visitEmpty(_ header: PacketHeader) {
        count += 1
        sum &+= Int(header.sequence)
    }

    mutating func visitMessage(_ header: PacketHeader, _ fields: IMMessageFields, text: UTF8Span) {
        count += 1
        sum &+= Int(header.sequence) &+ Int(truncatingIfNeeded: fields.sender) &+ text.count
    }

    mutating func visit(_ frame: DecodedFrame) {
        preconditionFailure("the stream holds nothing else: \(frame)")
    }
}

/// Keeps the optimiser from dropping the work that led to a value.
@inline(never)
func blackHole(_ value: Int) {
    if value == .min { print(value) }
}
