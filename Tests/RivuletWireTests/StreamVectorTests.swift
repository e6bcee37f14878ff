import RivuletWire
import Testing

@Suite struct `Chunked streams` {
    @Test func `are all there`() {
        #expect(Vectors.streams.count == 16)
    }

    @Test(arguments: Vectors.streams)
    func `give the expected frames and end`(_ vector: StreamVector) throws {
        let decoder = PacketDecoder(role: vector.receiver, profile: vector.profile)
        let result = decode(vector.chunks.map(Vectors.bytes), with: decoder)
        let expected = try vector.expect.map { name in
            let golden = try #require(Vectors.golden(named: name))
            return try Packet.unpack(golden.frame, by: golden.receiver, profile: golden.profile)
        }
        #expect(result.packets == expected)
        switch vector.end {
        case "open":
            #expect(result.failure == nil)
            #expect(result.end == nil)
        case "incomplete":
            #expect(result.failure == nil)
            #expect(result.end?.code == .needMoreBytes)
        default:
            #expect("reject:\(result.failure?.code.rawValue ?? "nothing")" == vector.end)
        }
    }
}
