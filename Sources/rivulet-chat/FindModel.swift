import Foundation
import RivuletModel
import RivuletStore

/// Which of the found messages is shown: the newest first, then the one before it, and round again.
nonisolated struct FindCursor: Equatable {
    /// The messages, the newest first.
    private(set) var hits: [MessageID] = []
    /// Which one is shown; nil for none.
    private(set) var index: Int?
    /// Whether there may be more than were asked for.
    private(set) var isCut = false

    /// Takes what was found.
    ///
    /// - Parameters:
    ///   - hits: The messages, the newest first.
    ///   - limit: How many were asked for.
    init(_ hits: [MessageID] = [], limit: Int = .max) {
        self.hits = hits
        index = hits.isEmpty ? nil : 0
        isCut = hits.count >= limit
    }

    /// The message that is shown.
    var current: MessageID? { index.map { hits[$0] } }

    /// Goes to the next older message, or to the next newer one.
    mutating func step(toOlder: Bool) {
        guard let index else { return }
        self.index = (index + (toOlder ? 1 : hits.count - 1)) % hits.count
    }

    /// "3 of 17", for people.
    var words: String {
        guard let index else { return "" }
        return Words.say("%1 of %2", "\(index + 1)", "\(hits.count)\(isCut ? "+" : "")")
    }
}

/// A search in one conversation.
final class FindModel {
    static let limit = 500

    /// Hears that another message is shown, or another number of them.
    var onChange: (() -> Void)?
    var onProblem: ((String) -> Void)?

    private(set) var cursor = FindCursor()
    private(set) var words = ""
    private let session: Session
    private let store: any AccountStore
    private var searching: Task<Void, Never>?

    init(session: Session, store: any AccountStore) {
        self.session = session
        self.store = store
    }

    /// Whether the search has answered, and found nothing.
    private(set) var isInVain = false

    /// Searches for other words.
    func search(_ text: String) {
        let words = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard words != self.words else { return }
        self.words = words
        searching?.cancel()
        isInVain = false
        guard !words.isEmpty else {
            cursor = FindCursor()
            onChange?()
            return
        }
        searching = Task { [weak self, store, session] in
            do {
                try await Task.sleep(for: SearchModel.pause)
                let found = try await store.search(
                    SearchQuery(words, session: session, limit: Self.limit))
                self?.take(found.map(\.id), for: words)
            } catch is CancellationError {
                return
            } catch {
                self?.onProblem?(Words.say("The messages on this device could not be searched."))
            }
        }
    }

    private func take(_ hits: [MessageID], for words: String) {
        guard words == self.words, !Task.isCancelled else { return }
        cursor = FindCursor(hits, limit: Self.limit)
        isInVain = hits.isEmpty
        onChange?()
    }

    /// Goes to the next older message, or to the next newer one.
    func step(toOlder: Bool) {
        cursor.step(toOlder: toOlder)
        onChange?()
    }

    func stop() { searching?.cancel() }
}
