import RivuletWire
import Testing

@Suite struct `Golden frames` {
    /// Layouts that the parser reads without the field that existed for a day (docs/protocol.md, section 6).
    private static let unreadFields = ["var_sync_notify_with_prev", "var_sync_group_notify_with_prev"]
    /// The login of development servers, which sits behind a switch of its own.
    private static let developmentLogin = "var_auth_token_int_device"
    /// First-generation customer messages that a current server lets through and drops.
    private static let retired = ["cur_customer_old_c2s", "cur_customer_support_old_unpersistent"]

    @Test func `are all there`() {
        #expect(Vectors.golden.count == 171)
        #expect(Vectors.golden.filter(\.isDecodeOnly).count == 16)
        #expect(Set(Vectors.golden.map(\.name)).count == 171)
    }

    @Test(arguments: Vectors.golden)
    func `decode to their header and fields`(_ vector: GoldenFrame) throws {
        let packet = try decoded(vector)
        #expect(packet.command.rawValue == vector.cmd)
        #expect(packet.sequence == vector.seq)
        #expect(packet.version == vector.version)
        #expect(packet.flags.rawValue == vector.flag)
        var expected = vector.expectedFields
        if Self.unreadFields.contains(vector.name) { expected["prev_sync_key"] = nil }
        if vector.name == Self.developmentLogin {
            var registry = CommandRegistry()
            registry.acceptDevelopmentLogin()
            let body = try registry.body(of: packet, as: DevelopmentLogin.self)
            #expect(body.platformID == .android)
            #expect(body.deviceNumber == 77)
            #expect(body.token == "abc")
        } else {
            #expect(fields(of: packet) == expected)
        }
    }

    @Test(arguments: Vectors.golden.filter { !$0.isDecodeOnly })
    func `encode to the same bytes`(_ vector: GoldenFrame) throws {
        let packet = try decoded(vector)
        #expect(try packet.pack(from: vector.sender, profile: vector.profile) == vector.frame)
    }

    @Test(arguments: Vectors.golden.filter(\.isDecodeOnly))
    func `are never produced when they are decode-only`(_ vector: GoldenFrame) throws {
        let packet = try decoded(vector)
        let produced = try? packet.pack(from: vector.sender, profile: vector.profile)
        #expect(produced != vector.frame)
    }

    private func decoded(_ vector: GoldenFrame) throws -> Packet {
        var registry = CommandRegistry()
        if vector.name == Self.developmentLogin { registry.acceptDevelopmentLogin() }
        let receiver: Role = Self.retired.contains(vector.name) ? .client : vector.receiver
        return try Packet.unpack(vector.frame, by: receiver, profile: vector.profile, registry: registry)
    }
}
