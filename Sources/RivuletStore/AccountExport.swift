internal import Foundation
internal import RivuletModel

/// Writes all that an account remembers as lines of JSON, for the user to keep or to take elsewhere.
///
/// The first line describes the export; then come contacts, groups with their members, and every conversation with
/// its messages in order. Each line is an object whose `type` says what it is: `account`, `contact`, `group`,
/// `conversation` or `message`. A conversation has its draft, and beside it, as `draft_details`, what the draft answers,
/// changes and addresses. Messages that burn after reading are left out. ``AccountImport`` reads it again.
public struct AccountExport: Sendable {
    /// How many messages are read at a time.
    private static let pageSize = 500
    private let store: any AccountStore

    /// Makes the export of a store.
    public init(of store: any AccountStore) {
        self.store = store
    }

    /// Hands out the lines, each without its end.
    ///
    /// What changes meanwhile may or may not be in it; the messages of each page are of one state.
    ///
    /// - Throws: `StoreError`, or what the closure throws.
    public func write(_ line: (String) async throws -> Void) async throws {
        try await line(
            try ExportLine(type: "account", format: ExportLine.currentFormat, account: store.account.rawValue)
                .json())
        for contact in try await store.contacts() {
            try await line(try ExportLine(type: "contact", contact: contact).json())
        }
        for group in try await store.groups() {
            let members = try await store.members(of: group.id)
            try await line(try ExportLine(type: "group", group: group, members: members).json())
        }
        for session in try await store.sessions() {
            guard let conversation = try await store.conversation(session) else { continue }
            var head = ExportLine(type: "conversation", session: session)
            head.draft = conversation.draft
            head.draftDetails = conversation.draftDetails
            head.pinned = conversation.isPinned
            head.muted = conversation.isMuted
            try await line(try head.json())
            try await writeMessages(of: session, line)
        }
    }

    private func writeMessages(of session: Session, _ line: (String) async throws -> Void) async throws {
        var place = PageQuery.Place.oldest
        while true {
            let page = try await store.page(
                PageQuery(session: session, place: place, limit: Self.pageSize))
            for message in page.messages where message.burnSeconds == nil {
                var entry = ExportLine(type: "message", session: session)
                entry.uuid = message.uuid
                entry.sender = message.sender.rawValue
                entry.timeMilliseconds = message.timeMilliseconds
                entry.kind = message.content.kind.rawValue
                entry.edited = message.isEdited ? true : nil
                entry.favorite = message.isFavorite ? true : nil
                entry.content = try await store.rawContent(of: message.id)
                try await line(try entry.json())
            }
            guard page.hasNewer, let last = page.messages.last else { return }
            place = .after(last.position)
        }
    }
}

/// One line of an export; what is nil is left out.
struct ExportLine: Codable {
    /// The form of the lines.
    static let currentFormat = 1

    var type: String
    var format: Int?
    var account: Int64?
    var contact: Contact?
    var group: GroupProfile?
    var members: [GroupMemberProfile]?
    var session: Session?
    var draft: String?
    var draftDetails: String?
    var pinned: Bool?
    var muted: Bool?
    var uuid: String?
    var sender: Int64?
    var timeMilliseconds: Int64?
    var kind: String?
    var edited: Bool?
    var favorite: Bool?
    var content: String?

    enum CodingKeys: String, CodingKey {
        case type, format, account, contact, group, members, session, draft, pinned, muted, uuid, sender
        case draftDetails = "draft_details"
        case timeMilliseconds = "time_ms"
        case kind, edited, favorite, content
    }

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}
