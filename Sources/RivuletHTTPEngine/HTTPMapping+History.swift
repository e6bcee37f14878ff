import Foundation
import RivuletFlow
public import RivuletModel

extension HTTPMapping {
    /// The history of chats and rooms on a Rivulet server (docs/extensions.md, section 4); it sends nothing.
    ///
    /// - Parameters:
    ///   - user: The user, by whom own messages are told from others.
    ///   - codec: Reads the contents; knows the app's own kinds.
    /// - Returns: The mapping.
    public static func rivuletHistory(user: UserID, codec: ContentCodec = ContentCodec()) -> HTTPMapping {
        HTTPMapping(
            page: { question in
                guard let path = historyPath(of: question.session) else {
                    throw HTTPEngineError(.invalidRequest)
                }
                var query = [URLQueryItem(name: "limit", value: "\(max(1, min(question.limit, 200)))")]
                if let key = question.anchor?.serverKey {
                    let name = question.direction == .older ? "before" : "after"
                    query.append(URLQueryItem(name: name, value: "\(key)"))
                }
                return HTTPRequest("GET", path, query: query)
            },
            readPage: { answer, question in
                let list = try answer.decode(HistoryList.self)
                return MessagePage(
                    messages: list.items.compactMap { $0.message(in: question.session, user, codec) },
                    hasOlder: question.direction == .older ? list.more : true,
                    hasNewer: question.direction == .newer
                        ? list.more : question.anchor != nil)
            })
    }

    private static func historyPath(of session: Session) -> String? {
        switch session.kind {
        case .peer: "v1/client/sessions/peer/\(session.id)/messages"
        case .group: "v1/client/sessions/group/\(session.id)/messages"
        case .customer: "v1/client/sessions/customer/\(session.appID)/\(session.id)/messages"
        case .room: "v1/client/rooms/\(session.id)/messages"
        default: nil
        }
    }
}

/// A list of messages as a Rivulet server answers it.
struct HistoryList: Decodable {
    var items: [HistoryItem]
    var more: Bool
}

/// One message of such a list.
struct HistoryItem: Decodable {
    var id: String
    var uuid: String?
    var sender: Int64
    var time: Int64
    var content: String

    enum CodingKeys: String, CodingKey {
        case id, uuid, sender, content
        case time = "time_ms"
    }

    /// The message; nil for a change of other messages, and for one without a readable key.
    func message(in session: Session, _ user: UserID, _ codec: ContentCodec) -> Message? {
        let decoded = codec.decode(content)
        guard let key = Int64(id), let shown = decoded.message else { return nil }
        let isOwn = sender == user.rawValue
        let name = uuid ?? decoded.envelope.uuid
        return Message(
            id: MessageID(key), session: session, sender: UserID(sender), isOutgoing: isOwn,
            uuid: name?.isEmpty == false ? name : nil, serverKey: key, position: MessagePosition(key),
            timeMilliseconds: time, content: shown, reference: decoded.envelope.reference,
            state: isOwn ? .accepted : .received)
    }
}
