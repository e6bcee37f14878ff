import RivuletWire
import Testing

/// A body of one byte that must not be zero.
private struct Nudge: CustomBody, Equatable {
    var strength: UInt8

    init(strength: UInt8) {
        self.strength = strength
    }

    init(bodyBytes: [UInt8]) throws(WireError) {
        guard bodyBytes.count == 1, bodyBytes[0] > 0 else { throw WireError(.badCount, offset: 12) }
        strength = bodyBytes[0]
    }

    func bodyBytes() throws(WireError) -> [UInt8] { [strength] }
}

private struct Other: CustomBody {
    init(bodyBytes: [UInt8]) throws(WireError) {}

    func bodyBytes() throws(WireError) -> [UInt8] { [] }
}

@Suite struct `A command registry` {
    private let number = Command(rawValue: 100)

    @Test func `gives out free numbers only`() {
        let taken = Array(0...37) + [64, 65] + Array(130...138) + Array(220...222) + Array(247...255)
        for value in UInt8.min...UInt8.max {
            var registry = CommandRegistry()
            let command = Command(rawValue: value)
            let isFree = (try? registry.register(Nudge.self, for: command)) != nil
            #expect(isFree == !taken.contains(Int(value)), "\(value)")
            #expect(registry.isRegistered(command) == isFree)
        }
    }

    @Test func `says why it refuses`() throws {
        var registry = CommandRegistry()
        try registry.register(Nudge.self, for: number)
        #expect(throws: CommandRegistryError(.alreadyRegistered, command: number)) {
            try registry.register(Other.self, for: number)
        }
        #expect(throws: CommandRegistryError(.takenByProtocol, command: .im)) {
            try registry.register(Nudge.self, for: .im)
        }
        #expect(throws: CommandRegistryError(.serverInternal, command: Command(rawValue: 255))) {
            try registry.register(Nudge.self, for: Command(rawValue: 255))
        }
        #expect(throws: CommandRegistryError(.noReceiver, command: Command(rawValue: 101))) {
            try registry.register(Nudge.self, for: Command(rawValue: 101), receivedBy: [])
        }
    }

    @Test(arguments: Role.allCases, Profile.allCases)
    func `carries a typed body both ways`(_ receiver: Role, _ profile: Profile) throws {
        var registry = CommandRegistry()
        try registry.register(Nudge.self, for: number)
        let packet = try registry.packet(Nudge(strength: 7), for: number, sequence: 3)
        let sender: Role = receiver == .server ? .client : .server
        let bytes = try packet.pack(from: sender, profile: profile, registry: registry)
        let unpacked = try Packet.unpack(bytes, by: receiver, profile: profile, registry: registry)
        #expect(unpacked == packet)
        #expect(try registry.body(of: unpacked, as: Nudge.self) == Nudge(strength: 7))
        #expect(throws: WireError(.bodyMismatch, command: number)) {
            try registry.body(of: unpacked, as: Other.self)
        }
        #expect(throws: WireError(.unknownCommand, command: number, offset: 8)) {
            try Packet.unpack(bytes, by: receiver, profile: profile)
        }
    }

    @Test func `lets no body pass that its type refuses`() throws {
        var registry = CommandRegistry()
        try registry.register(Nudge.self, for: number)
        let bad = Packet(number, .custom([0]))
        #expect(throws: WireError(.badCount, command: number, offset: 12)) {
            try bad.pack(from: .client, profile: .current, registry: registry)
        }
        let frame = Vectors.bytes("00000001000000016402000000")
        let server = PacketDecoder(role: .server, profile: .current, registry: registry)
        #expect(decode([frame], with: server).failure?.code == .badCount)
        let client = PacketDecoder(role: .client, profile: .current, registry: registry)
        #expect(decode([frame], with: client).frames.count == 1)
        #expect(decode([frame], with: client).packets.isEmpty)
    }

    @Test func `keeps to the receivers it was given`() throws {
        var registry = CommandRegistry()
        try registry.register(Nudge.self, for: number, receivedBy: [.client])
        let packet = try registry.packet(Nudge(strength: 1), for: number)
        #expect(throws: WireError.self) {
            try packet.pack(from: .client, profile: .current, registry: registry)
        }
        #expect(throws: Never.self) {
            try packet.pack(from: .server, profile: .current, registry: registry)
        }
    }
}
