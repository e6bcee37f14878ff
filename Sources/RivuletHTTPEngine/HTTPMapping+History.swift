import Foundation
import RivuletFlow
public import RivuletModel

extension HTTPMapping {
    /// The history of chats and rooms on a Rivulet server (docs/extensions.md, section 4); it sends nothing.
    ///
    /// The base address of the engine is that of the server's HTTP interface, and its authorization "Bearer " with the
    /// token of the login. Withdrawals, edits, reactions, votes and receipts of the history are brought into the
    /// messages that they name.
    ///
    /// ```swift
    /// var options = HTTPEngineOptions()
    /// options.authorization = { _ in "Bearer \(token)" }
    /// let http = HTTPEngine(user: ada, base: url, mapping: .rivuletHistory(user: ada), options: options)
    /// ```
    ///
    /// - Parameters:
    ///   - user: The user, by whom own messages are told from others.
    ///   - codec: Reads the contents; knows the app's own kinds.
    /// - Returns: The mapping.
    public static func rivuletHistory(user: UserID, codec: ContentCodec = ContentCodec()) -> HTTPMapping {
        let reader = RivuletHistoryReader(user: user, codec: codec)
        var mapping = HTTPMapping(
            page: { try reader.request(for: $0) },
            readPage: { answer, question in
                let page = try reader.page(of: answer, for: question)
                return MessagePage(
                    messages: page.messages,
                    hasOlder: question.direction == .older ? page.hasMore : true,
                    hasNewer: question.direction == .newer ? page.hasMore : question.key != nil)
            })
        mapping.readHistory = { try reader.page(of: $0, for: $1) }
        return mapping
    }
}

/// Asks a Rivulet server for pages and reads its answers.
private struct RivuletHistoryReader: Sendable {
    /// The most that the server gives at once.
    static let limitMax = 200
    /// The command of a group notification, whose text is no content (docs/protocol.md, section 4).
    static let groupNotification = 7

    let user: UserID
    let codec: ContentCodec

    func request(for question: HTTPPageQuestion) throws -> HTTPRequest {
        guard let path = path(of: question.session) else { throw HTTPEngineError(.invalidRequest) }
        var limit = max(1, min(question.limit, Self.limitMax))
        var query: [URLQueryItem] = []
        if let key = question.key {
            switch question.direction {
            case .older: query = [URLQueryItem(name: "before", value: "\(key)")]
            case .newer where question.session.kind == .room:
                // A room keeps less than one page, which is read towards the beginning alone.
                limit = Self.limitMax
            case .newer: query = [URLQueryItem(name: "after", value: "\(key)")]
            }
        }
        query.insert(URLQueryItem(name: "limit", value: "\(limit)"), at: 0)
        return HTTPRequest("GET", path, query: query)
    }

    private func path(of session: Session) -> String? {
        guard session.id > 0 else { return nil }
        return switch session.kind {
        case .peer: "v1/client/sessions/peer/\(session.id)/messages"
        case .group: "v1/client/sessions/group/\(session.id)/messages"
        case .customer: "v1/client/sessions/customer/\(session.appID)/\(session.id)/messages"
        case .room: "v1/client/rooms/\(session.id)/messages"
        default: nil
        }
    }

    func page(of answer: HTTPAnswer, for question: HTTPPageQuestion) throws -> HTTPHistoryPage {
        let list = try answer.decode(HistoryList.self)
        var items = list.items.compactMap { item in Int64(item.id).map { (key: $0, item: item) } }
        var hasMore = list.more
        if question.session.kind == .room, question.direction == .newer, let key = question.key {
            items.removeAll { $0.key <= key }
            hasMore = false
        }
        let keys = items.lazy.map(\.key)
        var page = HTTPHistoryPage(
            messages: [], hasMore: hasMore,
            lastKey: list.next.flatMap { Int64($0) }
                ?? (question.direction == .older ? keys.min() : keys.max()))
        for (key, item) in items { add(item, key, to: &page, in: question.session) }
        return page
    }

    private func add(_ item: HistoryItem, _ key: Int64, to page: inout HTTPHistoryPage, in session: Session) {
        let decoded =
            item.command == Self.groupNotification
            ? DecodedContent(
                envelope: ContentEnvelope(),
                body: .message(.groupNotification(codec.decodeGroupNotification(item.content))))
            : codec.decode(item.content)
        // A private message that belongs to a group is shown there (docs/protocol.md, section 11.7).
        if session.kind == .peer, let group = decoded.envelope.groupID, group > 0 { return }
        switch decoded.body {
        case .control(let control):
            page.changes.append(
                HistoryChange(
                    control: control, author: UserID(item.sender), key: key, milliseconds: item.time))
        case .message(let content):
            // In customer service the other side may have the user's number, in another app.
            let isOthers =
                session.kind == .customer && session.id == user.rawValue && item.senderApp == session.appID
            let isOwn = item.sender == user.rawValue && item.command != Self.groupNotification && !isOthers
            let uuid = item.uuid ?? decoded.envelope.uuid
            page.messages.append(
                Message(
                    id: MessageID(key), session: session, sender: UserID(item.sender), isOutgoing: isOwn,
                    uuid: uuid?.isEmpty == false ? uuid : nil, serverKey: key, position: MessagePosition(key),
                    timeMilliseconds: item.time, content: content, reference: decoded.envelope.reference,
                    state: isOwn ? .accepted : .received, burnSeconds: decoded.envelope.burnSeconds))
        }
    }
}

/// A list of messages as a Rivulet server answers it.
private struct HistoryList: Decodable {
    var items: [HistoryItem]
    var more: Bool
    /// From where to go on; a stretch without a message of the chat has no other place to go on from.
    var next: String?
}

/// One item of such a list.
private struct HistoryItem: Decodable {
    var id: String
    var uuid: String?
    var command: Int?
    var sender: Int64
    var senderApp: Int64?
    var time: Int64
    var content: String

    enum CodingKeys: String, CodingKey {
        case id, uuid, command, sender, content
        case senderApp = "sender_app"
        case time = "time_ms"
    }
}
