import RivuletClientCore
import RivuletWire

/// A client's storage with what a crash does to it: a batch is there as a whole or not at all.
struct SimulatedDisk: Sendable {
    var peerKey: Int64?
    var groupKeys: [Int64: Int64] = [:]
    var outbox: [OutboxEntry] = []
    var lastSendID = SendID(rawValue: 0)
    /// The messages that are stored, received or own, by their number.
    var known: Set<Int> = []
    /// The last of them, for work that is about one.
    var recent: [Int] = []
    var unread = UnreadBook()
    /// The greatest key in the queue of a message that came new, for the check of the order.
    var newestReceived: [MessageQueue: Int64] = [:]
    /// How far the check of the keys has come: an index into each queue.
    var verified: [MessageQueue: Int] = [:]
    /// The messages that the app was shown.
    var shown: Set<Int> = []

    var restored: RestoredState {
        RestoredState(peerKey: peerKey, groupKeys: groupKeys, outbox: outbox, lastSendID: lastSendID)
    }

    /// Takes note of a message; false when it is known.
    mutating func learn(_ number: Int) -> Bool {
        guard known.insert(number).inserted else { return false }
        if recent.count == 12 { recent.removeFirst() }
        recent.append(number)
        return true
    }
}

/// How many messages of others a device has not read, kept the way an app understands it.
struct UnreadBook: Sendable {
    private struct Conversation: Sendable {
        /// The texts of others, in the order in which they came.
        var arrivals: [Int] = []
        /// How many of them are read.
        var readCount = 0
    }

    private var conversations: [ConversationName: Conversation] = [:]
    /// Withdrawn or burned texts; they count no more.
    private var gone: Set<Int> = []
    /// Texts that another device had read before they came here: a restored server may bring them after the mark.
    private var readBefore: Set<Int> = []
    private(set) var count = 0

    mutating func arrived(_ number: Int, in name: ConversationName) {
        conversations[name, default: Conversation()].arrivals.append(number)
        if !gone.contains(number) { count += 1 }
        if readBefore.remove(number) != nil { read(upTo: number, in: name) }
    }

    /// Everything up to this text is read; it never goes back.
    mutating func read(upTo number: Int, in name: ConversationName) {
        let conversation = conversations[name, default: Conversation()]
        guard let place = conversation.arrivals.lastIndex(of: number) else {
            readBefore.insert(number)
            return
        }
        let (arrivals, before) = (conversation.arrivals, conversation.readCount)
        guard place >= before else { return }
        count -= arrivals[before...place].count { !gone.contains($0) }
        conversations[name]?.readCount = place + 1
    }

    mutating func vanished(_ number: Int, in name: ConversationName) {
        guard gone.insert(number).inserted, let conversation = conversations[name],
            let place = conversation.arrivals.lastIndex(of: number), place >= conversation.readCount
        else { return }
        count -= 1
    }

    /// For a fault that is put in on purpose.
    mutating func countOnceMore() { count += 1 }
}

/// A conversation as one user sees it.
enum ConversationName: Hashable, Sendable {
    case user(Int64)
    case group(Int64)
    case customer(Int64)
}
