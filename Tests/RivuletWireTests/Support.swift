import RivuletWire
import Testing

/// Lets a vector show up under its name in the test's output.
protocol CustomTestStringConvertibleByName: Sendable, CustomTestStringConvertible {
    var name: String { get }
}

extension CustomTestStringConvertibleByName {
    var testDescription: String { name }
}

/// What a decoder made of a byte stream.
struct DecodedStream: Equatable {
    var frames: [DecodedFrame] = []
    /// What `next()` threw.
    var failure: WireError?
    /// What `finish()` threw when `next()` threw nothing.
    var end: WireError?

    var packets: [Packet] {
        frames.compactMap { frame in
            if case .packet(let packet) = frame { packet } else { nil }
        }
    }
}

/// Feeds chunks to a decoder and collects all frames after each, in both ways, which must agree.
func decode(_ chunks: some Sequence<[UInt8]>, with decoder: PacketDecoder) -> DecodedStream {
    let chunks = Array(chunks)
    let result = decodePackets(chunks, with: decoder)
    #expect(read(chunks, with: decoder, into: FrameCollector()) == result, "read in place")
    #expect(
        read(chunks, with: decoder, into: PlainFrameCollector()) == result, "read in place without fields")
    return result
}

private func decodePackets(_ chunks: some Sequence<[UInt8]>, with decoder: PacketDecoder) -> DecodedStream {
    var decoder = decoder
    var result = DecodedStream()
    for chunk in chunks {
        decoder.append(chunk)
        do {
            while let frame = try decoder.next() { result.frames.append(frame) }
        } catch {
            result.failure = error
            return result
        }
    }
    do {
        try decoder.finish()
    } catch {
        result.end = error
    }
    return result
}

/// Reads chunks in place, every third one after it was appended.
private func read<Collector: Collecting>(
    _ chunks: [[UInt8]], with decoder: PacketDecoder, into collector: Collector
) -> DecodedStream {
    var decoder = decoder
    var collector = collector
    var result = DecodedStream()
    do {
        for (index, chunk) in chunks.enumerated() {
            if index % 3 == 1 {
                decoder.append(chunk)
                try decoder.read([], into: &collector)
            } else {
                try decoder.read(chunk, into: &collector)
            }
        }
    } catch {
        result.frames = collector.frames
        result.failure = error
        #expect(throws: error, "the same error again") { try decoder.read([0], into: &collector) }
        return result
    }
    result.frames = collector.frames
    do {
        try decoder.finish()
    } catch {
        result.end = error
    }
    return result
}

private protocol Collecting: FrameVisitor {
    var frames: [DecodedFrame] { get }
}

/// Rebuilds frames from the fields it is shown.
private struct FrameCollector: Collecting {
    var frames: [DecodedFrame] = []

    mutating func visitEmpty(_ header: PacketHeader) {
        frames.append(.packet(packet(header, .empty)))
    }

    mutating func visitMessage(_ header: PacketHeader, _ fields: IMMessageFields, text: UTF8Span) {
        frames.append(.packet(packet(header, .im(fields.message(text)))))
    }

    mutating func visit(_ frame: DecodedFrame) {
        if case .packet(let packet) = frame {
            switch packet.body {
            case .empty, .im: Issue.record("\(packet) has a method of its own")
            default: break
            }
        }
        frames.append(frame)
    }

    private func packet(_ header: PacketHeader, _ body: PacketBody) -> Packet {
        Packet(
            header.command, body, sequence: header.sequence, version: header.version, flags: header.flags)
    }
}

/// Has the one method that every visitor has.
private struct PlainFrameCollector: Collecting {
    var frames: [DecodedFrame] = []

    mutating func visit(_ frame: DecodedFrame) {
        frames.append(frame)
    }
}

/// Cuts bytes into pieces of a length.
func pieces(of bytes: [UInt8], length: Int) -> [[UInt8]] {
    stride(from: 0, to: bytes.count, by: length).map { Array(bytes[$0..<min($0 + length, bytes.count)]) }
}

/// The fields of a packet by name.
func fields(of packet: Packet) -> [String: VectorValue] {
    Dictionary(packet.fields.map { ($0.name, VectorValue($0.value)) }) { first, _ in first }
}
