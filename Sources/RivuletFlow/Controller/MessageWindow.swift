import RivuletModel

/// The messages between two edges of a conversation, in order, each once.
///
/// It remembers which stretch changed since it was last asked, so that only that is decorated anew.
struct MessageWindow {
    /// What bringing messages in did.
    struct Outcome {
        /// Messages that were not there before.
        var inserted: [MessageID] = []
        /// Messages that were there and look different or stand elsewhere now, each as it was before.
        var changed: [Message] = []
    }

    /// The messages, oldest first.
    private(set) var messages: [Message] = []
    private var places: [MessageID: MessagePosition] = [:]

    // What is untouched since the last `takeEdit()`: so many messages at the beginning and at the end.
    private var countBefore = 0
    private var prefix = Int.max
    private var suffix = Int.max

    /// Whether the message is in the window.
    func contains(_ id: MessageID) -> Bool {
        places[id] != nil
    }

    /// Where the message stands; nil when it is not in the window.
    func index(of id: MessageID) -> Int? {
        guard let position = places[id] else { return nil }
        let index = insertionIndex(position: position, id: id)
        return index < messages.count && messages[index].id == id ? index : nil
    }

    /// Brings messages in, by identity.
    ///
    /// - Parameters:
    ///   - batch: The messages, in any order; of two with one identity the later wins.
    ///   - isNews: Whether they are news, which win over what is known at the same revision. A page is not: it may
    ///     have been read before the news came.
    /// - Returns: What was new and what changed.
    mutating func merge(_ batch: [Message], isNews: Bool) -> Outcome {
        var outcome = Outcome()
        var fresh: [Message] = []
        var freshIndex: [MessageID: Int] = [:]
        for message in batch {
            if let index = freshIndex[message.id] {
                if message.revision >= fresh[index].revision { fresh[index] = message }
            } else if let index = index(of: message.id) {
                let known = messages[index]
                let wins = message.revision > known.revision || (isNews && message.revision == known.revision)
                guard wins, message != known else { continue }
                outcome.changed.append(known)
                if message.position == known.position {
                    messages[index] = message
                    touch(index, replacedBy: 1)
                } else {
                    _ = remove(at: index)
                    freshIndex[message.id] = fresh.count
                    fresh.append(message)
                }
            } else {
                freshIndex[message.id] = fresh.count
                fresh.append(message)
                outcome.inserted.append(message.id)
            }
        }
        insert(fresh)
        return outcome
    }

    /// Takes a message out.
    mutating func remove(_ id: MessageID) -> Message? {
        index(of: id).map { remove(at: $0) }
    }

    /// Takes the oldest messages out.
    mutating func removeFirst(_ count: Int) -> [Message] {
        let gone = Array(messages.prefix(count))
        messages.removeFirst(gone.count)
        for message in gone { places[message.id] = nil }
        touch(0, replacedBy: 0)
        return gone
    }

    /// Takes the newest messages out.
    mutating func removeLast(_ count: Int) -> [Message] {
        let gone = Array(messages.suffix(count))
        messages.removeLast(gone.count)
        for message in gone { places[message.id] = nil }
        touch(messages.count, replacedBy: 0)
        return gone
    }

    /// Puts other messages in the place of all.
    mutating func replaceAll(with batch: [Message]) {
        messages = []
        places = [:]
        touch(0, replacedBy: 0)
        _ = merge(batch, isNews: false)
    }

    /// The stretch that changed since the last call; nil when none did.
    mutating func takeEdit() -> MessageEdit? {
        defer {
            countBefore = messages.count
            prefix = .max
            suffix = .max
        }
        guard prefix != .max || suffix != .max else { return nil }
        let shorter = min(countBefore, messages.count)
        let start = min(prefix, shorter)
        let end = min(suffix, shorter - start)
        return MessageEdit(replacing: start..<(countBefore - end), withCount: messages.count - end - start)
    }

    private mutating func remove(at index: Int) -> Message {
        let message = messages.remove(at: index)
        places[message.id] = nil
        touch(index, replacedBy: 0)
        return message
    }

    private mutating func insert(_ fresh: [Message]) {
        guard !fresh.isEmpty else { return }
        let fresh = fresh.sorted(by: Self.precedes)
        for message in fresh { places[message.id] = message.position }
        let first = insertionIndex(position: fresh[0].position, id: fresh[0].id)
        let last = insertionIndex(position: fresh[fresh.count - 1].position, id: fresh[fresh.count - 1].id)
        if first == last {
            messages.insert(contentsOf: fresh, at: first)
        } else {
            var merged: [Message] = []
            merged.reserveCapacity(last - first + fresh.count)
            var next = 0
            for message in messages[first..<last] {
                while next < fresh.count, Self.precedes(fresh[next], message) {
                    merged.append(fresh[next])
                    next += 1
                }
                merged.append(message)
            }
            merged.append(contentsOf: fresh[next...])
            messages.replaceSubrange(first..<last, with: merged)
        }
        touch(first, replacedBy: last - first + fresh.count)
    }

    /// Notes that the messages from an index on were replaced by so many.
    private mutating func touch(_ index: Int, replacedBy count: Int) {
        prefix = min(prefix, index)
        suffix = min(suffix, messages.count - index - count)
    }

    private static func precedes(_ left: Message, _ right: Message) -> Bool {
        (left.position, left.id) < (right.position, right.id)
    }

    private func insertionIndex(position: MessagePosition, id: MessageID) -> Int {
        if let last = messages.last, (last.position, last.id) < (position, id) { return messages.count }
        var (low, high) = (0, messages.count)
        while low < high {
            let middle = (low + high) / 2
            if (messages[middle].position, messages[middle].id) < (position, id) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }
}
