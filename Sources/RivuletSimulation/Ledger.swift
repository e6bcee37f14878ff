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
        var content: SimulatedContent
        var uuid = ""
        /// Its place among what this device sends to this receiver.
        var index = 0
        var fate = Fate.requested
        var isStored = false
        /// Whether its reader made it vanish, everywhere.
        var isBurned = false
        /// The withdrawals and changes by its author, as they were stored; each holds for those it came to.
        var changes: [Int] = []
        /// Whether a server of the first era refused it, which has no word for that and acknowledges it.
        var isDropped = false
        /// Whether it came out of a backup and is sent once more, so that its order means nothing.
        var isResent = false
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

    private let settings: SimulationSettings
    private(set) var sent: [Sent] = []
    private(set) var queues: [QueueID: Queue] = [:]
    private var lastIndexStored: [Session: Int] = [:]
    private var nextIndex: [Session: Int] = [:]
    /// The messages to the room that reached a running server.
    private var reachedRoom: Set<Int> = []
    /// The first rule that did not hold.
    private(set) var violation: SimulationViolation?
    private(set) var storedCount = 0
    var now: Int64 = 0

    // Who is where, kept apart from the server's own books.
    var members: [Int64: Set<Int>] = [:]
    var muted: [Int64: Set<Int>] = [:]
    var blocked: [Int: Set<Int>] = [:]
    var banned: Set<Int> = []

    init(_ settings: SimulationSettings) {
        self.settings = settings
    }

    mutating func fail(_ rule: SimulationViolation.Rule, _ detail: @autoclosure () -> String) {
        guard violation == nil else { return }
        violation = SimulationViolation(rule: rule, milliseconds: now, detail: detail())
    }

    // MARK: The author's side

    /// Gives the next number to a message.
    mutating func request(_ message: Sent, uuid: String?) -> Int {
        let number = sent.count + 1
        let session = Session(device: message.device, receiver: message.receiver, command: message.command)
        var message = message
        message.index = nextIndex[session, default: 0]
        nextIndex[session] = message.index + 1
        message.uuid = uuid ?? "m\(number)"
        sent.append(message)
        return number
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

    /// A backup took the place of a client's storage: what came out of it is sent again, what is not in it is lost.
    mutating func goBack(_ device: Int, to disk: SimulatedDisk) {
        let waiting = Set(disk.outbox.compactMap { MessageNumber.number(in: $0.body) })
        for index in sent.indices where sent[index].device == device {
            if waiting.contains(index + 1) {
                sent[index].fate = .queued
                sent[index].isResent = true
            } else if sent[index].fate == .requested || sent[index].fate == .queued {
                sent[index].fate = .failed(0)
            }
        }
    }

    mutating func report(_ step: SendReport.Step, of number: Int) {
        guard let message = self[number] else { return fail(.unknown, "a report about message \(number)") }
        if message.command == .roomIM { return reportFromRoom(step, of: number) }
        switch step {
        case .queued:
            if message.fate == .requested { sent[number - 1].fate = .queued }
        case .acknowledged:
            sent[number - 1].fate = .acknowledged
            if !message.isStored, !message.isDropped {
                fail(.acknowledgedTooEarly, "message \(number) of client \(message.device) is not in the log")
            }
        case .refused:
            sent[number - 1].fate = .refused
            if message.isStored { fail(.refusedButStored, "message \(number) of client \(message.device)") }
        case .failed(let failure): sent[number - 1].fate = .failed(failure.rawValue)
        case .cancelled: sent[number - 1].fate = .failed(0)
        }
    }

    // MARK: Live messages

    private mutating func reportFromRoom(_ step: SendReport.Step, of number: Int) {
        switch step {
        case .queued: return
        case .acknowledged:
            sent[number - 1].fate = .acknowledged
            if !reachedRoom.contains(number) {
                fail(.acknowledgedTooEarly, "message \(number) to the room never reached the server")
            }
        case .refused: sent[number - 1].fate = .refused
        // Nothing keeps such a message: a connection that ends takes it along.
        case .failed, .cancelled: sent[number - 1].fate = .failed(0)
        }
    }

    mutating func reachedServer(_ number: Int) { reachedRoom.insert(number) }

    /// Checks a message of the room that the server passes on or a device is shown.
    mutating func checkRoom(_ message: RoomMessage, isInside: Bool, where place: @autoclosure () -> String) {
        guard let number = MessageNumber.number(in: message.content), let sent = self[number],
            sent.command == .roomIM, Int64(sent.author) == message.sender
        else { return fail(.unknown, "the room hears what nobody said") }
        if !isInside { fail(.notAllowed, "message \(number) of the room comes to \(place())") }
        if sent.fate == .refused { fail(.notAllowed, "message \(number) of the room was refused") }
    }

    // MARK: The server's side

    /// Checks what the node wants to store against who may write where.
    mutating func checkPermission(_ entry: LogEntry) {
        guard let number = MessageNumber.number(in: entry.content), let message = self[number] else {
            return fail(.unknown, "the node stores what nobody sent")
        }
        guard settings.account(of: message.author) == entry.author, message.receiver == entry.receiver,
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

    private func queue(of user: Int) -> QueueID { .user(settings.account(of: user)) }

    private func expectedQueues(of message: Sent) -> [QueueID] {
        let receiver = Int(message.receiver)
        switch message.command {
        case .groupIM:
            guard let members = members[message.receiver], members.contains(message.author),
                muted[message.receiver]?.contains(message.author) != true
            else { return [] }
            if message.receiver == Operation.superGroup, settings.era == .current {
                return [.group(GroupID(message.receiver))]
            }
            return members.sorted().map(queue)
        case .customerV2:
            guard message.author == settings.staff || receiver == settings.staff else { return [] }
            return [queue(of: receiver), queue(of: message.author)]
        default:
            guard receiver == message.author || blocked[receiver]?.contains(message.author) != true else {
                return []
            }
            return [queue(of: receiver), queue(of: message.author)]
        }
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
        noteEffect(of: message, number)
        guard !message.isResent else { return }
        let session = Session(device: message.device, receiver: message.receiver, command: message.command)
        if let last = lastIndexStored[session], message.index < last {
            fail(.disordered, "message \(number) is stored after a later one of its author")
        }
        lastIndexStored[session] = max(message.index, lastIndexStored[session] ?? 0)
    }

    private mutating func noteEffect(of message: Sent, _ number: Int) {
        guard let target = message.content.target, let old = self[target] else { return }
        switch message.content {
        case .revoke where old.author == message.author: sent[target - 1].changes.append(number)
        case .burned where old.receiver == Int64(message.author): sent[target - 1].isBurned = true
        case .edit where old.author == message.author: sent[target - 1].changes.append(number)
        default: break
        }
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
        case .user: queue == self.queue(of: user)
        case .group(let group): members[group.rawValue]?.contains(user) == true
        }
    }

    /// Checks that a device has everything up to the key that it has stored.
    mutating func checkKey(_ key: Int64, of queue: MessageQueue, user: Int, disk: inout SimulatedDisk) {
        guard let contents = queues[queueID(queue, user: user)] else { return }
        var index = disk.verified[queue] ?? 0
        while index < contents.places.count, contents.places[index].key <= key {
            let number = contents.places[index].number
            if !disk.known.contains(number), self[number]?.isBurned != true {
                fail(.keyTooFar, "user \(user) stored key \(key) of \(queue) without message \(number)")
            }
            index += 1
        }
        disk.verified[queue] = index
    }

    func queueID(_ queue: MessageQueue, user: Int) -> QueueID {
        switch queue {
        case .peer: self.queue(of: user)
        case .group(let id): .group(GroupID(id))
        }
    }

    /// In which conversation a user sees a message.
    func conversation(of message: Sent, for user: Int) -> ConversationName {
        switch message.command {
        case .groupIM: .group(message.receiver)
        case .customerV2: .customer(message.author == user ? message.receiver : Int64(message.author))
        default: .user(message.author == user ? message.receiver : Int64(message.author))
        }
    }

    /// The queues of the log that a user reads.
    func queueIDs(of user: Int) -> [QueueID] {
        guard user != settings.staff, settings.era == .current else { return [queue(of: user)] }
        return [queue(of: user), .group(GroupID(Operation.superGroup))]
    }

    /// Whether a message is in a queue that a user reads.
    private func reaches(_ number: Int, _ user: Int) -> Bool {
        queueIDs(of: user).contains { queues[$0]?.keys[number] != nil }
    }

    func isRevoked(_ message: Sent, for user: Int) -> Bool {
        message.changes.contains { number in
            guard case .revoke? = self[number]?.content else { return false }
            return reaches(number, user)
        }
    }

    /// The last change of a text that came to a user.
    func lastEdit(_ message: Sent, for user: Int) -> Int? {
        message.changes.last { number in
            guard case .edit? = self[number]?.content else { return false }
            return reaches(number, user)
        }
    }

    /// A server of the first era takes a message: whether it will store it, it does not say.
    mutating func noteSilentRefusal(_ number: Int) {
        guard let message = self[number], !message.isStored, expectedQueues(of: message).isEmpty else {
            return
        }
        sent[number - 1].isDropped = true
    }

    /// How many texts every device of a user should count as unread when everything has arrived.
    func expectedUnread(of user: Int) -> Int {
        var book = UnreadBook()
        var marks: [Int] = []
        for queue in queueIDs(of: user) {
            for place in queues[queue]?.places ?? [] {
                guard let message = self[place.number] else { continue }
                if message.content.isText, message.author != user {
                    book.arrived(place.number, in: conversation(of: message, for: user))
                }
                switch message.content {
                case .receipt(let target) where message.author == user: marks.append(target)
                case .readMark(let target) where message.author == user: marks.append(target)
                default: break
                }
            }
        }
        for queue in queueIDs(of: user) {
            for place in queues[queue]?.places ?? [] {
                guard let message = self[place.number],
                    message.isBurned || isRevoked(message, for: user)
                else { continue }
                book.vanished(place.number, in: conversation(of: message, for: user))
            }
        }
        for target in marks {
            guard let message = self[target] else { continue }
            book.read(upTo: target, in: conversation(of: message, for: user))
        }
        return book.count
    }
}
