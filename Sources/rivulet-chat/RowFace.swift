import Foundation
import RivuletEngine
import RivuletModel
import RivuletStore
import RivuletUI

/// What an entry of the sidebar shows: a picture with initials, a name, a line, a time and what is unread.
struct RowFace: Equatable {
    /// A stretch of the line that looks different, in bytes of its UTF-8.
    struct Mark: Equatable {
        enum Look: Equatable {
            case bold
            case accent
            case failure
        }
        var range: Range<Int>
        var look: Look
    }

    var initials = ""
    /// What the picture's colour comes from.
    var identity: Int64 = 0
    var title = ""
    var titleMarks: [Mark] = []
    var line = ""
    var lineMarks: [Mark] = []
    var time = ""
    /// How many messages are unread.
    var badge = ""
    var isMuted = false
    var isPinned = false
    /// What assistive technology says.
    var label = ""

    private static func mark(_ text: String, _ look: Mark.Look) -> Mark {
        Mark(range: 0..<text.utf8.count, look: look)
    }
}

extension RowFace {
    /// A conversation, with its draft unless it is the one on screen, and who wrote its last message.
    static func conversation(
        _ conversation: Conversation, contacts: Contacts, typists: [UserID], isSelected: Bool, now: Int64,
        zone: TimeZone
    ) -> RowFace {
        var face = RowFace()
        let session = conversation.session
        face.initials = contacts.initials(of: session)
        face.identity = session.id
        face.title = contacts.title(of: session)
        face.isMuted = conversation.isMuted
        face.isPinned = conversation.isPinned
        if conversation.unreadCount > 0 {
            face.badge = conversation.unreadCount > 99 ? "99+" : "\(conversation.unreadCount)"
        }
        let typing = HeaderWords.typing(typists.map { contacts.name(of: $0, in: session) })
        let draft = conversation.draft ?? ""
        if !typing.isEmpty, !isSelected {
            face.line = typing
            face.lineMarks = [mark(typing, .accent)]
        } else if !draft.isEmpty, !isSelected {
            face.put(Words.say("Draft:"), .failure, before: firstLine(of: draft))
        } else if let message = conversation.lastMessage, message.state.isFailed {
            face.put(Words.say("Not sent:"), .failure, before: preview(of: message, contacts: contacts))
        } else if conversation.mentionCount > 0, let message = conversation.lastMessage {
            face.put(Words.say("@you"), .accent, before: call(in: message, to: contacts.reader))
        } else if let message = conversation.lastMessage {
            face.line = preview(of: message, contacts: contacts)
        } else {
            face.line = contacts.subtitle(of: session)
        }
        if let message = conversation.lastMessage {
            face.time = RowTime.text(milliseconds: message.timeMilliseconds, now: now, zone: zone)
        }
        face.label = face.words(unreadCount: conversation.unreadCount)
        return face
    }

    /// A message that was found, with the hit in bold.
    static func hit(
        _ message: Message, query: String, contacts: Contacts, now: Int64, zone: TimeZone
    ) -> RowFace {
        var face = RowFace()
        let session = message.session
        face.initials = contacts.initials(of: session)
        face.identity = session.id
        face.title = contacts.title(of: session)
        let snippet = SearchSnippet(of: MessageText.text(of: message, Words.strings), query: query)
        let author = message.isOutgoing ? Words.say("You") : author(of: message, contacts: contacts)
        let start = author.isEmpty ? "" : "\(author): "
        face.line = start + snippet.text
        face.lineMarks = snippet.hits.map {
            Mark(
                range: $0.lowerBound + start.utf8.count..<$0.upperBound + start.utf8.count, look: .bold)
        }
        face.time = RowTime.text(milliseconds: message.timeMilliseconds, now: now, zone: zone)
        face.label = face.words(unreadCount: 0)
        return face
    }

    /// Marks in the name where it has what was searched for.
    mutating func markTitle(_ query: String) {
        let snippet = SearchSnippet(of: title, query: query)
        guard snippet.text == title else { return }
        titleMarks = snippet.hits.map { Mark(range: $0, look: .accent) }
    }

    private mutating func put(_ word: String, _ look: Mark.Look, before rest: String) {
        line = "\(word) \(rest)"
        lineMarks = [Self.mark(word, look)]
    }

    private func words(unreadCount: Int) -> String {
        var parts = [title, line, time]
        if unreadCount > 0 { parts.append(Words.say("%1 unread", "\(unreadCount)")) }
        if isMuted { parts.append(Words.say("muted")) }
        if isPinned { parts.append(Words.say("pinned")) }
        return parts.filter { !$0.isEmpty }.joined(separator: ", ")
    }

    private static func firstLine(of text: String) -> String {
        text.split(whereSeparator: \.isNewline).first.map { String($0.prefix(200)) } ?? ""
    }

    /// The last message in one line; of many people with the author's first name.
    private static func preview(of message: Message, contacts: Contacts) -> String {
        let words = firstLine(of: MessageText.text(of: message, Words.strings))
        let author = author(of: message, contacts: contacts)
        return author.isEmpty ? words : "\(author): \(words)"
    }

    /// What somebody wants of the reader, without the name that stands before it as "@you".
    private static func call(in message: Message, to reader: UserID?) -> String {
        var words = firstLine(of: MessageText.text(of: message, Words.strings))
        guard case .text(let content) = message.content else { return words }
        for mention in content.mentions where mention.user == reader {
            words = words.replacingOccurrences(of: "@\(mention.name)", with: "")
        }
        return words.trimmingCharacters(in: .whitespaces)
    }

    private static func author(of message: Message, contacts: Contacts) -> String {
        guard message.session.kind == .group || message.session.kind == .room, message.sender.rawValue != 0
        else { return "" }
        if message.isOutgoing { return "" }
        return HeaderWords.firstName(contacts.name(of: message.sender, in: message.session))
    }
}
