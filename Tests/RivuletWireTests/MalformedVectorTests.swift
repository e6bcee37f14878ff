import RivuletWire
import Testing

@Suite struct `Malformed input` {
    @Test func `is all there`() {
        #expect(Vectors.malformed.count == 154)
        #expect(Set(Vectors.malformed.map(\.verdict)) == ["reject", "skip", "incomplete"])
    }

    @Test(arguments: Vectors.malformed)
    func `gets its verdict and reason`(_ vector: MalformedInput) {
        let decoder = PacketDecoder(role: vector.receiver, profile: vector.profile)
        let bytes = Vectors.bytes(vector.hex)
        for chunks in [[bytes], pieces(of: bytes, length: 1)] {
            let result = decode(chunks, with: decoder)
            #expect(result.packets.isEmpty)
            switch vector.verdict {
            case "reject":
                #expect(result.failure?.code.rawValue == vector.reason)
                #expect(result.failure?.command?.rawValue == vector.cmd)
                #expect(vector.close)
            case "skip":
                #expect(result.failure == nil)
                #expect(result.end == nil)
                #expect(!vector.close)
                guard case .skipped(let header, let error) = result.frames.first else {
                    Issue.record("nothing was skipped: \(result)")
                    return
                }
                #expect(result.frames.count == 1)
                #expect(header.command.rawValue == vector.cmd)
                #expect(error.code.rawValue == vector.reason)
            default:
                #expect(result.frames.isEmpty)
                #expect(result.failure == nil)
                #expect((result.end?.code ?? .needMoreBytes).rawValue == vector.reason)
                #expect((result.end == nil) == bytes.isEmpty)
                #expect(result.end?.command?.rawValue == vector.cmd)
            }
        }
    }

    @Test(arguments: Vectors.malformed.filter { $0.verdict != "incomplete" })
    func `never unpacks`(_ vector: MalformedInput) {
        let error = #expect(throws: WireError.self) {
            try Packet.unpack(Vectors.bytes(vector.hex), by: vector.receiver, profile: vector.profile)
        }
        #expect(error?.code.rawValue == vector.reason)
    }
}
