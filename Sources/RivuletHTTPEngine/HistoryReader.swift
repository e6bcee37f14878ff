public import RivuletFlow
public import RivuletModel
import Synchronization

/// The folds of the sessions that were read last.
final class SessionFolds: Sendable {
    /// How many sessions are remembered; of more, those that were not read for longest are forgotten.
    static let sessionsMax = 32

    private let user: UserID
    private let folds = Mutex<[(session: Session, fold: HistoryFold)]>([])

    init(user: UserID) {
        self.user = user
    }

    func take(
        _ messages: [Message], changes: [HistoryChange], in session: Session
    ) -> HistoryFold.Outcome {
        folds.withLock { folds in
            var fold = HistoryFold(user: user)
            if let index = folds.firstIndex(where: { $0.session == session }) {
                fold = folds.remove(at: index).fold
            } else if folds.count >= Self.sessionsMax {
                folds.removeFirst()
            }
            let outcome = fold.take(messages, changes: changes)
            folds.append((session, fold))
            return outcome
        }
    }

    /// What is known of a session.
    func fold(of session: Session) -> HistoryFold {
        folds.withLock { folds in folds.first { $0.session == session }?.fold } ?? HistoryFold(user: user)
    }
}

/// A stretch of a history, folded.
struct FoldedPage {
    var messages: [Message]
    var hasMore: Bool
    /// From where the next page in this direction goes on.
    var lastKey: Int64?
}

extension HTTPEngine {
    /// How many pages without a message are read before the stretch counts as empty.
    static let changePagesMax = 50

    /// Reads a stretch that has messages, if there is one in this direction; tells what it changes of earlier ones.
    func readHistory(
        _ question: HTTPPageQuestion,
        with read: @Sendable (HTTPAnswer, HTTPPageQuestion) throws -> HTTPHistoryPage
    ) async throws -> FoldedPage {
        var question = question
        var stretch = FoldedPage(messages: [], hasMore: false, lastKey: question.key)
        for _ in 0..<Self.changePagesMax {
            let page = try read(try await perform(try mapping.page(question)), question)
            let outcome = folds.take(page.messages, changes: page.changes, in: question.session)
            if !outcome.updated.isEmpty { hub.publish(.updated(outcome.updated), in: question.session) }
            stretch.messages += outcome.messages
            stretch.hasMore = page.hasMore
            stretch.lastKey = page.lastKey ?? stretch.lastKey
            guard stretch.messages.isEmpty, page.hasMore, let last = page.lastKey, last != question.key else {
                break
            }
            question.key = last
        }
        return stretch
    }
}

extension HTTPEngine: MessageTallySource {
    /// The votes that were read.
    public func votes(on message: Message) async throws -> [UserID: [Int]] {
        guard let uuid = message.uuid else { return [:] }
        return folds.fold(of: message.session).votes(on: uuid)
    }

    /// The readers whose receipts were read.
    public func readers(of message: Message) async throws -> Set<UserID> {
        guard let uuid = message.uuid else { return [] }
        return folds.fold(of: message.session).readers(of: uuid)
    }
}
