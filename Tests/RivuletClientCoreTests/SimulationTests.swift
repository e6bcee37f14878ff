import RivuletWire
import Testing

@testable import RivuletClientCore

/// A client, its storage, a network and a server in one value, driven from one seed.
struct Simulation {
    private var random: SplitMixGenerator
    private var core: ClientCore
    private var now = ClientInstant.start
    private var deadline: ClientInstant?
    private(set) var storage = ModelStorage()
    private(set) var server = ModelServer()
    private(set) var announced: [String] = []
    private(set) var crashCount = 0
    private var batch: StorageBatch?
    private var opening: ConnectionEpoch?
    private var open: ConnectionEpoch?
    private var toServer: [UInt8] = []
    private var toClient: [UInt8] = []
    private var mustRestore = false
    private var textCount = 0
    private var ticket: UInt64 = 0
    private(set) var reports: [SendReport] = []

    init(seed: UInt64) {
        random = SplitMixGenerator(seed: seed)
        core = Self.makeCore(seed: seed)
    }

    private static func makeCore(seed: UInt64) -> ClientCore {
        var configuration = ClientCoreConfiguration(
            endpoints: [ClientEndpoint(host: "10.0.0.1", port: 1), ClientEndpoint(host: "10.0.0.2", port: 1)])
        configuration.inFlightCountMax = 3
        configuration.roundCountMax = 3
        configuration.uncommittedCountMax = 6
        return ClientCore(configuration: configuration, seed: seed)
    }

    mutating func start() throws {
        try tell(.started(CoreDriver.identity))
    }

    private mutating func tell(_ event: ClientEvent) throws {
        for action in core.handle(event, at: now) { perform(action) }
    }

    private mutating func perform(_ action: ClientAction) {
        switch action {
        case .restore: mustRestore = true
        case .resolve, .askToken, .setReading, .upload, .cancelUpload: break
        case .open(let epoch, _, _): opening = epoch
        case .write(let epoch, let bytes): if epoch == open { toServer += bytes }
        case .close(let epoch): if epoch == open || epoch == opening { loseConnection() }
        case .commit(let batch): self.batch = batch
        case .notify(let notifications):
            for notification in notifications {
                switch notification {
                case .message(let message): announced.append(message.body.text ?? "")
                case .sendChanged(let report): if report.step.isLast { reports.append(report) }
                default: break
                }
            }
        case .setDeadline(let deadline): self.deadline = deadline
        }
    }

    private mutating func loseConnection() {
        open = nil
        opening = nil
        toServer = []
        toClient = []
        server.connectionOpened()
    }

    /// One random thing happens, faults among them.
    mutating func step() throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<12:
            textCount += 1
            try server.post("in \(textCount)")
            toClient += open == nil ? [] : server.takeBytes()
        case 12..<22: try send()
        case 22..<25: try cut()
        case 25..<27: try failCommit()
        case 27..<28: try crash()
        case 28..<29: try tell(.enteredBackground)
        case 29..<31: try tell(.enteredForeground)
        default: try advance()
        }
    }

    /// Something that must happen does: bytes, commits, time.
    mutating func advance() throws {
        if mustRestore {
            mustRestore = false
            return try tell(.restored(storage.restored))
        }
        if case .resolving = core.link {
            let hosts = core.configuration.endpoints
            for endpoint in hosts { try tell(.resolved(endpoint, addresses: [endpoint.host])) }
            return
        }
        if let epoch = opening {
            opening = nil
            open = epoch
            server.connectionOpened()
            return try tell(.opened(epoch))
        }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: try deliverToServer()
        case 1: try deliverToClient()
        case 2: try commit()
        default: try passTime()
        }
    }

    private mutating func deliverToServer() throws {
        guard !toServer.isEmpty else { return }
        let count = Int.random(in: 1...toServer.count, using: &random)
        let chunk = Array(toServer.prefix(count))
        toServer.removeFirst(count)
        try server.receive(chunk)
        toClient += server.takeBytes()
    }

    private mutating func deliverToClient() throws {
        guard let epoch = open, !toClient.isEmpty else { return }
        let count = Int.random(in: 1...toClient.count, using: &random)
        let chunk = Array(toClient.prefix(count))
        toClient.removeFirst(count)
        try tell(.received(epoch, chunk))
    }

    private mutating func commit() throws {
        guard let batch else { return }
        self.batch = nil
        let outcome = storage.apply(batch)
        try tell(.committed(batch: batch.id, outcome))
    }

    private mutating func failCommit() throws {
        guard let batch else { return }
        self.batch = nil
        try tell(.commitFailed(batch: batch.id))
    }

    private mutating func passTime() throws {
        guard let deadline, toServer.isEmpty, toClient.isEmpty, batch == nil else {
            now = now + .milliseconds(10)
            if let deadline, deadline <= now { try tell(.deadline) }
            return
        }
        now = max(now, deadline)
        try tell(.deadline)
    }

    private mutating func send() throws {
        textCount += 1
        ticket += 1
        let message = IMMessage(sender: 7, receiver: 8, content: "out \(textCount)")
        try tell(
            .sendRequested(
                SendRequest(ticket: SendTicket(rawValue: ticket), command: .im, body: .im(message))))
    }

    private mutating func cut() throws {
        guard let epoch = open else { return }
        loseConnection()
        try tell(.closed(epoch, .failed))
    }

    /// The program dies, with its batch applied or not, and starts again over the same storage.
    private mutating func crash() throws {
        crashCount += 1
        if let batch, Bool.random(using: &random) { _ = storage.apply(batch) }
        batch = nil
        deadline = nil
        mustRestore = false
        loseConnection()
        core = Self.makeCore(seed: UInt64.random(in: 0...(.max), using: &random))
        try start()
    }

    /// No more faults: everything is to arrive.
    mutating func heal() throws {
        try tell(.enteredForeground)
        for _ in 0..<40_000 {
            try advance()
            if isQuiet { return }
        }
    }

    private var isQuiet: Bool {
        core.isOnline && batch == nil && toServer.isEmpty && toClient.isEmpty && storage.outbox.isEmpty
            && storage.peerKey == (server.lastKey == 0 ? nil : server.lastKey)
    }
}

@Suite("Random runs against a model server")
struct SimulationTests {
    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func `everything arrives once and in order, whatever breaks`(seed: UInt64) throws {
        var simulation = Simulation(seed: seed)
        try simulation.start()
        for _ in 0..<1500 { try simulation.step() }
        try simulation.heal()
        let others = simulation.server.queue.filter { $0.message.sender == 8 }.map(\.message.content)
        #expect(others.count > 50, "the run did next to nothing")
        #expect(simulation.storage.received == others)
        #expect(simulation.server.accepted == simulation.storage.sent)
        #expect(simulation.storage.outbox.isEmpty)
        #expect(Set(simulation.announced).count == simulation.announced.count, "announced twice")
        let known = Set(simulation.announced)
        #expect(simulation.announced == others.filter { known.contains($0) }, "announced out of order")
        #expect(simulation.reports.allSatisfy { $0.step == .acknowledged })
    }
}
