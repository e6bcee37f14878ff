import Foundation
import HTTPKit
import RivuletModel
import RivuletServerCore
import RivuletWire

/// Why an HTTP request is refused; the code is stable (docs/extensions.md, section 4).
struct HTTPRefusal: Error {
    var status: Int
    var code: String
    var message: String

    static let unauthorized = HTTPRefusal(
        status: 401, code: "unauthorized", message: "a valid token is needed: Authorization: Bearer TOKEN")
    static let notFound = HTTPRefusal(
        status: 404, code: "not_found", message: "there is nothing at this path")
    static let notMember = HTTPRefusal(
        status: 403, code: "not_a_member", message: "only members may read this group")
    static let unavailable = HTTPRefusal(
        status: 503, code: "unavailable", message: "the server cannot answer for now")

    static func badRequest(_ message: String) -> HTTPRefusal {
        HTTPRefusal(status: 400, code: "bad_request", message: message)
    }

    static func wrongMethod(allowed: String) -> HTTPRefusal {
        HTTPRefusal(status: 405, code: "method_not_allowed", message: "this path takes only \(allowed)")
    }
}

/// What the HTTP interface answers, as JSON.
enum HTTPReply {
    private struct ErrorBody: Encodable {
        struct Content: Encodable {
            var code: String
            var message: String
        }

        var error: Content
    }

    private struct MessageBody: Encodable {
        var id: String
        var uuid: String?
        var command: Int
        var sender: Int64
        /// The app of the sender, in customer service, where the two sides may have the same number.
        var senderApp: Int64?
        var receiver: Int64
        var timeMilliseconds: Int64
        var content: String

        enum CodingKeys: String, CodingKey {
            case id, uuid, command, sender, receiver, content
            case senderApp = "sender_app"
            case timeMilliseconds = "time_ms"
        }

        init(_ message: StoredMessage) {
            id = String(message.key)
            uuid = message.uuid
            command = Int(message.command.rawValue)
            sender = message.author.user.rawValue
            senderApp = message.command == .customerV2 ? message.author.app : nil
            receiver = message.receiver
            timeMilliseconds = Int64(message.timestamp) * 1000
            content = message.content
        }

        init(_ entry: RoomHistoryEntry, in room: RoomID) {
            id = String(entry.key)
            uuid = entry.uuid
            command = Int(Command.roomIM.rawValue)
            sender = entry.author.user.rawValue
            receiver = room.rawValue
            timeMilliseconds = entry.time.milliseconds
            content = entry.content
        }
    }

    private struct PageBody: Encodable {
        var items: [MessageBody]
        var more: Bool
        /// With which key to go on, when there is more; the page may be empty.
        var next: String?
    }

    static func refusal(_ refusal: HTTPRefusal) -> HTTPResponse {
        var response = json(
            ErrorBody(error: .init(code: refusal.code, message: refusal.message)), status: refusal.status)
        if refusal.status == 401 { response.headers["WWW-Authenticate"] = "Bearer" }
        return response
    }

    static func page(_ page: HistoryPage) -> HTTPResponse {
        json(
            PageBody(
                items: page.messages.map(MessageBody.init), more: page.hasMore,
                next: page.next.map { String($0) }))
    }

    static func page(_ entries: [RoomHistoryEntry], of room: RoomID, hasMore: Bool) -> HTTPResponse {
        json(PageBody(items: entries.map { MessageBody($0, in: room) }, more: hasMore))
    }

    static func json(_ value: some Encodable, status: Int = 200) -> HTTPResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        guard let body = try? encoder.encode(value) else {
            return .text("the answer cannot be encoded\n", status: 500)
        }
        var response = HTTPResponse.json([UInt8](body), status: status)
        response.headers["Cache-Control"] = "no-store"
        return response
    }
}
