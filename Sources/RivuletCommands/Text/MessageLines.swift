internal import Foundation
internal import RivuletModel

/// Messages as lines for other programs: plain text, or JSON.
struct MessageLines: Sendable {
    let isJSON: Bool
    let time: LocalTime

    func line(_ message: Message) throws -> String {
        guard isJSON else {
            let stamp = time.stamp(message.timeMilliseconds)
            return "\(stamp) \(message.sender.rawValue): \(UntrustedText.line(message.content.summary))"
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return UntrustedText.json(String(decoding: try encoder.encode(Object(message)), as: UTF8.self))
    }

    /// The fields are a promise to scripts: they are added to, never renamed.
    private struct Object: Encodable {
        let session: String
        let peer: Int64
        let sender: Int64
        let own: Bool
        let time: Int64
        let uuid: String?
        let key: Int64?
        let kind: String
        let text: String
        let state: String

        init(_ message: Message) {
            session = message.session.kind.rawValue
            peer = message.session.id
            sender = message.sender.rawValue
            own = message.isOutgoing
            time = message.timeMilliseconds
            uuid = message.uuid
            key = message.serverKey
            kind = message.content.kind.rawValue
            text = message.content.summary
            state =
                switch message.state {
                case .received: "received"
                case .preparing, .sending: "sending"
                case .accepted: "accepted"
                case .delivered: "delivered"
                case .read: "read"
                case .failed: "failed"
                }
        }
    }
}
