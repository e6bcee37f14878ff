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

/// Feeds chunks to a decoder and collects all frames after each.
func decode(_ chunks: some Sequence<[UInt8]>, with decoder: PacketDecoder) -> DecodedStream {
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

/// Cuts bytes into pieces of a length.
func pieces(of bytes: [UInt8], length: Int) -> [[UInt8]] {
    stride(from: 0, to: bytes.count, by: length).map { Array(bytes[$0..<min($0 + length, bytes.count)]) }
}

/// The fields of a packet by name.
func fields(of packet: Packet) -> [String: VectorValue] {
    Dictionary(packet.fields.map { ($0.name, VectorValue($0.value)) }) { first, _ in first }
}
