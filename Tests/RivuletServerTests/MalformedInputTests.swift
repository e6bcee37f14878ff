import Foundation
import RivuletTestSupport
import RivuletWire
import Testing

@testable import RivuletServer

/// Malformed input closes exactly the connection that sent it, and the log says why and nothing else.
@Suite struct MalformedInputTests {
    struct Vector: Decodable, Sendable, CustomTestStringConvertible {
        var name: String
        var era: String?
        var role: String
        var verdict: String
        var reason: String
        var hex: String
        var tail: Tail?

        struct Tail: Decodable, Sendable {
            var byte: Int
            var count: Int
        }

        enum CodingKeys: String, CodingKey {
            case name, era, role, verdict, reason, hex
            case tail = "repeat_tail"
        }

        var testDescription: String { name }

        var bytes: [UInt8] {
            var bytes: [UInt8] = []
            var digits = hex.unicodeScalars.map { UInt8($0.value) }[...]
            while digits.count >= 2 {
                let pair = String(decoding: digits.prefix(2), as: UTF8.self)
                bytes.append(UInt8(pair, radix: 16) ?? 0)
                digits = digits.dropFirst(2)
            }
            if let tail { bytes += Array(repeating: UInt8(tail.byte), count: tail.count) }
            return bytes
        }
    }

    static let vectors: [Vector] = {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = folder.appending(path: "RivuletWireTests/Vectors/malformed.json")
        do {
            return try JSONDecoder().decode([Vector].self, from: Data(contentsOf: file))
                .filter { $0.role == "server" && $0.era != "seed" }
        } catch {
            Issue.record("\(error)")
            return []
        }
    }()

    @Test func `there are vectors to try`() {
        #expect(Self.vectors.filter { $0.verdict == "reject" }.count > 20)
    }

    @Test func `each rejected vector closes its connection alone`() async throws {
        let server = try await TestServer(users: [101, 102])
        let bystander = try await server.login(102)
        for vector in Self.vectors where vector.verdict == "reject" {
            let linesBefore = server.log.lines.filter { $0.message == "malformed input" }.count
            let client = try await server.login(101)
            await client.send(vector.bytes)
            do {
                #expect(try await client.receiveUntilClosed().isEmpty, "\(vector.name)")
            } catch {
                Issue.record("\(vector.name): \(error)")
            }
            #expect(try await bystander.receiveUntilPong().isEmpty)
            let lines = server.log.lines.filter { $0.message == "malformed input" }
            #expect(lines.count == linesBefore + 1, "\(vector.name)")
            let reason = lines.last?.fields.first { $0.name == "reason" }?.value
            // Whether a number is unknown or not allowed is the decoder's choice.
            let expected =
                vector.reason == "unknown_command" || vector.reason == "command_not_allowed"
                ? ["unknown_command", "command_not_allowed"] : [vector.reason]
            #expect(reason.map(expected.contains) == true, "\(vector.name): \(reason ?? "none")")
        }
        await server.stop()
    }

    @Test func `a refused header is not waited for`() async throws {
        let server = try await TestServer(users: [101])
        let client = try await server.login(101)
        await client.send([0x00, 0x00, 0x80, 0x00, 0, 0, 0, 1, 4, 2, 0, 0])
        #expect(try await client.receiveUntilClosed().isEmpty)
        await server.stop()
    }

    @Test func `an incomplete frame is waited for, and dropped at the end of the stream`() async throws {
        let server = try await TestServer(users: [101])
        for vector in Self.vectors where vector.verdict == "incomplete" {
            let client = try await server.login(101)
            await client.send(vector.bytes)
            client.shutdown()
            #expect(try await client.receiveUntilClosed().isEmpty, "\(vector.name)")
        }
        #expect(!server.log.lines.contains { $0.message == "malformed input" })
        await server.stop()
    }

    @Test func `log lines hold neither contents nor tokens`() async throws {
        let server = try await TestServer(users: [101])
        let token = try server.token(of: 101)
        let client = try await server.login(101)
        _ = await client.sendIM(from: 101, to: 101, "very secret")
        var frame = try Packet(.im, .im(IMMessage(sender: 101, receiver: 1, content: "very secret\u{1}")))
            .pack(
                from: .client, profile: .current)
        frame[frame.count - 1] = 0xFF
        await client.send(frame)
        _ = try await client.receiveUntilClosed()
        await server.stop()
        let lines = server.log.lines.map { $0.formatted(as: .json, at: Date()) }
        #expect(lines.contains { $0.contains("invalid_utf8") })
        for line in lines { #expect(!line.contains("secret") && !line.contains(token)) }
    }

    @Test(arguments: [
        LogRecordLine.Field(name: "peer", value: "127.0.0.1:5"),
        .init(name: "note", value: "a b=\"c\"\n\u{1}"),
    ])
    func `log lines can be taken apart again`(field: LogRecordLine.Field) throws {
        let line = LogRecordLine(level: .warning, message: "malformed input", fields: [field])
        let time = Date(timeIntervalSince1970: 0)
        let text = line.formatted(as: .text, at: time)
        #expect(text.hasPrefix("1970-01-01T00:00:00.000Z warning malformed input \(field.name)="))
        #expect(!text.contains("\n"))
        let json = try JSONSerialization.jsonObject(with: Data(line.formatted(as: .json, at: time).utf8))
        #expect((json as? [String: String])?[field.name] == field.value)
    }
}
