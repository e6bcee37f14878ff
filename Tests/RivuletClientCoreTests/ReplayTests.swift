import Foundation
import RivuletWire
import Testing

@testable import RivuletClientCore

/// What real servers sent, played to a client: order and relations are checked, not clock values.
@Suite("Recorded servers")
struct ReplayTests {
    private static let vectors = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .appending(path: "RivuletWireTests/Vectors")

    private struct Line: Decodable {
        var scenario: String
        var conn: String
        var dir: String?
        var hex: String?
    }

    /// The bytes that each connection of each recorded scenario got, by name.
    private static let recordings: [String: [[UInt8]]] = {
        var recordings: [String: [[UInt8]]] = [:]
        let text = (try? String(contentsOf: vectors.appending(path: "captures.jsonl"), encoding: .utf8)) ?? ""
        for line in text.split(separator: "\n") {
            guard let line = try? JSONDecoder().decode(Line.self, from: Data(line.utf8)), line.dir == "s2c",
                let hex = line.hex
            else { continue }
            recordings["\(line.scenario), \(line.conn)", default: []].append(bytes(hex))
        }
        return recordings
    }()

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
        }
    }

    @Test func `there are recordings`() {
        #expect(Self.recordings.count > 20)
    }

    @Test(arguments: recordings.keys.sorted())
    func `a client of the current profile follows a recorded server`(name: String) throws {
        let chunks = try #require(Self.recordings[name])
        let frames = try packets(in: chunks, profile: .current)
        // It begins where the first live copy continues, so that the copies are its own.
        let firstKey = frames.lazy.compactMap { packet -> Int64? in
            if case .metadata(let keys) = packet.body { keys.previousSyncKey } else { nil }
        }.first { $0 > 0 }
        var driver = CoreDriver.online(restored: RestoredState(peerKey: firstKey ?? 1))
        var actions: [ClientAction] = []
        for chunk in chunks where !isLoginAnswer(chunk) {
            actions += driver.tell(.received(driver.core.epoch, chunk))
            while driver.core.commits.inFlight != nil { actions += driver.commit() }
        }
        #expect(driver.core.isOnline, "the connection stands")
        #expect(actions.diagnostics.isEmpty)

        let stored = frames.filter {
            [.im, .groupIM, .groupNotification, .system, .customerV2].contains($0.command)
        }
        let told = actions.notifications.compactMap { notification -> PacketBody? in
            if case .message(let message) = notification { message.body } else { nil }
        }
        #expect(isSubsequence(told, of: stored.map(\.body)), "in the order of the server")
        let synced = stored.filter { !$0.flags.contains(.push) }
        #expect(isSubsequence(synced.map(\.body), of: told), "all of every round")
        let acknowledged = actions.packets().compactMap { packet -> Int32? in
            if case .ack(let acknowledgement) = packet.body { acknowledgement.sequence } else { nil }
        }
        #expect(acknowledged.count == told.count && Set(acknowledged).count == told.count)
        #expect(Set(acknowledged).isSubset(of: Set(stored.map(\.sequence))))
        let live = frames.count { [.rt, .roomIM, .notification].contains($0.command) }
        let toldLive = actions.notifications.count { if case .livePacket = $0 { true } else { false } }
        #expect(toldLive == live)
    }

    private struct Golden: Decodable {
        var name: String
        var era: String
        var direction: String
        var hex: String
        var repeat_tail: RepeatedTail?

        struct RepeatedTail: Decodable {}
    }

    @Test func `a client of the seed profile takes every vector of a seed server`() throws {
        let data = try Data(contentsOf: Self.vectors.appending(path: "golden.json"))
        let vectors = try JSONDecoder().decode([Golden].self, from: data).filter {
            $0.era == "seed" && $0.direction == "s2c" && $0.repeat_tail == nil
        }
        #expect(vectors.count > 10)
        var seen: Set<Command> = []
        for vector in vectors {
            var driver = CoreDriver { $0.profile = .seed }
            driver.logIn(restored: RestoredState())
            let bytes = Self.bytes(vector.hex)
            let packet = try #require(try packets(in: [bytes], profile: .seed).first, "\(vector.name)")
            seen.insert(packet.command)
            let first = driver.tell(.received(driver.core.epoch, bytes))
            let actions = first + driver.commit()
            switch packet.command {
            case .im, .groupIM, .groupNotification, .system, .customer, .customerSupport:
                #expect(first.packets(.seed).isEmpty, "\(vector.name): nothing before the commit")
                #expect(
                    actions.packets(.seed).map(\.body) == [
                        .ack(Acknowledgement(sequence: packet.sequence))
                    ], "\(vector.name)")
                #expect(
                    actions.notifications.contains {
                        if case .message(let message) = $0 { message.body == packet.body } else { false }
                    }, "\(vector.name)")
            case .customerService:
                #expect(actions.packets(.seed).map(\.command) == [.ack], "\(vector.name)")
            case .rst: #expect(actions.states.last == .kicked)
            case .authStatus, .ack, .pong: #expect(actions.packets(.seed).isEmpty, "\(vector.name)")
            default:
                #expect(actions.packets(.seed).isEmpty, "\(vector.name)")
                #expect(
                    actions.notifications.contains {
                        if case .livePacket(let told) = $0 { told == packet } else { false }
                    }, "\(vector.name)")
            }
        }
        #expect(seen.isSuperset(of: [.im, .groupIM, .system, .inputing, .rt, .roomIM, .voipControl]))
    }

    private func packets(in chunks: [[UInt8]], profile: Profile) throws -> [Packet] {
        var decoder = PacketDecoder(role: .client, profile: profile)
        for chunk in chunks { decoder.append(chunk) }
        var packets: [Packet] = []
        while let frame = try decoder.next() {
            if case .packet(let packet) = frame { packets.append(packet) }
        }
        return packets
    }

    private func isLoginAnswer(_ chunk: [UInt8]) -> Bool {
        chunk.count == 16 && chunk[8] == Command.authStatus.rawValue
    }

    private func isSubsequence(_ part: [PacketBody], of whole: [PacketBody]) -> Bool {
        var rest = whole[...]
        for body in part {
            guard let index = rest.firstIndex(of: body) else { return false }
            rest = rest[rest.index(after: index)...]
        }
        return true
    }
}
