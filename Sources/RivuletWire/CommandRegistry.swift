/// A body that an app defines for a command number of its own.
///
/// ```swift
/// struct Nudge: CustomBody {
///     var receiver: UInt8
///     init(bodyBytes: [UInt8]) throws(WireError) {
///         guard let receiver = bodyBytes.first else { throw WireError(.shortBody) }
///         self.receiver = receiver
///     }
///     func bodyBytes() throws(WireError) -> [UInt8] { [receiver] }
/// }
/// ```
public protocol CustomBody: Sendable {
    /// Reads the body; it is called with bytes from a peer and must not trap on any of them.
    init(bodyBytes: [UInt8]) throws(WireError)

    /// Writes the body.
    func bodyBytes() throws(WireError) -> [UInt8]
}

/// Why a command number cannot be registered.
public struct CommandRegistryError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of refusal.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The stable name.
        public let rawValue: String

        /// Makes the code with this name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The protocol gives the number a meaning, in this era or another, or it is 0.
        public static let takenByProtocol = Code(rawValue: "taken_by_protocol")
        /// Servers use the number among themselves (docs/protocol.md, section 5).
        public static let serverInternal = Code(rawValue: "server_internal")
        /// The number was registered before.
        public static let alreadyRegistered = Code(rawValue: "already_registered")
        /// The registration names no receiver.
        public static let noReceiver = Code(rawValue: "no_receiver")
    }

    /// The kind of refusal.
    public var code: Code
    /// The number that was asked for.
    public var command: Command

    /// Makes an error.
    public init(_ code: Code, command: Command) {
        self.code = code
        self.command = command
    }

    /// One line for logs.
    public var description: String {
        "\(code.rawValue): command \(command.rawValue)"
    }
}

/// The bodies that an app added to the protocol, each under a free command number.
///
/// Both ends of a connection need the same registrations. A decoder hands such a packet out as
/// ``PacketBody/custom(_:)`` once the registered type has read it without an error; ``body(of:as:)`` gives the
/// typed value. Copies share their tables, so that a server can give one registry to every connection.
///
/// ```swift
/// var registry = CommandRegistry()
/// try registry.register(Nudge.self, for: Command(rawValue: 100), receivedBy: [.client])
/// let packet = try registry.packet(Nudge(receiver: 7), for: Command(rawValue: 100))
/// ```
public struct CommandRegistry: Sendable {
    struct Entry: Sendable {
        var type: any CustomBody.Type
        var validate: @Sendable (_ bytes: [UInt8]) throws(WireError) -> Void
    }

    private(set) var entries: [UInt8: Entry] = [:]
    private var tables = StandardRules.tables

    /// Makes a registry without any command of an app.
    public init() {}

    /// Whether an app registered this number.
    public func isRegistered(_ command: Command) -> Bool {
        entries[command.rawValue] != nil
    }

    /// Gives a free command number a body.
    ///
    /// - Parameters:
    ///   - type: The body's type.
    ///   - command: A number that neither the protocol nor its servers use.
    ///   - roles: Who receives the command; by default both ends.
    /// - Throws: ``CommandRegistryError``, and then nothing changed.
    public mutating func register<Body: CustomBody>(
        _ type: Body.Type, for command: Command, receivedBy roles: Set<Role> = [.server, .client]
    ) throws(CommandRegistryError) {
        let number = command.rawValue
        if number == 0 || StandardRules.isDefined(number) {
            throw CommandRegistryError(.takenByProtocol, command: command)
        }
        if Self.isServerInternal(number) { throw CommandRegistryError(.serverInternal, command: command) }
        if entries[number] != nil { throw CommandRegistryError(.alreadyRegistered, command: command) }
        if roles.isEmpty { throw CommandRegistryError(.noReceiver, command: command) }
        add(type, number: number, roles: roles, profiles: Profile.allCases)
    }

    /// Reads the login of a development server of 2021, command 2 with a token and an integer device number.
    ///
    /// It is off unless asked for, since the number has other layouts in other eras (docs/protocol.md, section 6).
    /// A server of the current profile then receives it as a custom body of type ``DevelopmentLogin``.
    public mutating func acceptDevelopmentLogin() {
        guard entries[Command.auth.rawValue] == nil else { return }
        add(DevelopmentLogin.self, number: Command.auth.rawValue, roles: [.server], profiles: [.current])
    }

    /// Gives the typed body of a packet whose command was registered.
    ///
    /// - Throws: ``WireError`` with `body_mismatch` when the packet holds no custom body or its command was
    ///   registered for another type, and whatever the type's initialiser throws.
    public func body<Body: CustomBody>(of packet: Packet, as type: Body.Type) throws(WireError) -> Body {
        guard case .custom(let bytes) = packet.body, let entry = entries[packet.command.rawValue],
            entry.type == type
        else { throw WireError(.bodyMismatch, command: packet.command) }
        return try Body(bodyBytes: bytes)
    }

    /// Makes a packet of a registered command.
    ///
    /// - Throws: ``WireError`` with `body_mismatch` when the number was not registered for this type, and
    ///   whatever the body throws.
    public func packet<Body: CustomBody>(
        _ body: Body, for command: Command, sequence: Int32 = 0, version: UInt8 = 2, flags: PacketFlags = []
    ) throws(WireError) -> Packet {
        guard let entry = entries[command.rawValue], entry.type == Body.self else {
            throw WireError(.bodyMismatch, command: command)
        }
        return try Packet(
            command, .custom(body.bodyBytes()), sequence: sequence, version: version, flags: flags)
    }

    /// Lets the registered type read a body, so that a malformed one never leaves the decoder.
    func validate(_ bytes: [UInt8], for command: Command) throws(WireError) {
        guard let entry = entries[command.rawValue] else {
            throw WireError(.unknownCommand, command: command)
        }
        do throws(WireError) {
            try entry.validate(bytes)
        } catch {
            var error = error
            error.command = command
            throw error
        }
    }

    /// The table of a receiver, with the app's commands in it.
    func rules(role: Role, profile: Profile) -> CommandRules {
        tables[StandardRules.index(role: role, profile: profile)]
    }

    private mutating func add<Body: CustomBody>(
        _ type: Body.Type, number: UInt8, roles: Set<Role>, profiles: [Profile]
    ) {
        entries[number] = Entry(type: type) { (bytes) throws(WireError) in _ = try Body(bodyBytes: bytes) }
        for role in roles {
            for profile in profiles {
                tables[StandardRules.index(role: role, profile: profile)][Int(number)] = CommandRule(.custom)
            }
        }
    }

    private static func isServerInternal(_ number: UInt8) -> Bool {
        (130...138).contains(number) || (220...222).contains(number) || number >= 247
    }
}

/// Body of command 2 on development servers of 2021: `0 i8 platform, 1 i64 device number, 9 u8 length + token`.
///
/// It is read, never written (docs/protocol.md, section 6). See ``CommandRegistry/acceptDevelopmentLogin()``.
///
/// | offset | size | field |
/// |---:|---:|---|
/// | 0 | 1 | ``platformID`` |
/// | 1 | 8 | ``deviceNumber`` |
/// | 9 | 1 | length of the token in bytes, 1 to 255 |
/// | 10 | | ``token``, UTF-8 |
public struct DevelopmentLogin: CustomBody, Equatable {
    /// The kind of device.
    public var platformID: PlatformID
    /// The number that the server gave the device.
    public var deviceNumber: Int64
    /// The secret that names the user; never empty.
    public var token: String

    /// Reads the body.
    public init(bodyBytes: [UInt8]) throws(WireError) {
        // A byte has no padding, which is what makes other spans' bytes unsafe.
        let bytes = unsafe bodyBytes.span.bytes
        guard bytes.byteCount > 10 else {
            throw WireError(.shortBody, command: .auth, length: bytes.byteCount)
        }
        platformID = PlatformID(rawValue: Int8(bitPattern: bytes.byte(at: 0)))
        deviceNumber = bytes.int64(at: 1)
        let (token, _) = try bytes.lengthPrefixedText(at: 9, lengthMax: 255, command: .auth)
        self.token = token
    }

    /// Always throws `decode_only`.
    public func bodyBytes() throws(WireError) -> [UInt8] {
        throw WireError(.decodeOnly, command: .auth)
    }
}
