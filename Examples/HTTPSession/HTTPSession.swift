import ExampleScreen
import Foundation
import RivuletFlow
import RivuletHTTPEngine
import RivuletModel

/// A session behind a business server's own HTTP interface, which knows nothing of Rivulet.
@main struct HTTPSession {
    static let ada = UserID(7)

    /// How the server writes a comment.
    struct Comment: Codable {
        var number: Int64
        var author: Int64
        var body: String
        var name: String
        var at: Double

        func message(in session: Session) -> Message {
            Message(
                id: MessageID(number), session: session, sender: UserID(author),
                isOutgoing: author == ada.rawValue, uuid: name, serverKey: number,
                position: MessagePosition(number), timeMilliseconds: Int64(at * 1_000), content: .text(body),
                state: author == ada.rawValue ? .accepted : .received)
        }
    }

    struct NewComment: Codable {
        var name: String
        var body: String
    }

    /// The server's interface in Rivulet's words: requests and answers, as values.
    static var mapping: HTTPMapping {
        var mapping = HTTPMapping(
            page: { question in
                var query = [URLQueryItem(name: "count", value: "\(question.limit)")]
                if let key = question.anchor?.serverKey {
                    query.append(
                        URLQueryItem(name: question.direction == .older ? "below" : "above", value: "\(key)"))
                }
                return HTTPRequest("GET", "topics/\(question.session.id)/comments", query: query)
            },
            readPage: { answer, question in
                let comments = try answer.decode([Comment].self)
                let isFull = comments.count == question.limit
                return MessagePage(
                    messages: comments.map { $0.message(in: question.session) },
                    hasOlder: question.direction == .older ? isFull : true,
                    hasNewer: question.direction == .newer ? isFull : false)
            })
        mapping.send = { message, session in
            let comment = NewComment(name: message.uuid ?? "", body: message.content.text ?? "")
            return try .json("POST", "topics/\(session.id)/comments", comment, isRepeatable: true)
        }
        mapping.readMessage = { answer, message in
            try answer.decode(Comment.self).message(in: message.session)
        }
        mapping.delete = { message, session in
            HTTPRequest("DELETE", "topics/\(session.id)/comments/\(message.serverKey ?? 0)")
        }
        return mapping
    }

    @MainActor static func main() async throws {
        let topic = Session(kind: Session.Kind(rawValue: "topic"), id: 5)
        let server = TopicServer(commentCount: 45)
        var options = HTTPEngineOptions()
        options.authorization = { wasRefused in wasRefused ? "Bearer fresh" : "Bearer stale" }
        options.retryDelay = .milliseconds(1)
        options.pollInterval = .milliseconds(20)
        let base = URL(string: "https://topics.example.org/api") ?? URL(filePath: "/")
        let http = HTTPEngine(user: ada, base: base, mapping: mapping, options: options, transport: server)

        var rules = SessionConfiguration()
        rules.pageSize = 20
        rules.automaticHistory = false
        rules.flow.windowCountMax = 100
        let screen = TextScreen(
            "Topic 5", topic, engine: http.engine, configuration: rules,
            now: { Int64(Date().timeIntervalSince1970 * 1_000) }, makeUUID: { UUID().uuidString })
        try await screen.run {
            await screen.waitForLine(containing: "comment 45")
            screen.manager.controller.submit(.loadRequested(.older))
            await screen.wait { screen.messages.count == 40 }
            print("Two pages:", screen.messages.count)

            // The server fails once, and takes the comment at the second attempt, once.
            server.failNext()
            try await screen.manager.send(.text("I agree"))
            server.write("So do I", by: 8)
            await screen.waitForLine(containing: "So do I")
            try await screen.manager.delete(message: screen.messages[0])
            await screen.wait { screen.messages.count == 41 }
            do {
                try await screen.manager.revoke(message: screen.messages[screen.messages.count - 2])
            } catch let error as InteractionError {
                print("Withdrawing:", error.code.rawValue)
            }
            for line in screen.lines.suffix(3) { print("  ", line) }
            print("Comments on the server:", server.count)
        }
    }
}
