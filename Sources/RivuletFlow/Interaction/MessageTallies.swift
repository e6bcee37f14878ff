public import RivuletModel

/// Tells what stands beside a message: who chose what in a poll, and who has read it.
///
/// It is for engines that keep this themselves. Votes and receipts that come as `SessionEvent.control` are counted
/// without it.
public protocol MessageTallySource: Sendable {
    /// What users chose in a poll, the last vote of each.
    func votes(on message: Message) async throws -> [UserID: [Int]]
    /// Who has read a message of the user.
    func readers(of message: Message) async throws -> Set<UserID>
}

extension DataManager {
    /// The votes on a poll, for each option those who chose it, in the order of their numbers.
    ///
    /// The row is updated when votes come, or when the engine has told those that it keeps.
    public func votes(on id: MessageID) -> [[UserID]] {
        guard let entry = ledger[id], case .poll(let poll) = entry.message.content else { return [] }
        return poll.options.indices.map { option in
            entry.votes.filter { $0.value.contains(option) }.map(\.key).sorted()
        }
    }

    /// The users known to have read a message; see ``loadReaders(of:)``.
    public func readers(of id: MessageID) -> Set<UserID> {
        ledger[id]?.readers ?? []
    }

    /// Asks the engine who has read a message, and knows it from then on.
    ///
    /// - Throws: ``InteractionError`` with `notFound`; what the engine throws.
    @discardableResult
    public func loadReaders(of id: MessageID) async throws -> Set<UserID> {
        guard let message = ledger[id]?.message else { throw InteractionError(.notFound) }
        guard let tallies = engine.tallies else { return readers(of: id) }
        let found = try await tallies.readers(of: ledger.engineForm(of: message))
        // Meanwhile more may have been heard of.
        _ = ledger.change(id) { $0.readers.formUnion(found) }
        return readers(of: id)
    }

    /// Asks the engine for the votes on polls that came or changed: one after the other, each once.
    func askForVotes(on messages: [Message]) {
        guard let tallies = engine.tallies else { return }
        for message in messages {
            if case .poll = message.content { pollsToCount.insert(message.id) }
        }
        guard !pollsToCount.isEmpty, !isCountingVotes else { return }
        isCountingVotes = true
        Task { [weak self] in await self?.countVotes(by: tallies) }
    }

    private func countVotes(by tallies: any MessageTallySource) async {
        defer { isCountingVotes = false }
        while let id = pollsToCount.popFirst() {
            guard let message = ledger[id]?.message else { continue }
            do {
                let votes = try await tallies.votes(on: ledger.engineForm(of: message))
                guard ledger[id]?.votes != votes else { continue }
                change(id) { entry in
                    entry.votes = votes
                    // The tally stands beside the message, so the row is told to look again.
                    entry.message.revision += 1
                }
            } catch {
                // What is shown stays; the next change of the poll asks again.
                continue
            }
        }
    }
}
