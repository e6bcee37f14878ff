internal import Foundation
public import RivuletModel

extension MemoryAccountStore {
    /// Finds messages by their text.
    ///
    /// The order `rank` gives the newest first, too: there is no index to rank by.
    public func search(_ query: SearchQuery) async throws -> [Message] {
        try read { tables in
            let phrases = SearchPhrases(query.text)
            guard !phrases.phrases.isEmpty else { return [] }
            let found = tables.state.searchTexts.keys.sorted(by: >).lazy.compactMap { id -> Message? in
                guard let row = tables.message(id: id), let message = self.message(of: row, tables),
                    query.accepts(message), let text = tables.state.searchTexts[id]
                else { return nil }
                return phrases.areIn(text) ? message : nil
            }
            return Array(found.prefix(query.limit))
        }
    }
}

extension SearchQuery {
    /// Whether a message is one of those that are looked for, apart from its text.
    fileprivate func accepts(_ message: Message) -> Bool {
        (session == nil || message.session == session) && (sender == nil || message.sender == sender)
            && (kinds.isEmpty || kinds.contains(message.content.kind))
            && (before.map { message.id < $0 } ?? true)
            && message.timeMilliseconds >= fromMilliseconds ?? .min
            && message.timeMilliseconds < untilMilliseconds ?? .max
    }
}

extension SearchPhrases {
    /// Whether every phrase occurs, as SQLite's tokeniser would see it.
    fileprivate func areIn(_ text: String) -> Bool {
        let words = SearchPhrases(longText: text).phrases.flatMap(\.words).map(Self.folded)
        return phrases.allSatisfy { phrase in
            let wanted = phrase.words.map(Self.folded)
            guard wanted.count <= words.count else { return false }
            return (0...(words.count - wanted.count)).contains { start in
                wanted.indices.allSatisfy { index in
                    let word = words[start + index]
                    return index == wanted.count - 1 && phrase.isPrefix
                        ? word.hasPrefix(wanted[index]) : word == wanted[index]
                }
            }
        }
    }

    /// Lower case without accents.
    private static func folded(_ word: String) -> String {
        word.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
    }
}
