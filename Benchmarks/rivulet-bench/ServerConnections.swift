import Foundation
import RivuletTransport
import RivuletWire
import TLSKit
import UVKit

/// What connections cost: logins one after the other, and memory of those that only wait.
enum ConnectionBenchmark {
    static func run(
        _ settings: ServerBenchmark.Settings, wanted: (String) -> Bool, _ report: inout BenchmarkReport
    ) async throws {
        if wanted("server.login.sequential") {
            let target = try BenchmarkServer(settings)
            defer { target.stop() }
            try await measureLogins(settings, target, &report)
        }
        for isSecured in [false, true] where wanted(isSecured ? "server.idle.tls" : "server.idle.tcp") {
            let target = try BenchmarkServer(settings, isSecured ? .secured : .plain)
            defer { target.stop() }
            try await measureIdle(settings, target, &report)
        }
    }

    /// Each login waits for the one before: connect, AUTH_TOKEN, AUTH_STATUS, close.
    private static func measureLogins(
        _ settings: ServerBenchmark.Settings, _ target: BenchmarkServer, _ report: inout BenchmarkReport
    ) async throws {
        let clients = try await Clients(target)
        defer { clients.stop() }
        // Every user's device is known afterwards, as those of people who come back are.
        for account in target.accounts.prefix(200) { try await clients.login(account, keeps: false) }
        let before = ProcessUse(of: target.processIdentifier)
        let began = ContinuousClock.now
        for index in 0..<settings.logins {
            try await clients.login(target.accounts[index % 200], keeps: false)
        }
        let seconds = Samples.seconds(ContinuousClock.now - began)
        let after = ProcessUse(of: target.processIdentifier)
        add(
            "server.login.sequential", [("logins", settings.logins)], Double(settings.logins) / seconds,
            "logins/s", .higher, &report)
        if let before, let after {
            let growth = Double(after.residentBytes - before.residentBytes) / 1024
            add("server.login.memory_growth", [], growth, "KiB", .lower, &report)
        }
    }

    /// The slope of the server's memory between a few connections and many.
    private static func measureIdle(
        _ settings: ServerBenchmark.Settings, _ target: BenchmarkServer, _ report: inout BenchmarkReport
    ) async throws {
        let clients = try await Clients(target)
        defer { clients.stop() }
        let few = settings.idle / 9
        var memory: [Int] = []
        for count in [few, settings.idle] {
            while clients.count < count {
                try await clients.login(target.accounts[clients.count % target.accounts.count], keeps: true)
            }
            try await Task.sleep(for: .seconds(1))
            guard let use = ProcessUse(of: target.processIdentifier) else {
                throw LoadError(description: "the server's memory cannot be read")
            }
            memory.append(use.residentBytes)
        }
        let slope = Double(memory[1] - memory[0]) / Double(settings.idle - few)
        let isSecured = target.certificateFile != nil
        report.add(
            Figure(
                suite: "server", name: isSecured ? "server.idle.tls" : "server.idle.tcp",
                parameters: [("from", few), ("to", settings.idle)], value: slope, best: nil, unit: "bytes",
                better: .lower, bar: isSecured ? nil : 2048))
    }

    private static func add(
        _ name: String, _ parameters: [(String, Int)], _ value: Double, _ unit: String,
        _ better: Figure.Better, _ report: inout BenchmarkReport
    ) {
        report.add(
            Figure(
                suite: "server", name: name, parameters: parameters, value: value, best: nil, unit: unit,
                better: better, bar: nil))
    }
}

/// Connections of a benchmark, made one at a time.
private final class Clients {
    private let loop: EventLoop
    private let hosts: [String]
    private let addresses: [SocketAddress]
    private let tls: TLSContext?
    private var turn = 0
    private let kept: LoopBound<Kept>
    private(set) var count = 0

    private final class Kept {
        var streams: [any ByteStream] = []
    }

    init(_ target: BenchmarkServer) async throws {
        let loop = try EventLoop()
        try loop.start()
        self.loop = loop
        hosts = target.hosts
        addresses = try zip(target.hosts, target.ports).map { try SocketAddress(host: $0, port: $1) }
        tls = try target.certificateFile.map {
            try TLSContext(client: TLSClientOptions(authorityFile: $0, resumesSessions: false))
        }
        kept = try await loop.perform { LoopBound(Kept(), loop: loop) }
    }

    func stop() {
        loop.stop()
    }

    /// Connects, logs in and, unless the connection is to stay, closes it.
    func login(_ account: LoadAccount, keeps: Bool) async throws {
        let login = AuthenticationToken(
            token: account.token, platformID: .linux, deviceID: "bench-\(account.user)")
        let bytes = try Packet(.authToken, .authToken(login), sequence: 1).pack(
            from: .client, profile: .current)
        turn += 1
        let (loop, kept, tls) = (loop, kept, tls)
        let (host, address) = (hosts[turn % hosts.count], addresses[turn % addresses.count])
        let status: Int32 = try await withCheckedThrowingContinuation { continuation in
            let isTaken = loop.enqueue {
                let answer = LoginAnswer(continuation)
                do {
                    let stream = try TCPStream.connect(to: address, on: loop)
                    guard let tls else {
                        stream.onOpened = { [weak stream] in stream?.resumeReading() }
                        return Self.send(bytes, on: stream, keeps: keeps, kept, answer)
                    }
                    stream.onClosed = { _ in answer.fail() }
                    // Nobody else holds the stream until then; it lets go of its closures when it is closed.
                    stream.onOpened = {
                        do {
                            let secured = try TLSStream(
                                to: host, port: address.port, over: stream, context: tls)
                            Self.send(bytes, on: secured, keeps: keeps, kept, answer)
                            secured.resumeReading()
                        } catch {
                            answer.fail()
                        }
                    }
                } catch {
                    answer.fail()
                }
            }
            if !isTaken { continuation.resume(throwing: LoadError(description: "the loop has ended")) }
        }
        guard status == 0 else { throw LoadError(description: "the server refused a token") }
        if keeps { count += 1 }
    }

    private static func send(
        _ bytes: [UInt8], on stream: any ByteStream, keeps: Bool, _ kept: LoopBound<Kept>,
        _ answer: LoginAnswer
    ) {
        var reader = LoadFrameReader()
        kept.value.streams.append(stream)
        stream.onRead = { [weak stream] input in
            reader.read(input) { frame in
                guard case .loginAnswer(let status) = frame else { return }
                if !keeps { stream?.close() }
                answer.take(status)
            }
        }
        stream.onClosed = { _ in
            if !keeps { kept.value.streams.removeAll { $0.isClosing } }
            answer.fail()
        }
        stream.write(bytes)
    }
}

/// The answer to one login, given once; used on the loop alone.
private final class LoginAnswer {
    private var waiting: CheckedContinuation<Int32, any Error>?

    init(_ waiting: CheckedContinuation<Int32, any Error>) {
        self.waiting = waiting
    }

    func take(_ status: Int32) {
        waiting?.resume(returning: status)
        waiting = nil
    }

    func fail() {
        waiting?.resume(throwing: LoadError(description: "a connection could not be made, or ended"))
        waiting = nil
    }
}
