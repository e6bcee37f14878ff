import RivuletWire
import Testing

@Suite struct `A decoder` {
    @Test func `keeps throwing what it threw first, whatever follows`() {
        var decoder = PacketDecoder(role: .client, profile: .current)
        decoder.append(Vectors.bytes("ffffffff000000010e020000"))
        let expected = WireError(.negativeLength, command: .pong, offset: 0, length: -1)
        #expect(throws: expected) { try decoder.next() }
        decoder.append(Vectors.bytes("00000000000000010e020000"))
        #expect(decoder.bufferedByteCount == 0)
        #expect(throws: expected) { try decoder.next() }
        #expect(throws: expected) { try decoder.finish() }
        decoder.reset()
        decoder.append(Vectors.bytes("00000000000000010e020000"))
        #expect(throws: Never.self) { try decoder.next() == .packet(Packet(.pong, sequence: 1)) }
    }

    @Test func `judges a header before the body is there`() {
        for hex in ["0000000f0000000111020000", "000080000000000104020000", "000000010000000163020000"] {
            var decoder = PacketDecoder(role: .server, profile: .current)
            decoder.append(Vectors.bytes(hex))
            #expect(throws: WireError.self) { try decoder.next() }
        }
    }

    @Test(arguments: [(Role.server, 32_767), (.client, 1_048_575)])
    func `accepts a body of its limit and none above`(_ role: Role, _ limit: Int) throws {
        let message = IMMessage(sender: 1, receiver: 2, content: String(repeating: "a", count: limit - 24))
        let sender: Role = role == .server ? .client : .server
        let bytes = try Packet(.im, .im(message)).pack(from: sender, profile: .current)
        let result = decode(
            pieces(of: bytes, length: 65_536), with: PacketDecoder(role: role, profile: .current))
        #expect(result == DecodedStream(frames: [.packet(Packet(.im, .im(message)))]))
        let longer = IMMessage(sender: 1, receiver: 2, content: message.content + "a")
        #expect(throws: WireError(.lengthOverLimit, command: .im, offset: 0, length: limit + 1)) {
            try Packet(.im, .im(longer)).pack(from: sender, profile: .current)
        }
        let narrow = PacketDecoder(role: role, profile: .current, bodyBytesMax: limit - 1)
        #expect(decode([bytes], with: narrow).failure?.code == .lengthOverLimit)
    }

    @Test func `drains many frames of one chunk and holds nothing back`() throws {
        var encoder = PacketEncoder(role: .client, profile: .current)
        for sequence in 0..<20_000 { try encoder.append(Packet(.ping, sequence: Int32(sequence))) }
        var decoder = PacketDecoder(role: .server, profile: .current)
        decoder.append(encoder.takeBytes())
        for sequence in 0..<20_000 {
            #expect(try decoder.next() == .packet(Packet(.ping, sequence: Int32(sequence))))
        }
        #expect(try decoder.next() == nil)
        #expect(decoder.bufferedByteCount == 0)
    }

    @Test func `of a seed server lets any number pass whose body is empty`() {
        let decoder = PacketDecoder(role: .server, profile: .seed)
        let frames = decode([Vectors.bytes("000000000000000163010000")], with: decoder).frames
        let header = PacketHeader(
            length: 0, sequence: 1, command: Command(rawValue: 99), version: 1, flags: [])
        #expect(frames == [.skipped(header, WireError(.unknownCommand, command: header.command, offset: 8))])
        #expect(decode([Vectors.bytes("00000001000000016301000000")], with: decoder).failure != nil)
    }

    @Test func `names the place of the fault and nothing of the content`() {
        let frame = "0000001a0000000104020000000000000000000100000000000000020000000300000000" + "41c3"
        let result = decode([Vectors.bytes(frame)], with: PacketDecoder(role: .server, profile: .current))
        #expect(result.failure == WireError(.invalidUTF8, command: .im, offset: 37))
        #expect(result.failure?.description == "invalid_utf8 in command 4 at byte 37")
    }
}

@Suite struct `An encoder` {
    @Test func `leaves its bytes alone when it refuses a packet`() throws {
        var encoder = PacketEncoder(role: .client, profile: .current)
        try encoder.append(Packet(.ping, sequence: 1))
        #expect(throws: WireError(.bodyMismatch, command: .im)) { try encoder.append(Packet(.im)) }
        #expect(encoder.byteCount == 12)
        #expect(encoder.takeBytes() == Vectors.bytes("00000000000000010d020000"))
        #expect(encoder.byteCount == 0)
        #expect(encoder.takeBytes() == [])
    }

    @Test(arguments: [
        (Profile.current, 255, true), (.current, 256, false), (.seed, 127, true), (.seed, 128, false),
    ])
    func `refuses a text longer than its length byte says`(_ profile: Profile, _ length: Int, _ fits: Bool) {
        let text = String(repeating: "é", count: length / 2) + String(repeating: "a", count: length % 2)
        for (token, deviceID) in [(text, "d"), ("t", text)] {
            let packet = Packet(
                .authToken,
                .authToken(AuthenticationToken(token: token, platformID: .iOS, deviceID: deviceID)))
            let bytes = try? packet.pack(from: .client, profile: profile)
            #expect((bytes != nil) == fits)
            if !fits {
                #expect(throws: WireError(.stringTooLong, command: .authToken, length: length)) {
                    try packet.pack(from: .client, profile: profile)
                }
            }
        }
    }

    @Test func `refuses what the peer would not read`() {
        let refusals: [(Packet, Role, Profile, WireError.Code)] = [
            (Packet(.heartbeat), .client, .current, .commandNotAllowed),
            (Packet(.sync, .syncKey(1)), .client, .seed, .commandNotAllowed),
            (Packet(.sync, .syncKey(1)), .server, .current, .unknownCommand),
            (Packet(Command(rawValue: 99), .custom([])), .client, .current, .unknownCommand),
            (Packet(.ping, .text("x")), .client, .current, .bodyMismatch),
            (Packet(.customer, customer), .client, .current, .decodeOnly),
            (Packet(.customer, customer), .server, .current, .decodeOnly),
            (
                Packet(.voipControl, .voip(VOIPControl(sender: 1, receiver: 2, content: []))), .server, .seed,
                .decodeOnly
            ),
            (Packet(.authToken, login), .client, .current, .shortBody),
            (
                Packet(.ack, .ack(Acknowledgement(sequence: 1, status: ACKStatus(rawValue: 255)))), .server,
                .current, .decodeOnly
            ),
        ]
        for (packet, sender, profile, code) in refusals {
            let error = #expect(throws: WireError.self) { try packet.pack(from: sender, profile: profile) }
            #expect(error?.code == code, "command \(packet.command.rawValue)")
        }
    }

    @Test func `unpacks exactly one frame`() throws {
        let ping = try Packet(.ping).pack(from: .client, profile: .current)
        let longer = #expect(throws: WireError.self) {
            try Packet.unpack(ping + [0], by: .server, profile: .current)
        }
        #expect(longer?.code == .trailingBytes)
        #expect(longer?.offset == 12)
        for bytes in [[], Array(ping.dropLast())] {
            let error = #expect(throws: WireError.self) {
                try Packet.unpack(bytes, by: .server, profile: .current)
            }
            #expect(error?.code == .needMoreBytes)
        }
    }

    private var customer: PacketBody {
        .customer(CustomerMessage(customerAppID: 1, customerID: 2, storeID: 3, sellerID: 4, content: ""))
    }

    private var login: PacketBody {
        .authToken(AuthenticationToken(token: "", platformID: .iOS, deviceID: ""))
    }
}
