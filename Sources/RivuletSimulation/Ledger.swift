import RivuletClientCore
import RivuletModel
import RivuletServerCore
import RivuletWire

/// What really happened, kept beside the cores, and the rules that it must follow.
struct Ledger: Sendable {
    enum Fate: Sendable, Equatable {
        case requested
        case queued
        case acknowledged
        case refused
        case failed(Int)
    }

    /// A message that a user asked for.
    struct Sent: Sendable {
        var author: Int
        var device: Int
        var receiver: Int64
        var command: Command
        /// Its place among what this device sends to this receiver.
        var index: Int
        var fate: Fate
        var isStored = false
        /// Whether it was refused when it came again, because its author had lost the right to write there.
        var isLateRefusal = false
        /// Who may have it.
        var readers: [QueueID] = []
    }

    /// What stands where in a queue of the log.
    struct Queue: Sendable {
        var places: [(key: Int64, number: Int)] = []
        var keys: [Int: Int64] = [:]
    }

    struct Session: Hashable {
        var device: Int
        var receiver: Int64
        var command: Command
    }

    private(set) var sent: [Sent] = []
    private(set) var queues: [QueueID: Queue] = [:]
    private var lastIndexStored: [Session: Int] = [:]
    private var nextIndex: [Session: Int] = [:]
    /// The first rule that did not hold.
    private(set) var violation: SimulationViolation?
    private(set) var storedCount = 0
    var now: Int64 = 0

    // Who is where, kept apart from the server's own books.
    var members: [Int64: Set<Int>] = [:]
    var blocked: [Int: Set<Int>] = [:]

    mutating func fail(_ rule: SimulationViolation.Rule, _ detail: @autoclosure () -> String) {
        guard violation == nil else { return }
        violation = SimulationViolation(rule: rule, milliseconds: now, detail: detail())
    }

    // MARK: The author's side

    /// Gives the next number to a message.
    mutating func request(author: Int, device: Int, receiver: Int64, command: Command) -> Int {
        let session = Session(device: device, receiver: receiver, command: command)
        let index = nextIndex[session, default: 0]
        nextIndex[session] = index + 1
        sent.append(
            Sent(
                author: author, device: device, receiver: receiver, command: command, index: index,
                fate: .requested))
        return sent.count
    }

    subscript(_ number: Int) -> Sent? {
        number >= 1 && number <= sent.count ? sent[number - 1] : nil
    }

    /// A crash of a client took the messages that its storage never had.
    mutating func forgetUnstored(of device: Int, kept disk: SimulatedDisk) {
        let waiting = Set(disk.outbox.compactMap { MessageNumber.number(in: $0.body) })
        for index in sent.indices where sent[index].device == device && sent[index].fate == .requested {
            sent[index].fate = waiting.contains(index + 1) ? .queued : .failed(0)
        }
    }

    mutating func report(_ step: SendReport.Step, of number: Int) {
        guard let message = self[number] else { return fail(.unknown, "a report about message \(number)") }
        switch step {
        case .queued:
            if message.fate == .requested { sent[number - 1].fate = .queued }
        case .acknowledged:
            sent[number - 1].fate = .acknowledged
            if !message.isStored {
                fail(.acknowledgedTooEarly, "message \(number) of client \(message.device) is not in the log")
            }
        case .refused:
            sent[number - 1].fate = .refused
            guard message.isStored else { return }
            // TODO(#9): the node asks for the right before it looks whether it has the message already, so a retry
            // after the right is gone is refused although the first try was stored.
            sent[number - 1].isLateRefusal = expectedQueues(of: message).isEmpty
            guard expectedQueues(of: message).isEmpty else {
                return fail(.refusedButStored, "message \(number) of client \(message.device)")
            }
        case .failed(let failure): sent[number - 1].fate = .failed(failure.rawValue)
        case .cancelled: sent[number - 1].fate = .failed(0)
        }
    }

    // MARK: The server's side

    /// Checks what the node wants to store against who may write where.
    mutating func checkPermission(_ entry: LogEntry) {
        guard let number = MessageNumber.number(in: entry.content), let message = self[number] else {
            return fail(.unknown, "the node stores what nobody sent")
        }
        guard message.author == Int(entry.author.user.rawValue), message.receiver == entry.receiver,
            message.command == entry.command
        else { return fail(.notAllowed, "message \(number) is stored as another one") }
        let expected = expectedQueues(of: message)
        guard !expected.isEmpty else {
            return fail(.notAllowed, "message \(number): user \(message.author) may not write there")
        }
        if expected.count != entry.queues.count || Set(expected) != Set(entry.queues) {
            fail(.notAllowed, "message \(number) goes to other queues than it should")
        }
    }

    private func expectedQueues(of message: Sent) -> [QueueID] {
        func queue(_ user: Int) -> QueueID { .user(Account(user: UserID(Int64(user)))) }
        guard message.command == .groupIM else {
            let receiver = Int(message.receiver)
            guard receiver == message.author || blocked[receiver]?.contains(message.author) != true else {
                return []
            }
            return [queue(receiver), queue(message.author)]
        }
        guard let members = members[message.receiver], members.contains(message.author) else { return [] }
        if message.receiver == Operation.superGroup { return [.group(GroupID(message.receiver))] }
        return members.sorted().map(queue)
    }

    /// Takes note of what the log has committed.
    mutating func stored(_ entry: LogEntry, _ outcome: AppendOutcome) {
        guard case .stored(let places) = outcome,
            let number = MessageNumber.number(in: entry.content), let message = self[number]
        else { return }
        storedCount += 1
        if message.isStored { fail(.doubled, "message \(number) is stored a second time") }
        if message.fate == .refused { fail(.refusedButStored, "message \(number) after its refusal") }
        sent[number - 1].isStored = true
        sent[number - 1].readers = entry.queues
        for (queue, place) in zip(entry.queues, places) {
            let last = queues[queue]?.places.last?.key ?? 0
            if place.key <= last || place.previous != last {
                fail(.disordered, "key \(place.key) after \(last) in \(queue)")
            }
            queues[queue, default: Queue()].places.append((place.key, number))
            if queues[queue]?.keys[number] == nil { queues[queue]?.keys[number] = place.key }
        }
        let session = Session(device: message.device, receiver: message.receiver, command: message.command)
        if let last = lastIndexStored[session], message.index < last {
            fail(.disordered, "message \(number) is stored after a later one of its author")
        }
        lastIndexStored[session] = max(message.index, lastIndexStored[session] ?? 0)
    }

    // MARK: The reader's side

    /// Checks a message that a device stores, and gives its key.
    mutating func checkReceived(_ message: ReceivedMessage, user: Int) -> (number: Int, key: Int64)? {
        guard let number = MessageNumber.number(in: message.body), let sent = self[number] else {
            fail(.unknown, "user \(user) received what nobody sent")
            return nil
        }
        guard let queue = sent.readers.first(where: { isReader(user, of: $0) }) else {
            let why = sent.isStored ? "user \(user) is no reader of it" : "it is not in the log"
            fail(.notAllowed, "message \(number) came to user \(user): \(why)")
            return nil
        }
        return (number, queues[queue]?.keys[number] ?? 0)
    }

    private func isReader(_ user: Int, of queue: QueueID) -> Bool {
        switch queue {
        case .user(let account): account.user.rawValue == Int64(user)
        case .group(let group): members[group.rawValue]?.contains(user) == true
        }
    }

    /// Checks that a device has everything up to the key that it has stored.
    mutating func checkKey(_ key: Int64, of queue: MessageQueue, user: Int, disk: inout SimulatedDisk) {
        guard let contents = queues[Self.queueID(queue, user: user)] else { return }
        var index = disk.verified[queue] ?? 0
        while index < contents.places.count, contents.places[index].key <= key {
            let number = contents.places[index].number
            if !disk.known.contains(number) {
                fail(.keyTooFar, "user \(user) stored key \(key) of \(queue) without message \(number)")
            }
            index += 1
        }
        disk.verified[queue] = index
    }

    static func queueID(_ queue: MessageQueue, user: Int) -> QueueID {
        switch queue {
        case .peer: .user(Account(user: UserID(Int64(user))))
        case .group(let id): .group(GroupID(id))
        }
    }
}
