internal import RivuletWire

/// What a live message says beside being one (docs/extensions.md, section 1).
struct LiveContent: Decodable, Sendable {
    struct Typing: Decodable, Sendable {
        var on: Int?
        var group: Int64?
    }

    struct Delivered: Decodable, Sendable {
        var msgids: [String]
    }

    struct Presence: Decodable, Sendable {
        struct State: Decodable, Sendable {
            var uid: Int64
            var online: Int32
            var lastSeen: Int64?

            private enum CodingKeys: String, CodingKey {
                case uid, online
                case lastSeen = "last_ms"
            }
        }

        var states: [State]
    }

    var typing: Typing?
    var delivered: Delivered?
    var presence: Presence?
    var isCall = false

    private enum Key: String, CodingKey {
        case typing, delivered, presence, voip, p2p
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        typing = container.lenient(Typing.self, .typing)
        delivered = container.lenient(Delivered.self, .delivered)
        presence = container.lenient(Presence.self, .presence)
        isCall = container.contains(.voip) || container.contains(.p2p)
    }
}

/// The other device's login inside a NOTIFICATION of the current profile.
struct LoginPointContent: Codable, Sendable {
    struct Point: Codable, Sendable {
        var time: Int32
        var platform: Int8
        var device: String
    }

    var point: Point

    private enum CodingKeys: String, CodingKey {
        case point = "login_point"
    }
}

/// The first four bytes of a seed-era call signal, and its JSON twin (docs/protocol.md, section 15).
enum CallSignal {
    private struct Wrapped: Encodable {
        struct Signal: Encodable {
            var command: Int32
            var channel: String

            private enum CodingKeys: String, CodingKey {
                case command
                case channel = "channel_id"
            }
        }

        var voip: Signal
    }

    /// The JSON that carries a signal in the current profile; nil when the bytes are neither JSON nor a signal.
    static func json(_ content: [UInt8]) -> String? {
        if content.first(where: { !JSONText.isSpace($0) }) == UInt8(ascii: "{") {
            return String(validating: content, as: UTF8.self)
        }
        guard content.count >= 4 else { return nil }
        let command = content[..<4].reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
        return JSONText.encode(Wrapped(voip: .init(command: Int32(bitPattern: command), channel: "")))
    }
}
