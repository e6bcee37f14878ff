import Foundation
import RivuletWire
import UVKit

/// Messages that one sender's reach many: rooms and groups.
enum FanoutBenchmark {
    /// How many are in the room and in the group.
    static let members = 1000
    static let senders = 16
    private static let room: Int64 = 9
    private static let depth = 4

    static func run(
        _ settings: ServerBenchmark.Settings, wanted: (String) -> Bool, _ report: inout BenchmarkReport
    ) async throws {
        if wanted("server.room.1000") {
            let target = try BenchmarkServer(settings)
            defer { target.stop() }
            let result = try await measure(.room(room), online: members, settings, target)
            add(
                "server.room.1000", result, Double(result.received) / result.seconds, "deliveries/s", 400_000,
                &report)
        }
        if wanted("server.group.1000") {
            let target = try BenchmarkServer(settings)
            defer { target.stop() }
            let kind = FanoutLoad.Kind.group(BenchmarkServer.group)
            let result = try await measure(kind, online: members / 10, settings, target)
            let entries = Double(result.acknowledged * members) / result.seconds
            add("server.group.1000", result, entries, "entries/s", 150_000, &report)
        }
    }

    private static func add(
        _ name: String, _ result: FanoutResult, _ value: Double, _ unit: String, _ bar: Double,
        _ report: inout BenchmarkReport
    ) {
        func row(_ suffix: String, _ value: Double, _ unit: String, better: Figure.Better, bar: Double? = nil)
        {
            let parameters = bar == nil ? [] : [("members", members), ("senders", senders), ("depth", depth)]
            report.add(
                Figure(
                    suite: "server", name: name + suffix, parameters: parameters, value: value, best: nil,
                    unit: unit, better: better, bar: bar))
        }
        row("", value, unit, better: .higher, bar: bar)
        row(".sent", Double(result.acknowledged) / result.seconds, "messages/s", better: .higher)
        row(".delivered", Double(result.received) / result.seconds, "messages/s", better: .higher)
        row(".ack_p99", result.latency.milliseconds(at: 0.99), "ms", better: .lower)
        if let cores = result.serverCores { row(".server_cpu", cores, "cores", better: .lower) }
        if let memory = result.serverMemory {
            row(".server_memory", Double(memory) / 1_048_576, "MiB", better: .lower)
        }
    }

    private static func measure(
        _ kind: FanoutLoad.Kind, online: Int, _ settings: ServerBenchmark.Settings, _ target: BenchmarkServer
    ) async throws -> FanoutResult {
        let loop = try EventLoop()
        try loop.start()
        defer { loop.stop() }
        let accounts = Array(target.accounts.prefix(online))
        let (host, port, size) = (target.host, target.port, settings.size)
        let load = try await loop.perform {
            let load = FanoutLoad(kind, loop: loop, senders: senders, depth: depth)
            try load.connect(accounts, to: try SocketAddress(host: host, port: port), contentBytes: size)
            return LoopBound(load, loop: loop)
        }
        let deadline = ContinuousClock.now + .seconds(60)
        while try await !loop.perform({ load.value.isReady }) {
            guard ContinuousClock.now < deadline else {
                throw LoadError(description: "not all users could log in")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        try await loop.perform { load.value.begin() }
        try await Task.sleep(for: .seconds(settings.warmup))
        let before = ProcessUse(of: target.processIdentifier)
        let began = ContinuousClock.now
        try await loop.perform { load.value.beginMeasuring() }
        try await Task.sleep(for: .seconds(settings.duration))
        var result = try await loop.perform { load.value.endMeasuring() }
        result.seconds = Samples.seconds(ContinuousClock.now - began)
        let after = ProcessUse(of: target.processIdentifier)
        result.serverCores = ProcessUse.cores(from: before, to: after, seconds: result.seconds)
        result.serverMemory = after?.residentBytes
        return result
    }
}

/// What a fan-out brought about.
struct FanoutResult: Sendable {
    var seconds = 0.0
    var acknowledged = 0
    var received = 0
    var latency = LatencyHistogram()
    var serverCores: Double?
    var serverMemory: Int?
}

/// The connections of a fan-out, on one event loop.
final class FanoutLoad {
    /// To what messages are sent.
    enum Kind: Sendable {
        case room(Int64)
        case group(Int64)
    }

    private final class Member {
        let account: LoadAccount
        let stream: TCPStream
        var reader = LoadFrameReader()
        var frame: LoadFrame?
        var number: Int32 = 2
        var sentAt: [Int32: UInt64] = [:]

        init(_ account: LoadAccount, _ stream: TCPStream) {
            self.account = account
            self.stream = stream
        }
    }

    private let kind: Kind
    private let loop: EventLoop
    private let senderCount: Int
    private let depth: Int
    private var members: [Member] = []
    private var loggedIn = 0
    private var result = FanoutResult()
    private var isSending = false
    private var isMeasuring = false
    private var text = ""

    init(_ kind: Kind, loop: EventLoop, senders: Int, depth: Int) {
        self.kind = kind
        self.loop = loop
        senderCount = senders
        self.depth = depth
    }

    var isReady: Bool { loggedIn == members.count }

    func connect(_ accounts: [LoadAccount], to address: SocketAddress, contentBytes: Int) throws {
        text = String(repeating: "x", count: contentBytes)
        let run = UInt64(Date().timeIntervalSince1970 * 1000) & 0xFFFF_FFFF_FFFF
        for (index, account) in accounts.enumerated() {
            let member = Member(account, try TCPStream.connect(to: address, on: loop))
            if case .group(let group) = kind, index < senderCount {
                member.frame = try LoadFrame(
                    from: account.user, to: group, contentBytes: contentBytes, run: run, command: .groupIM)
            }
            members.append(member)
            var first = try Packet(
                .authToken,
                .authToken(
                    AuthenticationToken(
                        token: account.token, platformID: .linux, deviceID: "bench-\(account.user)")),
                sequence: 1
            ).pack(from: .client, profile: .current)
            if case .room(let room) = kind {
                first += try Packet(.enterRoom, .roomID(room), sequence: 2).pack(
                    from: .client, profile: .current)
            }
            member.stream.write(first)
            member.stream.onOpened = { [weak member] in member?.stream.resumeReading() }
            // What was read already may be told when the measurement is over and the load is gone.
            member.stream.onRead = { [weak self, weak member] bytes in
                guard let member else { return }
                self?.read(bytes, by: member)
            }
        }
    }

    func begin() {
        isSending = true
        for member in members.prefix(senderCount) { send(depth, from: member) }
    }

    func beginMeasuring() {
        isMeasuring = true
        result = FanoutResult()
    }

    func endMeasuring() -> FanoutResult {
        isMeasuring = false
        isSending = false
        return result
    }

    private func send(_ count: Int, from member: Member) {
        var output: [UInt8] = []
        for _ in 0..<count {
            member.number += 1
            member.sentAt[member.number] = loop.nowNanoseconds
            switch kind {
            case .group: member.frame?.append(member.number, to: &output)
            case .room(let room):
                let message = RoomMessage(sender: member.account.user, receiver: room, content: text)
                let packet = Packet(.roomIM, .room(message), sequence: member.number)
                if let bytes = try? packet.pack(from: .client, profile: .current) { output += bytes }
            }
        }
        member.stream.write(output)
    }

    private func read(_ bytes: UnsafeRawBufferPointer, by member: Member) {
        var acknowledged = 0
        let now = loop.nowNanoseconds
        member.reader.read(bytes) { frame in
            switch frame {
            case .acknowledgement(let number):
                acknowledged += 1
                let sent = member.sentAt.removeValue(forKey: number)
                guard isMeasuring else { return }
                result.acknowledged += 1
                if let sent { result.latency.add(now &- sent) }
            case .message, .roomMessage:
                if isMeasuring { result.received += 1 }
            case .loginAnswer(let status): if status == 0 { loggedIn += 1 }
            case .other: break
            }
        }
        if acknowledged > 0, isSending { send(acknowledged, from: member) }
    }
}
