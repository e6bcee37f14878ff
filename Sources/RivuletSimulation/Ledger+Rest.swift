import RivuletModel
import RivuletServerCore
import RivuletWire

/// What devices should have when everything has arrived.
extension Ledger {
    /// The queues that users read, each once, in a fixed order.
    var allQueueIDs: [QueueID] {
        var seen: Set<QueueID> = []
        return (1...max(1, settings.users)).flatMap { queueIDs(of: $0) }.filter { seen.insert($0).inserted }
    }

    /// What a device of a user should have of a queue, and what it has besides from before the user joined.
    func places(in queue: QueueID, of user: Int, known: Set<Int>) -> [(key: Int64, number: Int)] {
        let places = books.queues[queue]?.places ?? []
        guard case .group = queue else { return places }
        return places.filter { known.contains($0.number) || isDue($0, in: queue, to: user) }
    }

    /// Whether a message to the super group never comes back to its author, who left the group since.
    func isNeverReturned(_ message: Sent, _ number: Int, to user: Int) -> Bool {
        let queue = QueueID.group(GroupID(message.receiver))
        guard message.author == user, message.readers.contains(queue) else { return false }
        let key = books.queues[queue]?.keys[number]
        return key.map { !isDue(($0, number), in: queue, to: user) } ?? true
    }

    /// How many texts a device of a user should count as unread.
    ///
    /// - Returns: Nil where devices may differ, since some know messages that the server lost later.
    func expectedUnread(of user: Int, known: Set<Int>) -> Int? {
        var book = UnreadBook()
        var marks: [Int] = []
        var gone: [(number: Int, name: ConversationName)] = []
        for queue in queueIDs(of: user) {
            for place in places(in: queue, of: user, known: known) {
                guard let message = self[place.number] else { continue }
                if message.wasTakenBack || message.wasBurned != message.isBurned { return nil }
                let name = conversation(of: message, for: user)
                if message.content.isText, message.author != user { book.arrived(place.number, in: name) }
                if message.isBurned || isRevoked(message, known: known) { gone.append((place.number, name)) }
                switch message.content {
                case .receipt(let target) where message.author == user: marks.append(target)
                case .readMark(let target) where message.author == user: marks.append(target)
                default: break
                }
            }
        }
        for (number, name) in gone { book.vanished(number, in: name) }
        for target in marks {
            guard let message = self[target] else { continue }
            book.read(upTo: target, in: conversation(of: message, for: user))
        }
        return known.contains { self[$0]?.wasTakenBack == true } ? nil : book.count
    }

    /// Who told the author of a message that it was read, as far as a device of the author knows.
    func readers(of number: Int, known: Set<Int>) -> Set<Int> {
        var readers: Set<Int> = []
        for receipt in receipts[number] ?? [] where known.contains(receipt) {
            if let reader = self[receipt]?.author { readers.insert(reader) }
        }
        return readers
    }
}
