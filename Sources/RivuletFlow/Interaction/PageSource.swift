import RivuletModel
import Synchronization

/// Answers the flow's requests for pages: asks the provider off the main actor, then brings the page together with what
/// is known.
final class PageSource: Sendable {
    private struct State {
        var provider: any SessionMessageProvider
        var generation = 0
    }

    private let session: Session
    private let state: Mutex<State>
    private let manager = WeakManager()

    init(session: Session, configuration: SessionConfiguration, engine: Engine) {
        self.session = session
        state = Mutex(State(provider: configuration.provider ?? engine.provider))
    }

    @MainActor func attach(_ manager: DataManager) {
        self.manager.value = manager
    }

    var provider: any SessionMessageProvider {
        state.withLock { $0.provider }
    }

    func configure(_ configuration: SessionConfiguration, engine: Engine) {
        state.withLock { $0.provider = configuration.provider ?? engine.provider }
    }

    func begin(generation: Int) {
        state.withLock { $0.generation = generation }
    }

    func page(for request: FlowLoadRequest) async throws -> MessagePage {
        let (provider, generation) = state.withLock { ($0.provider, $0.generation) }
        guard let question = await manager.question(for: request) else { throw CancellationError() }
        var page = try await ask(provider, question, limit: request.limit)
        if page.messages.count > request.limit * 4 {
            // A provider that ignores the limit must not fill the memory; the nearest ones count.
            page = page.cut(to: request.limit * 4, for: question)
        }
        let read = question.wantsReadPosition ? await readPosition(provider) : nil
        guard let answer = await manager.take(page, read: read, for: request, generation: generation) else {
            throw CancellationError()
        }
        return answer
    }

    /// Up to where the user has read; a page is worth showing without it.
    private func readPosition(_ provider: any SessionMessageProvider) async -> MessagePosition? {
        do {
            return try await provider.readPosition(in: session)
        } catch {
            return nil
        }
    }

    private func ask(
        _ provider: any SessionMessageProvider, _ question: PageQuestion, limit: Int
    ) async throws -> MessagePage {
        switch question.target {
        case .latest:
            try await provider.messages(in: session, anchorMessage: nil, direction: .older, limit: limit)
        case .older(let anchor):
            try await provider.messages(in: session, anchorMessage: anchor, direction: .older, limit: limit)
        case .newer(let anchor):
            try await provider.messages(in: session, anchorMessage: anchor, direction: .newer, limit: limit)
        case .around(let id): try await provider.messages(in: session, around: id, limit: limit)
        }
    }
}

/// A request in the engine's words, with the time at which it was made.
struct PageQuestion: Sendable {
    var target: FlowLoadRequest.Target
    /// Whether the line above the first unread message depends on it.
    var wantsReadPosition = false
}

/// Holds the manager without keeping it alive.
private final class WeakManager: Sendable {
    @MainActor weak var value: DataManager?

    @MainActor func question(for request: FlowLoadRequest) -> PageQuestion? {
        value?.question(for: request)
    }

    @MainActor func take(
        _ page: MessagePage, read: MessagePosition?, for request: FlowLoadRequest, generation: Int
    ) -> MessagePage? {
        value?.take(page, read: read, for: request, generation: generation)
    }
}

extension MessagePage {
    /// The part of a page that lies nearest to what was asked for.
    func cut(to count: Int, for question: PageQuestion) -> MessagePage {
        let sorted = messages.sorted { ($0.position, $0.id) < ($1.position, $1.id) }
        switch question.target {
        case .latest, .older:
            return MessagePage(messages: sorted.suffix(count), hasOlder: true, hasNewer: hasNewer)
        case .newer:
            return MessagePage(messages: Array(sorted.prefix(count)), hasOlder: hasOlder, hasNewer: true)
        case .around(let id):
            let index = sorted.firstIndex { $0.id == id } ?? 0
            let start = max(0, min(index - count / 2, sorted.count - count))
            return MessagePage(
                messages: Array(sorted[start...].prefix(count)), hasOlder: hasOlder || start > 0,
                hasNewer: hasNewer || start + count < sorted.count)
        }
    }
}
