import RivuletWire

/// What libFuzzer calls with each input.
///
/// | offset | size | meaning |
/// |---:|---:|---|
/// | 0 | 1 | bit 0: the receiver is a client; bit 1: the profile is current; bits 4–7: n, how many lengths follow |
/// | 1 | n | lengths of pieces, used in turn; 0 is an empty piece |
/// | 1 + n | | the stream |
///
/// Three things must hold: nothing traps, the pieces give exactly what the whole gives, and every packet that came
/// out can be written again and read back as the same packet.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let control = input.first else { return 0 }
    let lengthCount = min(Int(control >> 4), input.count - 1)
    let lengths = input[1..<(1 + lengthCount)].map(Int.init)
    let stream = Array(input[(1 + lengthCount)...])
    let role: Role = control & 1 == 0 ? .server : .client
    let profile: Profile = control & 2 == 0 ? .seed : .current

    let whole = Outcome(of: [stream], role: role, profile: profile)
    let pieces = Outcome(of: cut(stream, lengths), role: role, profile: profile)
    precondition(whole == pieces, "the pieces gave \(pieces), the whole \(whole)")
    let inPlace = Outcome(inPlace: cut(stream, lengths), role: role, profile: profile)
    precondition(whole == inPlace, "read in place it gave \(inPlace), the whole \(whole)")
    for frame in whole.frames {
        if case .packet(let packet) = frame { checkRoundTrip(packet, role: role, profile: profile) }
    }
    return 0
}

/// Everything that a decoder made of a stream.
private struct Outcome: Equatable {
    var frames: [DecodedFrame] = []
    var failure: WireError?
    var end: WireError?

    init(of chunks: [[UInt8]], role: Role, profile: Profile) {
        var decoder = PacketDecoder(role: role, profile: profile)
        do throws(WireError) {
            for chunk in chunks {
                decoder.append(chunk)
                while let frame = try decoder.next() { frames.append(frame) }
            }
        } catch {
            failure = error
            return
        }
        finish(decoder)
    }

    init(inPlace chunks: [[UInt8]], role: Role, profile: Profile) {
        var decoder = PacketDecoder(role: role, profile: profile)
        var collector = FrameCollector()
        do throws(WireError) {
            for chunk in chunks { try decoder.read(chunk, into: &collector) }
        } catch {
            frames = collector.frames
            failure = error
            return
        }
        frames = collector.frames
        finish(decoder)
    }

    private mutating func finish(_ decoder: PacketDecoder) {
        do throws(WireError) {
            try decoder.finish()
        } catch {
            end = error
        }
    }
}

/// Keeps every frame it is shown.
private struct FrameCollector: FrameVisitor {
    var frames: [DecodedFrame] = []

    mutating func visitMessage(_ header: PacketHeader, _ fields: IMMessageFields, text: UTF8Span) {
        let body = PacketBody.im(fields.message(text))
        frames.append(
            .packet(
                Packet(
                    header.command, body, sequence: header.sequence, version: header.version,
                    flags: header.flags)))
    }

    mutating func visit(_ frame: DecodedFrame) {
        frames.append(frame)
    }
}

/// Cuts a stream into pieces of the given lengths, in turn; one byte at a time when there are none.
private func cut(_ stream: [UInt8], _ lengths: [Int]) -> [[UInt8]] {
    var chunks: [[UInt8]] = []
    var start = 0
    while start < stream.count {
        // A turn of nothing but empty pieces would never end.
        let length = lengths.isEmpty ? 1 : lengths[chunks.count % lengths.count]
        let isStuck = length == 0 && chunks.suffix(lengths.count).allSatisfy(\.isEmpty)
        let end = min(start + (isStuck ? 1 : length), stream.count)
        chunks.append(Array(stream[start..<end]))
        start = end
    }
    return chunks
}

/// What was read can be written and read again, but for the flags without meaning.
private func checkRoundTrip(_ packet: Packet, role: Role, profile: Profile) {
    var expected = packet
    expected.flags = profile == .seed ? [] : packet.flags.intersection(PacketFlags(rawValue: 0x3F))
    do throws(WireError) {
        let bytes = try packet.pack(from: role == .server ? .client : .server, profile: profile)
        let again = try Packet.unpack(bytes, by: role, profile: profile)
        precondition(again == expected, "\(expected) came back as \(again)")
    } catch {
        // Layouts that are read only; and a login with two empty texts, which is long enough only with excess bytes.
        precondition(
            error.code == .decodeOnly || error == WireError(.shortBody, command: .authToken, length: 3))
    }
}
