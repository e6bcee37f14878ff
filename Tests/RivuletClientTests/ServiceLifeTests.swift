import RivuletClientCore
import RivuletTransport
import RivuletWire
import Synchronization
import Testing

@testable import RivuletClient

@Suite("The life of a service", .timeLimit(.minutes(2)))
struct ServiceLifeTests {
    @Test(arguments: Profile.allCases)
    func `a kick ends it for good, with its reason, until a stop and a start`(profile: Profile) async throws {
        let server = try await ScriptedServer(profile: profile)
        let service = server.makeService()
        let statuses = service.connectionStatuses()
        try await service.startAndLogIn()
        await server.send(.rst)
        try await first(of: statuses) { $0 == ConnectionStatus(state: .kicked, reason: .kicked) }
        service.enterForeground()
        service.onReachabilityChange(false)
        service.onReachabilityChange(true)
        await #expect(throws: IMServiceError(.notConnected)) {
            try await service.send(LiveMessage.rt(RTMessage(sender: 7, receiver: 8, content: "")))
        }
        #expect(await server.connectionCount == 1)
        await service.stopAndWait()
        try await service.startAndLogIn()
        try await first(of: service.connectionStatuses()) { $0 == ConnectionStatus(state: .authenticated) }
        await service.stopAndWait()
    }

    @Test func `the time of the next try is told, with the reason`() async throws {
        let server = try await ScriptedServer(profile: .current)
        let service = server.makeService {
            $0.core.backoffMin = .seconds(4)
            $0.core.backoffMax = .seconds(4)
        }
        let statuses = service.connectionStatuses()
        try await service.startAndLogIn()
        await server.breakConnection()
        let waiting = try await first(of: statuses) { $0.retryDelay != nil }
        #expect(waiting.state == .unconnected && waiting.reason == .connectionLost)
        #expect(waiting.retryDelay == .seconds(4))
        await service.stopAndWait()
    }

    @Test func `a refused token is asked for anew, once, and used`() async throws {
        let server = try await ScriptedServer(profile: .current)
        await server.answerLogins(1)
        let asked = Mutex<[Int]>([])
        let service = server.makeService { configuration in
            // How long the old token waits for a new one.
            configuration.core.backoffMax = .seconds(60)
            configuration.tokenSource = { refusals in
                asked.withLock { $0.append(refusals) }
                return "fresh"
            }
        }
        try await service.startAndLogIn()
        #expect(asked.withLock { $0 } == [1])
        var tokens: [String] = []
        for await packet in server.packets {
            if case .authToken(let login) = packet.body { tokens.append(login.token) }
            if tokens.count == 2 { break }
        }
        #expect(tokens == ["token", "fresh"])
        #expect(service.token == "fresh")
        await service.stopAndWait()
    }

    @Test func `reachability of the app's own is followed`() async throws {
        let server = try await ScriptedServer(profile: .current)
        let (changes, feed) = AsyncStream<Bool>.makeStream()
        let service = server.makeService { $0.reachability = { changes } }
        #expect(service.startRechabilityNotifier())
        let states = service.connectionStates()
        try await service.startAndLogIn()
        feed.yield(false)
        try await first(of: states) { $0 == .authenticated }
        try await first(of: states) { $0 == .unconnected }
        feed.yield(true)
        try await first(of: states) { $0 == .authenticated }
        #expect(await server.connectionCount == 2)
        #expect(!IMService().startReachabilityNotifier())
        await service.stopAndWait()
    }

    @Test func `several accounts at once know nothing of each other`() async throws {
        let server = try await ScriptedServer(profile: .seed)
        let other = try await ScriptedServer(profile: .current)
        let (first7, second7) = (server.makeService(), other.makeService())
        try await first7.startAndLogIn()
        try await second7.startAndLogIn()
        let (firstMessages, secondMessages) = (first7.messages(), second7.messages())
        await server.send(.im, .im(IMMessage(sender: 8, receiver: 7, content: "for the first")))
        await other.send(.im, .im(IMMessage(sender: 8, receiver: 7, content: "for the second")))
        #expect(try await take(1, of: firstMessages).map(\.body.text) == ["for the first"])
        #expect(try await take(1, of: secondMessages).map(\.body.text) == ["for the second"])
        #expect(IMService.shared !== first7)
        #expect(IMService.shared.connectionState == .unconnected)
        await first7.stopAndWait()
        await second7.stopAndWait()
    }

    @Test func `logs and counts hold neither contents nor tokens`() async throws {
        let server = try await ScriptedServer(profile: .current)
        let lines = Mutex<[String]>([])
        let names = Mutex<[String: Int]>([:])
        let service = server.makeService { configuration in
            configuration.identity.token = "t0psecret"
            configuration.logger = ClientLogger(level: .debug) { line in
                lines.withLock { $0.append("\(line)") }
            }
            configuration.metrics = ClientMetrics { name, amount in
                names.withLock { $0[name, default: 0] += amount }
            }
        }
        let messages = service.messages()
        try await service.startAndLogIn()
        await server.send(.im, .im(IMMessage(sender: 8, receiver: 7, content: "c0ntent")))
        _ = try await take(1, of: messages)
        try await service.send(.peer(IMMessage(sender: 7, receiver: 8, content: "c0ntent")))
        let statuses = service.connectionStatuses()
        await server.breakConnection()
        try await first(of: statuses) { $0.reason == .connectionLost }
        await service.stopAndWait()
        let text = lines.withLock { $0.joined() } + names.withLock { $0.keys.joined() }
        #expect(!text.contains("t0psecret") && !text.contains("c0ntent"))
        #expect(text.contains("connection_lost"))
        #expect(names.withLock { $0["messages_acknowledged"] } == 1)
        #expect(names.withLock { $0["messages_received"] } == 1)
    }

    @Test func `the receiver's device tells the author that messages arrived, once a second`() async throws {
        var book = ReceiptBook()
        func message(_ number: Int, from sender: Int64 = 8) -> ReceivedMessage {
            let body = IMMessage(sender: sender, receiver: 7, content: "{\"uuid\":\"\(number)\"}")
            return ReceivedMessage(command: .im, body: .im(body), isOwn: sender == 7)
        }
        for number in 1...120 { book.add(message(number)) }
        book.add(message(1, from: 9))
        book.add(message(1, from: 7))
        var now = ClientInstant.start
        var counts: [[Int]] = []
        for _ in 0..<4 {
            counts.append(book.takeDue(by: 7, at: now).map { $0.uuidCount }.sorted())
            now = now + .seconds(1)
        }
        #expect(counts == [[1, 50], [50], [20], []])
        #expect(book.nextDue == nil)
    }

    @Test func `receipts go out when the configuration says so`() async throws {
        let server = try await ScriptedServer(profile: .current)
        let service = server.makeService { $0.sendsDeliveryReceipts = true }
        try await service.startAndLogIn()
        await server.send(.im, .im(IMMessage(sender: 8, receiver: 7, content: #"{"uuid":"a"}"#)))
        for await packet in server.packets where packet.command == .rt {
            let content = #"{"delivered":{"msgids":["a"]}}"#
            #expect(packet.body == .room(RTMessage(sender: 7, receiver: 8, content: content)))
            break
        }
        await service.stopAndWait()
    }
}

extension Packet {
    fileprivate var uuidCount: Int {
        guard case .room(let body) = body else { return 0 }
        return body.content.split(separator: ",").count
    }
}

extension PacketBody {
    fileprivate var text: String? {
        guard case .im(let body) = self else { return nil }
        return body.content
    }
}

/// Puts files where others can get them, when the test lets it.
private final class ManualUploader: MessageUploader {
    struct Broken: Error {}

    private let isBroken: Bool
    private let gate: AsyncStream<Void>
    private let open: AsyncStream<Void>.Continuation
    let started: AsyncStream<SendID>
    private let feed: AsyncStream<SendID>.Continuation

    init(isBroken: Bool = false) {
        self.isBroken = isBroken
        (gate, open) = AsyncStream.makeStream()
        (started, feed) = AsyncStream.makeStream()
    }

    func finish() { open.finish() }

    func needsUpload(_ command: Command, _ body: PacketBody) -> Bool {
        body.text?.contains("file:") == true
    }

    func upload(_ entry: OutboxEntry) async throws -> PacketBody {
        feed.yield(entry.id)
        for await _ in gate {}
        try Task.checkCancellation()
        if isBroken { throw Broken() }
        guard case .im(var body) = entry.body else { throw Broken() }
        body.content = body.content.replacing("file:", with: "https:")
        return .im(body)
    }
}

@Suite("Messages that wait for an upload, in a service", .timeLimit(.minutes(2)))
struct ServiceUploadTests {
    private let picture = IMMessage(sender: 7, receiver: 8, content: #"{"uuid":"p","image":"file:1"}"#)

    @Test func `the message goes out with what was uploaded, before the one behind it`() async throws {
        let server = try await ScriptedServer(profile: .current)
        let uploader = ManualUploader()
        let service = server.makeService { $0.uploader = uploader }
        try await service.startAndLogIn()
        try service.enqueue(.peer(picture, uuid: "p"))
        try service.enqueue(.peer(IMMessage(sender: 7, receiver: 8, content: "behind")))
        try await first(of: uploader.started) { _ in true }
        uploader.finish()
        var texts: [String] = []
        for await packet in server.packets {
            if let text = packet.body.text { texts.append(text) }
            if texts.count == 2 { break }
        }
        #expect(texts == [#"{"uuid":"p","image":"https:1"}"#, "behind"])
        await service.stopAndWait()
    }

    @Test func `an upload that was under way at a stop is made again after the restart`() async throws {
        let server = try await ScriptedServer(profile: .current)
        let storage = MemoryClientStorage()
        let slow = ManualUploader()
        let before = server.makeService(storage: storage) { $0.uploader = slow }
        try await before.startAndLogIn()
        try before.enqueue(.peer(picture, uuid: "p"))
        try await first(of: slow.started) { _ in true }
        await before.stopAndWait()
        #expect(storage.restored.outbox.map(\.body.text) == [picture.content])

        let quick = ManualUploader()
        quick.finish()
        let after = server.makeService(storage: storage) { $0.uploader = quick }
        let reports = after.sendReports()
        try await after.startAndLogIn()
        let report = try await first(of: reports) { $0.step.isLast }
        #expect(report.step == .acknowledged && report.entry.uuid == "p")
        #expect(storage.restored.outbox.isEmpty)
        await after.stopAndWait()
    }

    @Test func `an upload that fails is a typed error`() async throws {
        let server = try await ScriptedServer(profile: .current)
        let uploader = ManualUploader(isBroken: true)
        uploader.finish()
        let service = server.makeService { $0.uploader = uploader }
        try await service.startAndLogIn()
        await #expect(throws: IMServiceError(.uploadFailed)) {
            try await service.send(.peer(picture, uuid: "p"))
        }
        await service.stopAndWait()
    }
}
