import Foundation
import RivuletEngine
import RivuletModel
import RivuletStore

/// What is searched for in all conversations, and what was found.
///
/// Names of conversations are compared at once; messages are found by the store, off the main thread, when the typist
/// pauses. Only the search for what was typed last has an answer.
final class SearchModel {
    /// How long the typist pauses before messages are searched for.
    static let pause = Duration.milliseconds(150)
    /// How many messages are shown.
    static let messageCountMax = 60
    /// How many conversations are shown.
    static let conversationCountMax = 12

    /// Hears that there is something else to show.
    var onChange: (() -> Void)?
    /// Hears that the search failed.
    var onProblem: ((String) -> Void)?

    private(set) var words = ""
    private(set) var conversations: [Conversation] = []
    private(set) var messages: [Message] = []
    /// Whether the messages are still being searched for.
    private(set) var isSearching = false

    private let model: AccountModel
    private var searching: Task<Void, Never>?

    init(model: AccountModel) {
        self.model = model
    }

    /// Whether anything is searched for.
    var isActive: Bool { !words.isEmpty }

    /// Searches for other words; empty ones end the search.
    func search(_ text: String) {
        let words = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard words != self.words else { return }
        self.words = words
        searching?.cancel()
        guard isActive else {
            conversations = []
            messages = []
            isSearching = false
            onChange?()
            return
        }
        matchNames()
        isSearching = true
        onChange?()
        searching = Task { [weak self] in
            do { try await Task.sleep(for: Self.pause) } catch { return }
            await self?.searchMessages(words)
        }
    }

    /// Compares names again, as when there are other conversations.
    func matchNames() {
        guard isActive else { return }
        let found = model.conversations.filter {
            SearchSnippet(of: model.contacts.title(of: $0.session), query: words).hits.isEmpty == false
        }
        conversations = Array(found.prefix(Self.conversationCountMax))
    }

    private func searchMessages(_ words: String) async {
        do {
            let found = try await model.account.store.search(
                SearchQuery(words, limit: Self.messageCountMax))
            guard !Task.isCancelled, words == self.words else { return }
            messages = found
        } catch {
            guard !Task.isCancelled, words == self.words else { return }
            messages = []
            onProblem?(Words.say("The messages on this device could not be searched."))
        }
        isSearching = false
        onChange?()
    }
}
