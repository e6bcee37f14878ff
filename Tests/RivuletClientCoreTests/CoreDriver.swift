import RivuletWire
import Testing

@testable import RivuletClientCore

/// Drives a core by hand: a clock that stands still, and a server that is typed in.
struct CoreDriver {
    static let endpoint = ClientEndpoint(host: "im.example", port: 23_000)
    static let identity = ClientIdentity(uid: 7, token: "secret", deviceID: "device")

    var core: ClientCore
    var now = ClientInstant.start
    var serverSequence: Int32 = 0
    var profile: Profile { core.configuration.profile }

    init(seed: UInt64 = 1, configure: (inout ClientCoreConfiguration) -> Void = { _ in }) {
        var configuration = ClientCoreConfiguration(endpoints: [Self.endpoint])
        configure(&configuration)
        core = ClientCore(configuration: configuration, seed: seed)
    }

    /// A core that is logged in, its first round done.
    static func online(
        restored: RestoredState = RestoredState(peerKey: 10),
        configure: (inout ClientCoreConfiguration) -> Void = { _ in }
    ) -> CoreDriver {
        var driver = CoreDriver(configure: configure)
        driver.logIn(restored: restored)
        if driver.profile == .current {
            driver.receive(.syncEnd, .syncKey(restored.peerKey ?? -1))
        }
        return driver
    }

    mutating func logIn(restored: RestoredState = RestoredState(peerKey: 10)) {
        tell(.started(Self.identity))
        tell(.restored(restored))
        open()
        receive(.authStatus, .authStatus(AuthenticationStatus(status: 0)))
    }

    /// From a core that resolves or opens to one that writes its login.
    @discardableResult
    mutating func open() -> [ClientAction] {
        var actions: [ClientAction] = []
        if case .resolving = core.link {
            actions += tell(.resolved(Self.endpoint, addresses: ["10.0.0.1"]))
        }
        return actions + tell(.opened(core.epoch))
    }

    /// Waits for the back-off and logs in again.
    mutating func reconnect() {
        if case .waiting = core.link { passDeadline() }
        open()
        receive(.authStatus, .authStatus(AuthenticationStatus(status: 0)))
    }

    @discardableResult
    mutating func tell(_ event: ClientEvent) -> [ClientAction] {
        core.handle(event, at: now)
    }

    /// Moves the clock to the announced deadline.
    @discardableResult
    mutating func passDeadline() -> [ClientAction] {
        guard let deadline = core.announcedDeadline else { return [] }
        now = max(now, deadline)
        return tell(.deadline)
    }

    /// Lets time pass, with every deadline on the way.
    @discardableResult
    mutating func pass(_ duration: Duration) -> [ClientAction] {
        let end = now + duration
        var actions: [ClientAction] = []
        while let deadline = core.announcedDeadline, deadline <= end {
            now = max(now, deadline)
            actions += tell(.deadline)
        }
        now = end
        return actions
    }

    /// Hands a packet of the server in.
    @discardableResult
    mutating func receive(
        _ command: Command, _ body: PacketBody = .empty, flags: PacketFlags = []
    ) -> [ClientAction] {
        tell(.received(core.epoch, frame(command, body, flags: flags)))
    }

    /// The bytes of the server's next packet.
    mutating func frame(_ command: Command, _ body: PacketBody, flags: PacketFlags = []) -> [UInt8] {
        serverSequence += 1
        let packet = Packet(
            command, body, sequence: serverSequence, version: profile.version, flags: flags)
        do {
            return try packet.pack(from: .server, profile: profile)
        } catch {
            Issue.record("the test's packet cannot be packed: \(error)")
            return []
        }
    }

    /// A live copy with its METADATA, in one piece.
    @discardableResult
    mutating func push(
        _ text: String, key: Int64, previous: Int64, from sender: Int64 = 8
    ) -> [ClientAction] {
        let bytes =
            frame(.metadata, .metadata(Metadata(syncKey: key, previousSyncKey: previous)))
            + frame(.im, .im(im(text, from: sender)), flags: .push)
        return tell(.received(core.epoch, bytes))
    }

    /// Tells the core that its batch is committed.
    @discardableResult
    mutating func commit(isNew: [Bool] = []) -> [ClientAction] {
        guard let batch = core.commits.inFlight?.id else { return [] }
        return tell(.committed(batch: batch, CommitOutcome(isNew: isNew)))
    }

    @discardableResult
    mutating func failCommit() -> [ClientAction] {
        guard let batch = core.commits.inFlight?.id else { return [] }
        return tell(.commitFailed(batch: batch))
    }

    @discardableResult
    mutating func send(_ text: String, ticket: UInt64 = 1, to receiver: Int64 = 8) -> [ClientAction] {
        tell(.sendRequested(request(text, ticket: ticket, to: receiver)))
    }

    func request(_ text: String, ticket: UInt64, to receiver: Int64 = 8) -> SendRequest {
        SendRequest(
            ticket: SendTicket(rawValue: ticket), uuid: "uuid-\(text)", command: .im,
            body: .im(IMMessage(sender: 7, receiver: receiver, content: text)))
    }

    /// Answers every message that the core has written, in order.
    @discardableResult
    mutating func acknowledge(_ packets: [Packet], status: ACKStatus = .success) -> [ClientAction] {
        var bytes: [UInt8] = []
        for packet in packets {
            bytes += frame(.ack, .ack(Acknowledgement(sequence: packet.sequence, status: status)))
        }
        return tell(.received(core.epoch, bytes))
    }
}

func im(_ text: String, from sender: Int64 = 8, to receiver: Int64 = 7) -> IMMessage {
    IMMessage(sender: sender, receiver: receiver, timestamp: 1, content: text)
}

extension [ClientAction] {
    /// All packets that are written, decoded.
    func packets(_ profile: Profile = .current) -> [Packet] {
        var decoder = PacketDecoder(role: .server, profile: profile)
        for case .write(_, let bytes) in self { decoder.append(bytes) }
        var packets: [Packet] = []
        do {
            while let frame = try decoder.next() {
                if case .packet(let packet) = frame { packets.append(packet) }
            }
            try decoder.finish()
        } catch {
            Issue.record("the core wrote what a server refuses: \(error)")
        }
        return packets
    }

    var commands: [Command] { packets().map(\.command) }

    var batches: [StorageBatch] {
        compactMap { if case .commit(let batch) = $0 { batch } else { nil } }
    }

    var notifications: [ClientNotification] {
        flatMap { if case .notify(let list) = $0 { list } else { [ClientNotification]() } }
    }

    var states: [ConnectionState] {
        notifications.compactMap { if case .stateChanged(let state) = $0 { state } else { nil } }
    }

    var reports: [SendReport] {
        notifications.compactMap { if case .sendChanged(let report) = $0 { report } else { nil } }
    }

    var diagnostics: [ClientDiagnostic.Code] {
        notifications.compactMap { if case .diagnostic(let diagnostic) = $0 { diagnostic.code } else { nil } }
    }

    /// The texts of the announced messages.
    var texts: [String] {
        notifications.compactMap {
            if case .message(let message) = $0 { message.body.text } else { nil }
        }
    }

    var closes: Bool {
        contains { if case .close = $0 { true } else { false } }
    }

    var opens: Bool {
        contains { if case .open = $0 { true } else { false } }
    }
}

extension PacketBody {
    var text: String? {
        switch self {
        case .im(let message): message.content
        case .text(let text): text
        case .room(let message): message.content
        default: nil
        }
    }
}

extension StorageBatch {
    var texts: [String] {
        changes.compactMap { if case .received(let message) = $0 { message.body.text } else { nil } }
    }

    var peerKey: Int64? {
        changes.reversed().lazy.compactMap { if case .peerKey(let key) = $0 { key } else { nil } }.first
    }
}
