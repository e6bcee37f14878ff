import RivuletModel

/// Something that the server itself has to say.
public enum ServerPost: Sendable, Hashable {
    /// SYSTEM: stored text for some users.
    case system(String, to: [Account])
    /// NOTIFICATION: live text for those of the users who are online.
    case notification(String, to: [Account])
    /// GROUP_NOTIFICATION: stored text for the members of a group (docs/protocol.md, section 16.3).
    case groupNotification(String, GroupID)

    /// The longest text, in bytes, which fits the smallest limit of any client.
    public static let textBytesMax = 32_000

    /// What is said.
    public var text: String {
        switch self {
        case .system(let text, _), .notification(let text, _), .groupNotification(let text, _): text
        }
    }
}

/// A post on its way.
public struct PostID: RawRepresentable, Hashable, Sendable {
    /// The number; the shell gives it.
    public let rawValue: UInt64

    /// Makes the id with this number.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

/// What became of a post.
public enum PostOutcome: Sendable, Hashable {
    /// It is stored, or, when it is only live, was sent to those who are online.
    case done
    /// The log could not store it.
    case failed
    /// The group does not exist.
    case noSuchGroup
}
