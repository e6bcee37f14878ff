public import RivuletFlow
public import RivuletModel

/// Which messages a page is to have.
public struct HTTPPageQuestion: Hashable, Sendable {
    /// The session.
    public var session: Session
    /// The message from which the page extends; nil for the newest.
    public var anchor: Message?
    /// The server's key from which the page extends: that of the anchor, or of a change beyond it; nil for the newest.
    public var key: Int64?
    /// Which way.
    public var direction: PageDirection
    /// How many at most.
    public var limit: Int

    /// Makes a question.
    public init(
        session: Session, anchor: Message? = nil, key: Int64? = nil, direction: PageDirection = .older,
        limit: Int
    ) {
        self.session = session
        self.anchor = anchor
        self.key = key ?? anchor?.serverKey
        self.direction = direction
        self.limit = limit
    }
}

/// How calls become requests, and answers become messages: what an app writes for its own server.
///
/// Each member is a value, so a mapping is changed member by member. A call without a request is refused as unsupported.
/// Answers reach the closures only with a status from 200 to 299; all others become errors, with the words that
/// ``readError`` finds.
///
/// ```swift
/// var mapping = HTTPMapping(
///     page: { HTTPRequest("GET", "chats/\($0.session.id)", query: [URLQueryItem(name: "limit", value: "\($0.limit)")]) },
///     readPage: { answer, question in try answer.decode(ChatPage.self).page(in: question.session) })
/// mapping.send = { message, session in try .json("POST", "chats/\(session.id)", NewMessage(message), isRepeatable: true) }
/// mapping.readMessage = { answer, message in try answer.decode(ChatMessage.self).message(in: message.session) }
/// ```
public struct HTTPMapping: Sendable {
    /// Makes the request of a call on a message; the session is where it is sent, saved or forwarded to.
    public typealias Call = @Sendable (_ message: Message, _ session: Session) throws -> HTTPRequest

    /// Makes the request for a page.
    public var page: @Sendable (HTTPPageQuestion) throws -> HTTPRequest
    /// Reads a page.
    public var readPage: @Sendable (HTTPAnswer, HTTPPageQuestion) throws -> MessagePage
    /// Reads a page of a history in which changes stand as items of their own; nil to read pages by ``readPage``.
    ///
    /// Such a history is paged by ``HTTPPageQuestion/key``.
    public var readHistory: (@Sendable (HTTPAnswer, HTTPPageQuestion) throws -> HTTPHistoryPage)?
    /// Makes the request to send; its uuid makes trying again harmless when the server looks at it.
    public var send: Call?
    /// Makes the request to send again; nil to do as for sending.
    public var resend: Call?
    /// Makes the request to send on; nil to send a new message with the same content.
    public var forward: Call?
    /// Makes the request to withdraw.
    public var revoke: Call?
    /// Makes the request to save a local message.
    public var save: Call?
    /// Makes the request to remove.
    public var delete: Call?
    /// Makes the request of a change of messages.
    public var control: (@Sendable (_ control: ControlContent, _ session: Session) throws -> HTTPRequest)?
    /// Reads the message that a sending call answers with; by default it is the message as it was sent.
    public var readMessage: @Sendable (HTTPAnswer, Message) throws -> Message
    /// Reads the server's code and words of an error; by default `{"error":{"code","message"}}`.
    public var readError: @Sendable (HTTPAnswer) -> (code: String?, message: String)

    /// Makes a mapping that only reads pages.
    public init(
        page: @escaping @Sendable (HTTPPageQuestion) throws -> HTTPRequest,
        readPage: @escaping @Sendable (HTTPAnswer, HTTPPageQuestion) throws -> MessagePage
    ) {
        self.page = page
        self.readPage = readPage
        readMessage = { _, message in message }
        readError = HTTPMapping.standardError
    }

    /// Reads `{"error":{"code":string,"message":string}}` (docs/extensions.md, section 4).
    public static let standardError: @Sendable (HTTPAnswer) -> (code: String?, message: String) = { answer in
        struct Body: Decodable {
            struct Problem: Decodable {
                var code: String?
                var message: String?
            }
            var error: Problem
        }
        guard let body = try? answer.decode(Body.self) else { return (nil, "") }
        return (body.error.code, body.error.message ?? "")
    }
}
