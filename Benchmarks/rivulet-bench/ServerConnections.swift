import Foundation
import RivuletWire
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
        if wanted("server.idle.tcp") {
            let target = try BenchmarkServer(settings)
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
        report.add(
            Figure(
                suite: "server", name: "server.idle.tcp", parameters: [("from", few), ("to", settings.idle)],
                value: slope, best: nil, unit: "bytes", better: .lower, bar: 2048))
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
    private let addresses: [SocketAddress]
    private var turn = 0
    private let kept: LoopBound<Kept>
    private(set) var count = 0

    private final class Kept {
        var streams: [TCPStream] = []
    }

    init(_ target: BenchmarkServer) async throws {
        let loop = try EventLoop()
        try loop.start()
        self.loop = loop
        addresses = try zip(target.hosts, target.ports).map { try SocketAddress(host: $0, port: $1) }
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
        let (loop, address, kept) = (loop, addresses[turn % addresses.count], kept)
        let status: Int32 = try await withCheckedThrowingContinuation { continuation in
            let isTaken = loop.enqueue {
                do {
                    let stream = try TCPStream.connect(to: address, on: loop)
                    var reader = LoadFrameReader()
                    var waiting: CheckedContinuation<Int32, any Error>? = continuation
                    kept.value.streams.append(stream)
                    stream.onOpened = { [weak stream] in stream?.resumeReading() }
                    stream.onRead = { [weak stream] input in
                        reader.read(input) { frame in
                            guard case .loginAnswer(let status) = frame else { return }
                            if !keeps { stream?.close() }
                            waiting?.resume(returning: status)
                            waiting = nil
                        }
                    }
                    stream.onClosed = { _ in
                        if !keeps { kept.value.streams.removeAll { $0.isClosing } }
                        waiting?.resume(throwing: LoadError(description: "the server closed a connection"))
                        waiting = nil
                    }
                    stream.write(bytes)
                } catch {
                    continuation.resume(throwing: error)
                }
            }
            if !isTaken { continuation.resume(throwing: LoadError(description: "the loop has ended")) }
        }
        guard status == 0 else { throw LoadError(description: "the server refused a token") }
        if keeps { count += 1 }
    }
}
