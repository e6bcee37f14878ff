public import RivuletClientCore
public import RivuletTransport
public import RivuletWire

/// Everything an ``IMService`` is made with, apart from its storage and its transport.
public struct IMServiceConfiguration: Sendable {
    /// The servers, the era they speak, the times and the limits.
    public var core: ClientCoreConfiguration
    /// Who logs in.
    public var identity: ClientIdentity
    /// Gets a new token when the server refused the last one this many times in a row.
    ///
    /// Nil as an answer means that there is none for now; the old one is then tried again later. Without a source the
    /// old one is tried again and again, later and later.
    public var tokenSource: (@Sendable (_ refusals: Int) async -> String?)?
    /// The app of the staff in customer service of the current profile, 0 when there is none.
    ///
    /// Messages of this app count as the staff's, all others as a customer's.
    public var customerServiceAppID: Int64 = 0
    /// Uploads what messages refer to, before they are sent; nil when nothing needs it.
    public var uploader: (any MessageUploader)?
    /// Whether the authors of messages between users are told that they arrived here (current profile).
    public var sendsDeliveryReceipts = false
    /// Tells when the device gains or loses its network, for ``IMService/startReachabilityNotifier()``.
    public var reachability: (@Sendable () -> AsyncStream<Bool>)?
    /// The command numbers that the app added.
    public var registry: CommandRegistry
    /// Where lines for a log go; nowhere by default.
    public var logger: ClientLogger
    /// Where counts go; nowhere by default.
    public var metrics: ClientMetrics
    /// TLS, a proxy, and how addresses are raced; not used with a transport of the app's own.
    public var transport = TransportOptions()
    /// The start of the client's chance (reconnect delays); nil takes one from the system.
    public var seed: UInt64?

    /// Makes a configuration with the default times and limits.
    public init(
        endpoints: [ClientEndpoint], identity: ClientIdentity, profile: Profile = .current,
        tokenSource: (@Sendable (_ refusals: Int) async -> String?)? = nil
    ) {
        core = ClientCoreConfiguration(endpoints: endpoints, profile: profile)
        self.identity = identity
        self.tokenSource = tokenSource
        registry = CommandRegistry()
        logger = .silent
        metrics = .none
    }
}

/// Takes what a client has to say; where it goes is the app's business.
///
/// Lines hold static text, codes and numbers, never contents or tokens.
public struct ClientLogger: Sendable {
    /// How much a line matters.
    public enum Level: Int, Sendable, Hashable, Comparable, CaseIterable {
        /// For those who look for a fault.
        case debug
        /// What happens in the normal course.
        case info
        /// What someone should look at.
        case warning
        /// What someone must look at.
        case error

        /// Orders by weight.
        public static func < (left: Level, right: Level) -> Bool {
            left.rawValue < right.rawValue
        }
    }

    /// One line.
    public struct Line: Sendable, Hashable {
        /// How much it matters.
        public var level: Level
        /// What happened: static text.
        public var message: String
        /// The circumstances: ids, counts and codes.
        public var fields: [String: String]
    }

    /// What is below this level is not even made.
    public var level: Level
    private let write: @Sendable (Line) -> Void

    /// Makes a logger; the closure is called on any thread and must not block.
    public init(level: Level = .info, write: @escaping @Sendable (Line) -> Void) {
        self.level = level
        self.write = write
    }

    /// A logger that says nothing.
    public static let silent = ClientLogger(level: .error) { _ in }

    func log(
        _ level: Level, _ message: StaticString, _ fields: @autoclosure () -> [String: String] = [:]
    ) {
        guard level >= self.level else { return }
        write(Line(level: level, message: message.description, fields: fields()))
    }
}

/// Takes the counts of a client.
///
/// Names: `messages_received`, `messages_acknowledged`, `messages_refused`, `messages_failed`, `logins`,
/// `connections`, `commits`, `uploads`, `events_dropped`, and `diagnostic.` followed by the code of a `ClientDiagnostic`.
public struct ClientMetrics: Sendable {
    private let count: @Sendable (_ name: String, _ amount: Int) -> Void

    /// Makes a sink; the closure is called on any thread and must not block.
    public init(count: @escaping @Sendable (_ name: String, _ amount: Int) -> Void) {
        self.count = count
    }

    /// A sink that forgets everything.
    public static let none = ClientMetrics { _, _ in }

    func add(_ name: String, _ amount: Int = 1) {
        count(name, amount)
    }
}
