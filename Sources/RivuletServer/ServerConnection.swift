import RivuletServerCore
import RivuletWire
import UVKit

/// One client's connection, on its loop.
final class ServerConnection {
    let id: ConnectionID
    let stream: TCPStream
    var decoder = PacketDecoder(role: .server, profile: .current)
    var outgoing: OutgoingQueue
    var deadlines: ConnectionDeadlines
    /// Whether it stands in the worker's list of connections to write to.
    var isDirty = false
    /// Whether nothing is read from it any more, since it is about to be closed.
    var isEnding = false
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
    }

    init(id: ConnectionID, stream: TCPStream, waitingPushesMax: Int, now: Int64) {
        self.id = id
        self.stream = stream
        outgoing = OutgoingQueue(pushesMax: waitingPushesMax)
        deadlines = ConnectionDeadlines(now: now)
    }

    func pause(_ reason: Pauses) {
        if pauses.isEmpty { stream.pauseReading() }
        pauses.insert(reason)
    }

    func resume(_ reason: Pauses) {
        guard !pauses.isEmpty else { return }
        pauses.remove(reason)
        if pauses.isEmpty { stream.resumeReading() }
    }
}
