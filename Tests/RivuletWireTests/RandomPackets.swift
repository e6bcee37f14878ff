import RivuletWire

/// A small generator whose whole sequence follows from its seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

/// Random packets that survive a round trip: only what travels is random.
struct RandomPackets {
    let receiver: Role
    let profile: Profile
    var generator: SeededGenerator

    /// What each end reads and a peer may write (docs/protocol.md, section 5).
    static func commands(receiver: Role, profile: Profile) -> [UInt8] {
        switch (receiver, profile) {
        case (.server, .seed): [1, 2, 4, 5, 8, 10, 11, 13, 14, 15, 17, 18, 19, 20, 22, 23, 24, 25, 64, 65]
        case (.server, .current): [4, 5, 8, 13, 14, 15, 17, 18, 19, 20, 22, 26, 30, 34, 35, 37, 64]
        case (.client, .seed): [3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 17, 20, 21, 23, 24, 25, 64, 65]
        case (.client, .current): [3, 4, 5, 7, 8, 14, 17, 20, 21, 27, 28, 29, 31, 32, 33, 36, 37, 64]
        }
    }

    var sender: Role { receiver == .server ? .client : .server }

    /// A random packet of a random command.
    mutating func next() -> Packet {
        let commands = Self.commands(receiver: receiver, profile: profile)
        return packet(commands[Int.random(in: 0..<commands.count, using: &generator)])
    }

    /// A random packet of this command.
    mutating func packet(_ number: UInt8) -> Packet {
        let version = UInt8.random(in: 0...3, using: &generator)
        let flags = profile == .seed ? 0 : UInt8.random(in: 0...0x3F, using: &generator)
        return Packet(
            Command(rawValue: number), body(number, version: version), sequence: int32(), version: version,
            flags: PacketFlags(rawValue: flags))
    }

    private mutating func body(_ number: UInt8, version: UInt8) -> PacketBody {
        switch number {
        case 2: .auth(AuthenticationUser(uid: int64()))
        case 3: authStatus(version: version)
        case 4, 8:
            .im(
                IMMessage(
                    sender: int64(), receiver: int64(), timestamp: version == 0 ? 0 : int32(),
                    msgLocalID: int32(), content: text()))
        case 5:
            .ack(
                Acknowledgement(
                    sequence: int32(),
                    status: ACKStatus(rawValue: version < 2 ? 0 : .random(in: 0...127, using: &generator))))
        case 7, 21, 36: .text(text())
        case 15:
            .authToken(
                AuthenticationToken(
                    token: "t" + text(bytesMax: 100), platformID: platform(), deviceID: text(bytesMax: 120)))
        case 17, 20: .room(RoomMessage(sender: int64(), receiver: int64(), content: text()))
        case 18, 19: .roomID(int64())
        case 22: .unreadCount(int32())
        case 26, 27, 28, 29, 34: .syncKey(int64())
        case 30, 31, 32, 33, 35: .groupSyncKey(GroupSyncKey(groupID: int64(), key: int64()))
        case 37: .metadata(Metadata(syncKey: int64(), previousSyncKey: int64()))
        default: rareBody(number)
        }
    }

    private mutating func rareBody(_ number: UInt8) -> PacketBody {
        switch number {
        case 9: .peerACK(PeerAcknowledgement(sender: int64(), receiver: int64(), msgLocalID: int32()))
        case 10: .inputing(MessageInputing(sender: int64(), receiver: int64()))
        case 11:
            .onlineStateSubscription((0..<Int.random(in: 0...9, using: &generator)).map { _ in int64() })
        case 12: .onlineState(OnlineState(uid: int64(), online: int32()))
        case 16: .loginPoint(LoginPoint(upTimestamp: int32(), platformID: platform(), deviceID: "d" + text()))
        case 23:
            .customerService(
                CustomerServiceMessage(
                    customerID: int64(), sender: int64(), receiver: int64(), timestamp: int32(),
                    content: text()))
        case 24, 25:
            .customer(
                CustomerMessage(
                    customerAppID: int64(), customerID: int64(), storeID: int64(), sellerID: int64(),
                    timestamp: int32(), content: text()))
        case 64 where profile == .current:
            .customerV2(
                CustomerMessageV2(
                    senderAppID: int64(), sender: int64(), receiverAppID: int64(), receiver: int64(),
                    timestamp: int32(), content: text()))
        case 64, 65:
            .voip(VOIPControl(sender: int64(), receiver: int64(), content: [1] + Array(text().utf8)))
        default: .empty
        }
    }

    private mutating func authStatus(version: UInt8) -> PacketBody {
        let hasIP = profile == .seed && version == 0 && Bool.random(using: &generator)
        return .authStatus(AuthenticationStatus(status: hasIP ? 0 : int32(), ip: hasIP ? int32() : nil))
    }

    private mutating func int64() -> Int64 {
        let extremes: [Int64] = [.min, -1, 0, 1, .max]
        let choice = Int.random(in: 0..<10, using: &generator)
        return choice < extremes.count ? extremes[choice] : Int64.random(in: .min ... .max, using: &generator)
    }

    private mutating func int32() -> Int32 {
        Int32(truncatingIfNeeded: int64())
    }

    private mutating func platform() -> PlatformID {
        PlatformID(rawValue: .random(in: .min ... .max, using: &generator))
    }

    /// Text of every width of UTF-8, NUL included.
    mutating func text(bytesMax: Int = 200) -> String {
        let letters = [
            "a", "{\"text\":\"hello\"}", "é", "好", "ሴ", "퟿", "\u{E000}", "😀", "\u{10FFFF}", "\0", "ไทย",
            "한국어",
        ]
        var text = ""
        for _ in 0..<Int.random(in: 0...30, using: &generator) {
            let letter = letters[Int.random(in: 0..<letters.count, using: &generator)]
            if text.utf8.count + letter.utf8.count <= bytesMax { text += letter }
        }
        return text
    }
}
