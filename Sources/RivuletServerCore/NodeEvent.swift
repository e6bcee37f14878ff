import RivuletModel
public import RivuletWire

/// A batch of messages on its way into the log.
public struct BatchID: RawRepresentable, Hashable, Sendable {
    /// The number, growing by one.
    public let rawValue: UInt64

    /// Makes the id with this number.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

/// The host from which a connection comes, without the port.
public struct PeerAddress: RawRepresentable, Hashable, Sendable {
    /// The address as text.
    public let rawValue: String

    /// Makes the address with this text.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// An address that the system does not tell; no limit counts it.
    public static let unknown = PeerAddress(rawValue: "")
}

/// Something that happened to the node.
public enum NodeEvent: Sendable {
    /// A client connected.
    case opened(ConnectionID, from: PeerAddress = .unknown)
    /// A client's packet arrived; packets of one connection come in their order.
    case received(ConnectionID, Packet)
    /// A connection is gone; nothing may be sent to it any more.
    case closed(ConnectionID)
    /// The account directory answered ``NodeAction/authenticate(_:_:)``.
    case loginAnswered(ConnectionID, LoginResult)
    /// The log committed a batch; one outcome per entry, in order.
    case appended(BatchID, [AppendOutcome])
    /// The log could not commit a batch and holds nothing of it.
    case appendFailed(BatchID)
    /// The log answered ``NodeAction/load(_:_:)``.
    case loaded(ConnectionID, SyncPage)
    /// The log could not answer ``NodeAction/load(_:_:)``.
    case loadFailed(ConnectionID)
    /// The ``MembershipDirectory`` made these changes at that time, when the log had given that key last.
    case membershipsChanged([MembershipChange], at: WallTime, after: Int64? = nil)
    /// A token is good no longer; who logged in with it must go.
    case tokenRevoked(TokenID)
    /// The server itself has something to say; answered with ``NodeAction/posted(_:_:)``.
    case posted(PostID, ServerPost)
}

/// Something the shell is to do.
public enum NodeAction: Sendable, Equatable {
    /// Ask the account directory and answer with ``NodeEvent/loginAnswered(_:_:)``.
    case authenticate(ConnectionID, AuthenticationToken)
    /// From now on, frames on this connection have this version.
    case useVersion(ConnectionID, UInt8)
    /// Put the entries into the log and answer with ``NodeEvent/appended(_:_:)``.
    case append(BatchID, [LogEntry])
    /// Read a page of a queue and answer with ``NodeEvent/loaded(_:_:)``.
    case load(ConnectionID, PageRequest)
    /// A client reports that it holds everything in the queue up to this key.
    case reportKey(QueueID, Account, Int64)
    /// A client reports how many messages are unread, or 0 since it logged in.
    case reportUnread(Account, Int32)
    /// Write the packets one after the other.
    case send(ConnectionID, [Packet], Delivery)
    /// Write the packets to each of the connections, as live copies.
    case broadcast([ConnectionID], [Packet])
    /// Read nothing from the connection for so long: it sends more than it may.
    case pauseReading(ConnectionID, milliseconds: Int64)
    /// Close the connection, at once or when the grace is over.
    case close(ConnectionID, CloseReason, afterMilliseconds: Int64)
    /// Forget a ``close(_:_:afterMilliseconds:)`` that is not yet due.
    case keepOpen(ConnectionID)
    /// What became of a post.
    case posted(PostID, PostOutcome)
}

/// What may happen to packets when the reader is slow.
public enum Delivery: Sendable, Hashable {
    /// An answer: it must arrive.
    case reply
    /// A live copy: the oldest may be dropped, since the next sync brings what is stored.
    case push
}
