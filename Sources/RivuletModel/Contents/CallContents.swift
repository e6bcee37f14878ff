/// The record of a call between two users.
public struct CallContent: Hashable, Sendable {
    /// How a call ended; an open set.
    public struct Outcome: RawRepresentable, Hashable, Sendable {
        /// The number on the wire.
        public let rawValue: Int

        /// Makes the outcome with this number.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// 1: the caller hung up before an answer.
        public static let cancelled = Outcome(rawValue: 1)
        /// 2: the callee declined.
        public static let refused = Outcome(rawValue: 2)
        /// 3: the call took place.
        public static let accepted = Outcome(rawValue: 3)
        /// 4: nobody answered.
        public static let missed = Outcome(rawValue: 4)
    }

    /// How it ended.
    public var outcome: Outcome
    /// How long it took.
    public var durationSeconds: Int
    /// Whether it had pictures.
    public var isVideo: Bool

    /// Makes a record.
    public init(outcome: Outcome, durationSeconds: Int, isVideo: Bool) {
        self.outcome = outcome
        self.durationSeconds = durationSeconds
        self.isVideo = isVideo
    }
}

/// The record of a call in a group.
public struct GroupCallContent: Hashable, Sendable {
    /// Who began it.
    public var initiator: UserID
    /// Whether it is over.
    public var isFinished: Bool

    /// Makes a record.
    public init(initiator: UserID, isFinished: Bool) {
        self.initiator = initiator
        self.isFinished = isFinished
    }
}

/// An invitation to a classroom or a conference.
public struct ConferenceContent: Hashable, Sendable {
    /// The teacher or host.
    public var master: UserID
    /// The media channel.
    public var channelID: String
    /// The media server.
    public var serverID: Int64
    /// Who may speak.
    public var microphoneMode: String

    /// Makes an invitation.
    public init(master: UserID, channelID: String, serverID: Int64, microphoneMode: String) {
        self.master = master
        self.channelID = channelID
        self.serverID = serverID
        self.microphoneMode = microphoneMode
    }
}

/// The key exchange before a direct connection.
public struct P2PSessionContent: Hashable, Sendable {
    /// The sender's device.
    public var deviceID: String
    /// The channel.
    public var channelID: String

    /// Makes an exchange.
    public init(deviceID: String, channelID: String) {
        self.deviceID = deviceID
        self.channelID = channelID
    }
}

/// An end-to-end encrypted message; Rivulet shows that it exists.
public struct SecretContent: Hashable, Sendable {
    /// The encrypted bytes, as their sender wrote them.
    public var ciphertext: String
    /// 1 or 2, the kinds of the ratchet's messages.
    public var type: Int

    /// Makes an encrypted message.
    public init(ciphertext: String, type: Int) {
        self.ciphertext = ciphertext
        self.type = type
    }
}
