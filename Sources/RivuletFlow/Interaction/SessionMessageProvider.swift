public import RivuletModel

/// Where the messages of sessions come from.
///
/// One method is enough; the others have defaults that page through the first. Messages are matched by uuid, by server
/// key and by id, in this order, so that an engine need not have ids that outlive its process. Whatever it answers for
/// another session than the one that was asked for is dropped.
///
/// ```swift
/// struct ArchiveProvider: SessionMessageProvider {
///     let archive: Archive
///
///     func messages(
///         in session: Session, anchorMessage: Message?, direction: PageDirection, limit: Int
///     ) async throws -> MessagePage {
///         let key = anchorMessage?.serverKey
///         let found = try await archive.read(session.id, from: key, forward: direction == .newer, limit)
///         return MessagePage(messages: found.map(Message.init), hasOlder: true, hasNewer: false)
///     }
/// }
/// ```
public protocol SessionMessageProvider: Sendable {
    /// The messages next to an anchor, without the anchor itself.
    ///
    /// It is asked off the main actor, by one caller at a time for each session on screen. When the session is left,
    /// the task is cancelled, and an answer that comes nevertheless is dropped.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - anchorMessage: The message from which the page extends; nil for the newest messages.
    ///   - direction: Which way.
    ///   - limit: How many at most.
    /// - Returns: The messages in any order, and whether there are more beyond either end.
    /// - Throws: `FlowFailure` to show its code; any other error is shown by the name of its type.
    func messages(
        in session: Session, anchorMessage: Message?, direction: PageDirection, limit: Int
    ) async throws -> MessagePage

    /// The messages around one, itself among them; without it when there is no such message.
    ///
    /// By default pages are read from the newest one back, ``SessionMessageProvider/searchPageCountMax`` at most.
    func messages(in session: Session, around id: MessageID, limit: Int) async throws -> MessagePage

    /// The first message that was sent at this time or later, in milliseconds since 1970; nil when there is none.
    ///
    /// By default pages are read from the newest one back, ``SessionMessageProvider/searchPageCountMax`` at most; a
    /// time further back gives the oldest message that was reached.
    func message(in session: Session, sentFrom milliseconds: Int64) async throws -> Message?

    /// Up to where the user has read; nil, the default, when the engine does not know.
    func readPosition(in session: Session) async throws -> MessagePosition?

    /// The JSON text of a message as it came or was sent; nil, the default, when the engine does not keep it.
    ///
    /// A record of messages takes it over, so that it loses nothing that this build does not know.
    func rawContent(of message: Message) async throws -> String?
}

extension SessionMessageProvider {
    /// How many pages the default searches read before they give up.
    public static var searchPageCountMax: Int { 40 }
    /// How many messages each of these pages has at most.
    public static var searchPageSize: Int { 100 }

    /// Searches from the newest page back.
    public func messages(in session: Session, around id: MessageID, limit: Int) async throws -> MessagePage {
        var found = try await pages(of: session) { page in page.contains { $0.id == id } }
        let sorted = found.messages.sorted { ($0.position, $0.id) < ($1.position, $1.id) }
        guard let index = sorted.firstIndex(where: { $0.id == id }) else {
            return MessagePage(messages: [], hasOlder: false, hasNewer: false)
        }
        // As many before as after, without giving away room at either end.
        let limit = max(1, limit)
        let start = max(0, min(index - limit / 2, sorted.count - limit))
        let end = min(sorted.count, start + limit)
        found.messages = Array(sorted[start..<end])
        found.hasOlder = found.hasOlder || start > 0
        found.hasNewer = found.hasNewer || end < sorted.count
        return found
    }

    /// Searches from the newest page back.
    public func message(in session: Session, sentFrom milliseconds: Int64) async throws -> Message? {
        let found = try await pages(of: session) { page in
            page.contains { $0.timeMilliseconds < milliseconds }
        }
        return found.messages.sorted { ($0.position, $0.id) < ($1.position, $1.id) }
            .first { $0.timeMilliseconds >= milliseconds }
    }

    /// The engine does not know.
    public func readPosition(in session: Session) async throws -> MessagePosition? {
        nil
    }

    /// The engine does not keep it.
    public func rawContent(of message: Message) async throws -> String? {
        nil
    }

    /// Reads pages from the newest one back until one satisfies the condition, or there are no more.
    private func pages(
        of session: Session, until isEnough: ([Message]) -> Bool
    ) async throws -> MessagePage {
        var all = try await messages(
            in: session, anchorMessage: nil, direction: .older, limit: Self.searchPageSize)
        var newest = all.messages
        for _ in 1..<Self.searchPageCountMax {
            guard !isEnough(newest), all.hasOlder,
                let first = newest.min(by: { ($0.position, $0.id) < ($1.position, $1.id) })
            else { break }
            let page = try await messages(
                in: session, anchorMessage: first, direction: .older, limit: Self.searchPageSize)
            all.messages += page.messages
            all.hasOlder = page.hasOlder
            newest = page.messages
        }
        return all
    }
}
