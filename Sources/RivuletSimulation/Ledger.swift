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
        /// Whether the log that held it was put back from an older copy, and has it no more.
        var isTakenBack = false
        /// Whether that happened to it, once at least.
        var wasTakenBack = false
        /// When its fate was told, and when the log lost it.
        var toldAt: Int64 = 0
        var takenBackAt: Int64 = 0
        /// Whether its reader made it vanish in the log, and whether that was so once.
        var isBurned = false
        var wasBurned = false
        /// The withdrawals and changes by its author, as they were stored; each holds for those it came to.
        var changes: [Int] = []
        /// Whether a server of the first era refused it, which has no word for that and acknowledges it.
        var isDropped = false
        /// Whether it came out of a backup and is sent once more, so that its order means nothing.
        var isResent = false
        /// Whether the server refused it once, which its author need not have heard: a retry may then be stored late.
        var wasTurnedAway = false
        /// Who may have it.
        var readers: [QueueID] = []
        /// Who was in its super group when it was stored.
        var members: Set<Int> = []

        var isOnServer: Bool { isStored && !isTakenBack }
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

    /// What the server's files say, and a copy of them says later.
    struct Books: Sendable {
        var queues: [QueueID: Queue] = [:]
        var lastIndexStored: [Session: Int] = [:]
        // Who is where, kept apart from the server's own books.
        var members: [Int64: Set<Int>] = [:]
        var muted: [Int64: Set<Int>] = [:]
        var blocked: [Int: Set<Int>] = [:]
        var banned: Set<Int> = []
        /// The last key before each member joined the super group.
        var joinKeys: [Int: Int64] = [:]
        /// The messages that vanished.
        var burned: Set<Int> = []
    }

    let settings: SimulationSettings
    private(set) var sent: [Sent] = []
    var books = Books()
    /// The greatest key that a queue ever had, and where a message stood in logs that are no more.
    private var greatestKeys: [QueueID: Int64] = [:]
    private var formerKeys: [Int: [Int64]] = [:]
    /// What the devices of each user may have passed over in the super group, since it was not theirs then.
    private var passedOver: [Int: Set<Int>] = [:]
    /// The stored receipts of each message.
    private(set) var receipts: [Int: [Int]] = [:]
    /// The users on whose devices a message was stored; kept in runs whose devices report that.
    private(set) var holders: [Int: Set<Int>] = [:]
    private var nextIndex: [Session: Int] = [:]
    /// The messages to the room that reached a running server.
    private var reachedRoom: Set<Int> = []
    /// The first rule that did not hold.
    private(set) var violation: SimulationViolation?
    private(set) var storedCount = 0
    var now: Int64 = 0

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
            sent[number - 1].toldAt = now
            if !message.isStored, !message.isDropped {
                fail(.acknowledgedTooEarly, "message \(number) of client \(message.device) is not in the log")
            }
        case .refused:
            sent[number - 1].fate = .refused
            if message.isOnServer { fail(.refusedButStored, "message \(number) of client \(message.device)") }
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
            guard let members = books.members[message.receiver], members.contains(message.author),
                books.muted[message.receiver]?.contains(message.author) != true
            else { return [] }
            if message.receiver == Operation.superGroup, settings.era == .current {
                return [.group(GroupID(message.receiver))]
            }
            return members.sorted().map(queue)
        case .customerV2:
            guard message.author == settings.staff || receiver == settings.staff else { return [] }
            return [queue(of: receiver), queue(of: message.author)]
        default:
            guard receiver == message.author || books.blocked[receiver]?.contains(message.author) != true
            else {
                return []
            }
            return [queue(of: receiver), queue(of: message.author)]
        }
    }

    /// Takes note of what the log has committed.
    mutating func stored(_ entry: LogEntry, _ outcome: AppendOutcome) {
        guard let number = MessageNumber.number(in: entry.content), let message = self[number] else { return }
        // What the node refuses it looks for first, since a retry of what is stored is none to refuse.
        if case .unknown = outcome { sent[number - 1].wasTurnedAway = true }
        guard case .stored(let places) = outcome else { return }
        storedCount += 1
        if message.isOnServer { fail(.doubled, "message \(number) is stored a second time") }
        if message.fate == .refused { fail(.refusedButStored, "message \(number) after its refusal") }
        sent[number - 1].isStored = true
        sent[number - 1].isTakenBack = false
        sent[number - 1].readers = message.readers + entry.queues.filter { !message.readers.contains($0) }
        if message.command == .groupIM {
            sent[number - 1].members.formUnion(books.members[message.receiver] ?? [])
        }
        for (queue, place) in zip(entry.queues, places) { notePlace(place, of: number, in: queue) }
        noteEffect(of: message, number)
        guard !message.isResent else { return }
        let session = Session(device: message.device, receiver: message.receiver, command: message.command)
        if let last = books.lastIndexStored[session], message.index < last, !message.wasTurnedAway {
            fail(.disordered, "message \(number) is stored after a later one of its author")
        }
        books.lastIndexStored[session] = max(message.index, books.lastIndexStored[session] ?? 0)
    }

    private mutating func notePlace(_ place: RivuletServerCore.QueuePlace, of number: Int, in queue: QueueID)
    {
        let last = books.queues[queue]?.places.last?.key ?? 0
        if place.key <= last || place.previous != last {
            fail(.disordered, "key \(place.key) after \(last) in \(TraceWords.queue(queue))")
        }
        let greatest = greatestKeys[queue] ?? 0
        if place.key <= greatest {
            fail(.keyReused, "key \(place.key) of \(TraceWords.queue(queue)), which has given \(greatest)")
        }
        greatestKeys[queue] = max(place.key, greatest)
        books.queues[queue, default: Queue()].places.append((place.key, number))
        if books.queues[queue]?.keys[number] == nil { books.queues[queue]?.keys[number] = place.key }
    }

    private mutating func noteEffect(of message: Sent, _ number: Int) {
        guard let target = message.content.target, let old = self[target] else { return }
        switch message.content {
        case .revoke where old.author == message.author: sent[target - 1].changes.append(number)
        case .burned where old.receiver == Int64(message.author):
            sent[target - 1].isBurned = true
            sent[target - 1].wasBurned = true
            books.burned.insert(target)
        case .edit where old.author == message.author: sent[target - 1].changes.append(number)
        case .receipt: receipts[target, default: []].append(number)
        default: break
        }
    }

    /// The server's files are those of a copy again: what came after it is lost there, and only there.
    mutating func goBackServer(to copy: Books) {
        for (queue, contents) in books.queues {
            for place in contents.places.dropFirst(copy.queues[queue]?.places.count ?? 0) {
                formerKeys[place.number, default: []].append(place.key)
                guard sent[place.number - 1].isOnServer else { continue }
                sent[place.number - 1].isTakenBack = true
                sent[place.number - 1].wasTakenBack = true
                sent[place.number - 1].takenBackAt = now
            }
        }
        for number in books.burned.subtracting(copy.burned) { sent[number - 1].isBurned = false }
        let former = books
        books = copy
        noteWhatIsDueAgain(since: former)
    }

    /// Excuses what a user who left the super group after the copy, and is back with it, passed over meanwhile.
    ///
    /// The messages while the user was away, and with a new time of joining those before it, were not the user's then:
    /// a key may rightly stand above them, and no device goes back for them.
    private mutating func noteWhatIsDueAgain(since former: Books) {
        let id = QueueID.group(GroupID(Operation.superGroup))
        for user in books.members[Operation.superGroup] ?? [] {
            let again = (books.queues[id]?.places ?? []).filter {
                isDue($0, in: id, to: user) && !isDue($0, in: id, to: user, by: former)
            }
            passedOver[user, default: []].formUnion(again.map(\.number))
        }
    }

    // MARK: The reader's side

    /// Checks a message that a device stores, and gives its key: of several the first after those it has.
    mutating func checkReceived(
        _ message: ReceivedMessage, user: Int, after last: Int64?
    ) -> (number: Int, key: Int64)? {
        guard let number = MessageNumber.number(in: message.body), let sent = self[number] else {
            fail(.unknown, "user \(user) received what nobody sent")
            return nil
        }
        guard let queue = sent.readers.first(where: { isReader(user, of: $0, sent) }) else {
            let why = sent.isStored ? "user \(user) is no reader of it" : "it is not in the log"
            fail(.notAllowed, "message \(number) came to user \(user): \(why)")
            return nil
        }
        let key = books.queues[queue]?.keys[number] ?? 0
        guard sent.wasTakenBack, let last else { return (number, key) }
        // Of a message that stood in two logs either copy may come.
        let keys = (formerKeys[number] ?? []) + [key]
        return (number, keys.filter { $0 > last }.min() ?? key)
    }

    mutating func noteHolder(_ user: Int, of number: Int) { holders[number, default: []].insert(user) }

    /// Checks that somebody has what is reported as delivered.
    mutating func checkDelivered(_ number: Int, to user: Int) {
        if holders[number]?.contains(user) != true {
            fail(.receiptWrong, "message \(number) is reported as delivered to user \(user)")
        }
    }

    private func isReader(_ user: Int, of queue: QueueID, _ message: Sent) -> Bool {
        switch queue {
        case .user: queue == self.queue(of: user)
        case .group: message.members.contains(user)
        }
    }

    /// Whether each device of a user is to have what stands at a place: of a super group only what came while the user
    /// was in it, since the last time of joining.
    func isDue(_ place: (key: Int64, number: Int), in queue: QueueID, to user: Int) -> Bool {
        isDue(place, in: queue, to: user, by: books) && passedOver[user]?.contains(place.number) != true
    }

    private func isDue(
        _ place: (key: Int64, number: Int), in queue: QueueID, to user: Int, by books: Books
    ) -> Bool {
        guard case .group(let group) = queue else { return true }
        return books.members[group.rawValue]?.contains(user) == true
            && self[place.number]?.members.contains(user) == true && place.key > books.joinKeys[user] ?? 0
    }

    /// Checks that a device has everything up to the key that it has stored.
    mutating func checkKey(_ key: Int64, of queue: MessageQueue, user: Int, disk: inout SimulatedDisk) {
        let id = queueID(queue, user: user)
        guard let contents = books.queues[id] else { return }
        var index = min(disk.verified[queue] ?? 0, contents.places.count)
        while index < contents.places.count, contents.places[index].key <= key {
            let place = contents.places[index]
            if !disk.known.contains(place.number), self[place.number]?.wasBurned != true,
                isDue(place, in: id, to: user)
            {
                fail(.keyTooFar, "user \(user) stored key \(key) of \(queue) without message \(place.number)")
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

    /// The withdrawals or changes that a device knows of.
    private func changes(of message: Sent, known: Set<Int>) -> [Int] {
        message.changes.filter { known.contains($0) }
    }

    func isRevoked(_ message: Sent, known: Set<Int>) -> Bool {
        changes(of: message, known: known).contains { number in
            guard case .revoke? = self[number]?.content else { return false }
            return true
        }
    }

    /// The last change of a text that a device knows of.
    func lastEdit(_ message: Sent, known: Set<Int>) -> Int? {
        changes(of: message, known: known).last { number in
            guard case .edit? = self[number]?.content else { return false }
            return true
        }
    }

    /// A server of the first era takes a message: whether it will store it, it does not say.
    mutating func noteSilentRefusal(_ number: Int) {
        guard let message = self[number], !message.isOnServer, expectedQueues(of: message).isEmpty else {
            return
        }
        sent[number - 1].isDropped = true
    }
}
