import Foundation
import RivuletModel
import RivuletUI

/// With whom, or where, a conversation can begin.
struct NewConversation: Equatable {
    /// The name of the section that begins here; nil inside of one.
    var heading: String?
    var face: RowFace
    var session: Session

    /// How many people are listed.
    static let peopleCountMax = 200

    /// What is offered for a name or a number that was typed; everybody when nothing was.
    ///
    /// - Parameters:
    ///   - text: What was typed.
    ///   - contacts: Who is known.
    ///   - appID: The user's own app, in which an unknown customer service is looked for.
    /// - Returns: The offers, those of a section after one another.
    static func offers(for text: String, contacts: Contacts, appID: Int64) -> [NewConversation] {
        let words = text.trimmingCharacters(in: .whitespacesAndNewlines)
        var offers: [NewConversation] = []
        if let number = Int64(words), number > 0 {
            offers += section(
                Words.say("Number %1", "\(number)"),
                [
                    (.peer(UserID(number)), Words.say("Write to this user")),
                    (.room(number), Words.say("Enter this chat room")),
                    (
                        Session(kind: .customer, id: number, appID: appID),
                        Words.say("Write to this customer service")
                    ),
                ], contacts)
        }
        let people = contacts.people.filter { matches(contacts.title(of: .peer($0)), words) }
            .prefix(peopleCountMax)
        offers += section(Words.say("People"), people.map { (.peer($0), "") }, contacts)
        let groups = contacts.knownGroups.filter { matches(contacts.title(of: $0), words) }
            .prefix(peopleCountMax)
        offers += section(Words.say("Groups"), groups.map { ($0, "") }, contacts)
        let rooms = contacts.knownRooms.filter { matches(contacts.title(of: $0), words) }
        offers += section(
            Words.say("Chat rooms"), rooms.map { ($0, Words.say("Live, with history from the server")) },
            contacts)
        let services = contacts.knownServices.filter { matches(contacts.title(of: $0), words) }
        offers += section(Words.say("Customer service"), services.map { ($0, "") }, contacts)
        return offers
    }

    private static func matches(_ name: String, _ words: String) -> Bool {
        words.isEmpty || !SearchSnippet(of: name, query: words).hits.isEmpty
    }

    private static func section(
        _ heading: String, _ sessions: [(session: Session, line: String)], _ contacts: Contacts
    ) -> [NewConversation] {
        sessions.enumerated().map { place, one in
            var face = RowFace()
            face.title = contacts.title(of: one.session)
            face.initials = contacts.initials(of: one.session)
            face.identity = one.session.id
            face.line = one.line.isEmpty ? contacts.about(one.session) : one.line
            face.label = [face.title, face.line].filter { !$0.isEmpty }.joined(separator: ", ")
            return NewConversation(heading: place == 0 ? heading : nil, face: face, session: one.session)
        }
    }
}
