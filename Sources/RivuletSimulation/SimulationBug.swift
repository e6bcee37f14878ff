/// Faults that are put between the cores and the world on purpose, to see that the checks find them.
///
/// Each changes what a core is told or what becomes of its actions; the cores themselves stay as they are.
public enum SimulationBug: String, Sendable, CaseIterable {
    /// The server acknowledges a message before its log has it.
    case serverAcknowledgesBeforeCommit = "ack-before-commit"
    /// The server takes two messages with one uuid and different receivers for the same.
    case dedupeWithoutReceiver = "dedupe-without-receiver"
    /// The server stores a message each time that it comes.
    case noDedupe = "no-dedupe"
    /// Live copies come without the notify that follows them.
    case lostNotify = "lost-notify"
    /// A page of a sync lacks a message in its middle.
    case pageSkipsMessage = "page-skips-message"
    /// A page does not say that there is more.
    case pageForgetsMore = "page-forgets-more"
    /// A sync is sometimes answered with another user's queue.
    case pageOfAnother = "page-of-another"
    /// A refusal reaches the client as a success.
    case refusalBecomesSuccess = "refusal-becomes-success"
    /// The node is not told of changes of groups and blacklists.
    case staleMembership = "stale-membership"
    /// The server's log says that a batch is stored when the disk is full.
    case logHidesFullDisk = "log-hides-full-disk"
    /// The client's key moves over a message that is not stored.
    case keySkipped = "key-skipped"
    /// What an old connection brings is taken for the current one's.
    case staleEpoch = "stale-epoch"
    /// The client's storage does not recognise a message that it has.
    case doubleDelivery = "double-delivery"
    /// The app is shown messages before they are stored.
    case shownBeforeCommit = "shown-before-commit"
    /// A crash leaves the keys of a batch and not its messages.
    case tornBatch = "torn-batch"
    /// A crash loses the unsent messages.
    case outboxLost = "outbox-lost"
    /// Unsent messages come back from the storage in the wrong order.
    case outboxReversed = "outbox-reversed"
    /// A message gets another uuid when the program starts anew.
    case retryChangesUUID = "retry-changes-uuid"
    /// The client's storage says that a batch is applied when the disk is full.
    case storageHidesFullDisk = "storage-hides-full-disk"
    /// A message that is known counts as unread once more.
    case unreadCountedTwice = "unread-counted-twice"
    /// The client's storage does not know its own messages when their copies come.
    case ownCopyIsNew = "own-copy-is-new"
    /// The server passes messages of a room on to those who are not in it.
    case roomLeaks = "room-leaks"
    /// The log keeps what was burned.
    case burnedStays = "burned-stays"
    /// Another device's read marks change nothing.
    case readMarkIgnored = "read-mark-ignored"
    /// A backup brings old messages and leaves the new keys.
    case backupKeepsKeys = "backup-keeps-keys"
    /// A log that was put back from a copy gives the keys of the lost one again.
    case staleLogEpoch = "stale-log-epoch"
    /// A log that was put back from a copy counts from the copy's keys alone, so that the second one gives the first's.
    case epochOfTheCopy = "epoch-of-the-copy"
    /// Who joins a super group is given what was written before.
    case joinSeesThePast = "join-sees-the-past"
    /// A read receipt does not change the message that it is about.
    case receiptForgotten = "receipt-forgotten"
    /// A device reports a message as delivered before it is stored.
    case deliveredTooEarly = "delivered-before-commit"
    /// A page brings a message that nobody sent.
    case madeUpMessage = "made-up-message"
    /// A success reaches the client as a refusal.
    case successBecomesRefusal = "success-becomes-refusal"
    /// Each page says that there is more.
    case endlessSync = "endless-sync"
    /// A withdrawal does not change the message that it is about.
    case withdrawalForgotten = "withdrawal-forgotten"
    /// The server of the first era takes messages for delivered when they are written.
    case markBeforeAcknowledgement = "mark-before-ack"
    /// A refusal of the customer service's rule is forgotten: any two apps may talk.
    case customersTalk = "customers-talk"
}

/// A rule that did not hold.
public struct SimulationViolation: Error, Sendable, Equatable, CustomStringConvertible {
    /// The rules.
    public enum Rule: String, Sendable, CaseIterable {
        /// A message that a device should have is missing there, or an acknowledged one in the log.
        case lost
        /// A key was given to two messages.
        case keyReused
        /// A message is twice in a queue or was stored twice.
        case doubled
        /// Messages stand in another order than they should.
        case disordered
        /// The author was told of an acknowledgement while the log did not have the message.
        case acknowledgedTooEarly
        /// A refused message is in a queue.
        case refusedButStored
        /// Somebody got, or the log took, what must not be.
        case notAllowed
        /// A message was shown twice on a device.
        case shownTwice
        /// A message was shown that the storage does not have.
        case shownTooEarly
        /// A device's key passed a message that the device does not have.
        case keyTooFar
        /// A send never learned its fate, or was given up.
        case noFate
        /// Something came that nobody sent.
        case unknown
        /// The number of unread messages is wrong.
        case unreadWrong
        /// A message counts as delivered or read at its author's and is not, or the other way round.
        case receiptWrong
        /// The real store came to something else than the book that is kept beside it.
        case storeDiffers
        /// More events waited than the simulation holds; what the run shows is worth nothing.
        case overrun
        /// When the faults were over, a client did not come online or traffic did not end.
        case restless
    }

    /// Which rule.
    public var rule: Rule
    /// When, in milliseconds of simulated time.
    public var milliseconds: Int64
    /// What happened.
    public var detail: String

    /// The rule, the time and what happened.
    public var description: String {
        "\(rule.rawValue) at \(milliseconds) ms: \(detail)"
    }
}
