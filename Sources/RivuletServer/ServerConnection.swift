import RivuletServerCore
import RivuletTransport
import RivuletWire

/// One client's connection, on its loop.
final class ServerConnection {
    let id: ConnectionID
    let stream: any ByteStream
    var decoder = PacketDecoder(role: .server, profile: .current)
    var outgoing: OutgoingQueue
    var deadlines: ConnectionDeadlines
    /// Whether it stands in the worker's list of connections to write to.
    var isDirty = false
    /// Whether nothing is read from it any more, since it is about to be closed.
    var isEnding = false
    /// When reading goes on after the client sent too much.
    private var pausedUntil: Int64?
    /// Why reading is paused.
    var pauses: Pauses = []

    /// Reasons for not reading; reading goes on when none is left.
    struct Pauses: OptionSet {
        let rawValue: UInt8
        /// The peer does not take what it asked for.
        static let unreadAnswers = Pauses(rawValue: 1)
        /// The log is behind.
        static let busyLog = Pauses(rawValue: 2)
        /// The login is being decided.
        static let login = Pauses(rawValue: 4)
        /// The server stops.
        static let stopping = Pauses(rawValue: 8)
        /// The client sent more than it may.
        static let rateLimit = Pauses(rawValue: 16)
    }

    init(id: ConnectionID, stream: any ByteStream, waitingPushesMax: Int, now: Int64) {
        self.id = id
        self.stream = stream
        outgoing = OutgoingQueue(pushesMax: waitingPushesMax)
        deadlines = ConnectionDeadlines(now: now)
    }

    func pause(_ reason: Pauses) {
        if pauses.isEmpty { stream.pauseReading() }
        pauses.insert(reason)
    }

    /// Reads nothing until a time on the loop's clock; of two such times the later one counts.
    func pause(until time: Int64) {
        pausedUntil = max(pausedUntil ?? 0, time)
        pause(.rateLimit)
    }

    /// Goes on reading when the time of ``pause(until:)`` has come.
    func resumeIfDue(now: Int64) {
        guard let time = pausedUntil, now >= time else { return }
        pausedUntil = nil
        // What was not read is not the client's silence.
        deadlines.frameCompleted(now: now)
        resume(.rateLimit)
    }

    func resume(_ reason: Pauses) {
        guard !pauses.isEmpty else { return }
        pauses.remove(reason)
        if pauses.isEmpty { stream.resumeReading() }
    }
}
