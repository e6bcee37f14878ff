import RivuletWire
import Testing

/// Frames recorded from a running public server (docs/protocol.md, section 23), all of the current profile.
@Suite struct `Recorded frames` {
    /// Lines whose frames no server accepts: short bodies, a length byte past the end, a PING with a body.
    private static let refused = [
        "short_body": 4, "string_overrun": 2, "nonempty_body": 1,
    ]

    @Test func `are all there`() {
        #expect(Vectors.captures.count == 331)
        // One of the twenty scenarios is about a connection on which nothing was sent.
        #expect(Set(Vectors.captures.map(\.scenario)).count == 19)
    }

    @Test func `decode as their descriptions say`() {
        var refused: [String: Int] = [:]
        var described = 0
        for capture in Vectors.captures {
            let decoder = PacketDecoder(role: capture.receiver, profile: .current)
            let result = decode([capture.bytes], with: decoder)
            if let failure = result.failure {
                refused[failure.code.rawValue, default: 0] += 1
                continue
            }
            guard let packet = result.packets.first else {
                Issue.record("line \(capture.line) holds no packet")
                continue
            }
            #expect(result.end == nil)
            #expect(
                capture.description.hasPrefix(description(of: packet, in: capture)), "line \(capture.line)")
            described += 1
        }
        #expect(refused == Self.refused)
        #expect(described == 324)
    }

    @Test func `encode to the same bytes where they are canonical`() throws {
        var same = 0
        for capture in Vectors.captures {
            let decoder = PacketDecoder(role: capture.receiver, profile: .current)
            let result = decode([capture.bytes], with: decoder)
            guard result.failure == nil else { continue }
            var encoder = PacketEncoder(role: capture.sender, profile: .current)
            for packet in result.packets { try encoder.append(packet) }
            let bytes = encoder.takeBytes()
            if bytes == capture.bytes {
                same += 1
            } else {
                // Scenario 05 holds one login with bytes behind the device id.
                #expect(capture.scenario.hasPrefix("05"), "line \(capture.line)")
                #expect(bytes.count < capture.bytes.count)
            }
        }
        #expect(same == 323)
    }

    @Test func `hold two frames in one line of scenario 13`() {
        let doubled = Vectors.captures.filter { capture in
            let decoder = PacketDecoder(role: capture.receiver, profile: .current)
            return decode([capture.bytes], with: decoder).packets.count == 2
        }
        #expect(doubled.map { $0.scenario.prefix(2) } == ["13"])
    }

    /// The line that the recorder wrote for a packet; it took the first frame's content to the end of the line.
    private func description(of packet: Packet, in capture: CapturedFrame) -> String {
        let flag = packet.flags.rawValue
        let length = capture.bytes[0..<4].reduce(0) { $0 << 8 | Int($1) }
        let header =
            "\(packet.command.name(in: .current) ?? "?")(\(packet.command.rawValue)) len=\(length) "
            + "seq=\(packet.sequence) ver=\(packet.version) flag=0x\(flag < 16 ? "0" : "")\(String(flag, radix: 16))"
        return header + body(of: packet)
    }

    private func body(of packet: Packet) -> String {
        switch packet.body {
        case .authToken(let body):
            " platform=\(body.platformID.rawValue) token=\(bytes(body.token)) device=\(bytes(body.deviceID))"
        case .authStatus(let body): " status=\(body.status)"
        case .im(let body):
            " sender=\(body.sender) receiver=\(body.receiver)"
                + (packet.version == 0 ? "" : " ts=\(body.timestamp)")
                // No closing quote: the line of two frames goes on.
                + " msgid=\(body.msgLocalID) content=\(bytes(body.content).dropLast())"
        case .ack(let body):
            " acked_seq=\(body.sequence) "
                + (packet.version < 2 ? "(no status byte)" : "status=\(body.status.rawValue)")
        case .metadata(let body):
            " sync_key=\(body.syncKey) prev_sync_key=\(body.previousSyncKey) tail="
                + String(repeating: "0", count: 32)
        case .syncKey(let key): " key=\(key)"
        case .groupSyncKey(let body): " group=\(body.groupID) key=\(body.key)"
        case .roomID(let id): " room=\(id)"
        case .room(let body):
            " sender=\(body.sender) receiver=\(body.receiver) content=\(bytes(body.content))"
        case .text(let text): " body=\(bytes(text))"
        case .unreadCount(let count): " count=\(count)"
        case .customerV2(let body):
            " s_app=\(body.senderAppID) sender=\(body.sender) r_app=\(body.receiverAppID) "
                + "receiver=\(body.receiver) ts=\(body.timestamp) content=\(bytes(body.content))"
        case .empty: ""
        default: " ?"
        }
    }

    /// Text as the recorder quoted it; all of it is ASCII without quotes of its own.
    private func bytes(_ text: String) -> String {
        "b'\(text)'"
    }
}
