public import RivuletWire

/// Where a server listens.
public struct ClientEndpoint: Hashable, Sendable {
    /// A host name or a numeric address.
    public var host: String
    /// The TCP port.
    public var port: UInt16

    /// Makes an endpoint.
    public init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }
}

/// Who logs in, and from where.
public struct ClientIdentity: Hashable, Sendable {
    /// The user's id; decides which messages count as the user's own.
    public var uid: Int64
    /// The app's id, 0 unless the app uses customer service.
    public var appID: Int64
    /// The secret of the login; at most 255 bytes, 127 in the seed profile.
    public var token: String
    /// The name of this installation, stable over time.
    public var deviceID: String
    /// The kind of device.
    public var platformID: PlatformID

    /// Makes an identity.
    public init(
        uid: Int64, appID: Int64 = 0, token: String, deviceID: String, platformID: PlatformID = .linux
    ) {
        self.uid = uid
        self.appID = appID
        self.token = token
        self.deviceID = deviceID
        self.platformID = platformID
    }
}

/// The times and limits of a ``ClientCore``, and the servers that it may use.
///
/// The defaults are those of docs/protocol.md, section 20. Tests shorten them.
public struct ClientCoreConfiguration: Sendable, Equatable {
    /// The era of the servers.
    public var profile: Profile
    /// The servers, tried in turn, the first one first.
    public var endpoints: [ClientEndpoint]
    /// Whether someone answers ``ClientAction/askToken(refusals:)``.
    public var hasTokenSource = false

    /// The time between two PINGs on a quiet connection.
    public var pingInterval: Duration = .seconds(180)
    /// Looks for the longest interval that the network lets live; nil keeps ``pingInterval``.
    public var adaptiveHeartbeat: AdaptiveHeartbeat?
    /// How long after a PING any byte must have come.
    ///
    /// Messages still on their way lengthen it, by a second for each 16 KiB, so that a slow uplink is not taken for a
    /// dead one.
    public var pingReplyTimeout: Duration = .milliseconds(3100)
    /// How long the server may leave messages unacknowledged before the connection counts as lost.
    public var acknowledgementTimeout: Duration = .seconds(10)
    /// The limit of one look-up and of one TCP connect.
    public var connectTimeout: Duration = .seconds(10)
    /// How long the answer to a login may take.
    public var loginTimeout: Duration = .seconds(10)
    /// How long a sync round may stand still before another may start.
    public var roundGuard: Duration = .seconds(4)
    /// The shortest delay before a reconnect.
    public var backoffMin: Duration = .milliseconds(400)
    /// The longest delay before a reconnect.
    public var backoffMax: Duration = .seconds(60)
    /// How long the addresses of a host stay good.
    public var addressLifetime: Duration = .seconds(300)

    /// How many messages may wait to be acknowledged, written or not.
    public var outboxCountMax = 10_000
    /// How many messages may be written and not yet acknowledged.
    public var inFlightCountMax = 128
    /// How many messages of one sync round form one batch.
    public var roundCountMax = 3000
    /// How many bytes of messages the rounds that run may hold before they are given to the storage.
    public var roundBytesMax = 8 << 20
    /// How many received messages may wait for the storage before reading pauses, until half of them are committed.
    public var uncommittedCountMax = 6000
    /// How many bytes of received packets may wait for the storage before reading pauses.
    public var uncommittedBytesMax = 32 << 20
    /// How many uploads of messages run at a time.
    public var uploadCountMax = 2

    /// Makes a configuration with the default times and limits.
    public init(endpoints: [ClientEndpoint], profile: Profile = .current) {
        self.endpoints = endpoints
        self.profile = profile
    }
}
