public import RivuletModel

/// The identity of one connection while the server runs; never given twice.
///
/// It stands for the device in everything that must not reach the device itself, because a device number may be 0,
/// which many connections share (docs/protocol.md, section 21, pitfall 13).
public struct ConnectionID: RawRepresentable, Hashable, Sendable {
    /// The number; its bits mean nothing to the core.
    public let rawValue: UInt64

    /// Makes the id with this number.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

/// A moment on the wall clock, in milliseconds since 1970.
public struct WallTime: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970.
    public var milliseconds: Int64

    /// Makes the moment.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Seconds since 1970 as they travel; a clock outside the 32-bit range gives the nearest value.
    public var timestamp: Int32 {
        Int32(clamping: milliseconds / 1000)
    }

    /// Orders moments in time.
    public static func < (left: WallTime, right: WallTime) -> Bool {
        left.milliseconds < right.milliseconds
    }
}

/// A number that the server gave to one installation of a client; 0 means *no device* and is never equal to another.
public struct DeviceNumber: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: Int64

    /// Makes the number.
    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// No device: web clients, and clients without a device id.
    public static let none = DeviceNumber(rawValue: 0)

    /// Whether both name the same device; false when either names none.
    public func isSameDevice(as other: DeviceNumber) -> Bool {
        rawValue != 0 && rawValue == other.rawValue
    }
}

/// Who a token belongs to.
public struct Account: Hashable, Sendable {
    /// The app in which the user exists.
    public var app: Int64
    /// The user.
    public var user: UserID

    /// Makes an account.
    public init(app: Int64 = Account.defaultApp, user: UserID) {
        self.app = app
        self.user = user
    }

    /// The app of tokens that name none.
    public static let defaultApp: Int64 = 1
}

/// The readable part of a token, by which it is listed and revoked.
public struct TokenID: RawRepresentable, Hashable, Sendable {
    /// The text.
    public let rawValue: String

    /// Makes the id with this text.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// A directory that does not tell tokens apart.
    public static let none = TokenID(rawValue: "")
}

/// The answer of the account directory to a token.
public enum LoginResult: Hashable, Sendable {
    /// The token is good.
    case accepted(Account, DeviceNumber, TokenID = .none)
    /// The token is unknown, expired or revoked.
    case refused
    /// The directory could not be asked.
    case unavailable
}

/// Why the server ends a connection; the raw value is what the log line says.
public struct CloseReason: RawRepresentable, Hashable, Sendable {
    /// The stable name.
    public let rawValue: String

    /// Makes the reason with this name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The login was refused and the grace after the answer is over.
    public static let loginRefused = CloseReason(rawValue: "login_refused")
    /// The token with which the client logged in was revoked.
    public static let tokenRevoked = CloseReason(rawValue: "token_revoked")
    /// The client asked for more at once than a client does.
    public static let tooManyRequests = CloseReason(rawValue: "too_many_requests")
    /// The address has as many connections as it may have.
    public static let tooManyConnections = CloseReason(rawValue: "too_many_connections")
    /// A message of the connection could not be stored; its client is to send it again.
    public static let storageFailed = CloseReason(rawValue: "storage_failed")
    /// Nobody logged in within the login deadline.
    public static let loginTimeout = CloseReason(rawValue: "login_timeout")
    /// No complete frame came within the read deadline.
    public static let readTimeout = CloseReason(rawValue: "read_timeout")
    /// The peer took nothing within the write deadline.
    public static let writeTimeout = CloseReason(rawValue: "write_timeout")
    /// The peer closed its side.
    public static let endOfStream = CloseReason(rawValue: "end_of_stream")
    /// The socket failed.
    public static let socketError = CloseReason(rawValue: "socket_error")
    /// The server stops.
    public static let stopping = CloseReason(rawValue: "stopping")
}
