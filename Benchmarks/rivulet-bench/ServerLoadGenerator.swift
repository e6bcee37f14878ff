import Foundation
import RivuletWire
import UVKit

/// A user of a load: a number and a token.
struct LoadAccount: Sendable {
    var user: Int64
    var token: String
}

/// One connection of a load.
private final class LoadUser {
    let account: LoadAccount
    let stream: TCPStream
    var frame: LoadFrame
    var reader = LoadFrameReader()
    /// The last number sent, which is its frame's sequence, too.
    ///
    /// The login has number 1, so messages begin at 2.
    var lastNumber: Int32 = 1
    var acknowledgedCount = 0
    /// The last number that came from the partner.
    var lastReceived: Int32 = 1
    /// When each message was to be sent, by its number.
    var sentAt: [UInt64]
    /// At a fixed rate: when the next message is due.
    var nextDue: UInt64 = 0
    weak var partner: LoadUser?

    /// So many messages of a user may be under way, or are taken for lost in the latency figures.
    static let underWayMax = 1 << 14

    init(_ account: LoadAccount, stream: TCPStream, frame: LoadFrame) {
        self.account = account
        self.stream = stream
        self.frame = frame
        sentAt = [UInt64](repeating: 0, count: Self.underWayMax)
    }

    func slot(_ number: Int32) -> Int {
        Int(number) & (Self.underWayMax - 1)
    }
}

/// Some users of a load, on one event loop.
final class LoadGenerator: Sendable {
    let loop: EventLoop
    private let worker: LoopBound<LoadWorker>

    private init(loop: EventLoop, worker: LoopBound<LoadWorker>) {
        self.loop = loop
        self.worker = worker
    }

    /// Connects all users, in pairs on the same loop.
    static func start(
        _ load: LoadResult.Load, accounts: [LoadAccount], host: String, port: UInt16,
        _ settings: ServerBenchmark.Settings
    ) async throws -> [LoadGenerator] {
        let run = UInt64(Date().timeIntervalSince1970 * 1000) & 0xFFFF_FFFF_FFFF
        let perLoop = (accounts.count / 2 + settings.loops - 1) / settings.loops * 2
        var generators: [LoadGenerator] = []
        for start in stride(from: 0, to: accounts.count, by: perLoop) {
            let part = Array(accounts[start..<min(start + perLoop, accounts.count)])
            let loop = try EventLoop()
            try loop.start()
            let share = Double(part.count) / Double(accounts.count)
            let size = settings.size
            let worker = try await loop.perform {
                let worker = try LoadWorker(load, share: share, loop: loop)
                try worker.connect(
                    part, to: try SocketAddress(host: host, port: port), contentBytes: size, run: run)
                return LoopBound(worker, loop: loop)
            }
            generators.append(LoadGenerator(loop: loop, worker: worker))
        }
        return generators
    }

    /// Returns when every user is logged in.
    static func waitUntilLoggedIn(_ generators: [LoadGenerator]) async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        for generator in generators {
            while try await !generator.loop.perform({ try generator.worker.value.checkLogin() }) {
                guard ContinuousClock.now < deadline else {
                    throw LoadError(description: "not all users could log in")
                }
                try await Task.sleep(for: .milliseconds(10))
            }
        }
    }

    /// Closes the connections.
    func stop() {
        loop.stop()
    }

    func begin() {
        loop.enqueue { self.worker.value.begin() }
    }

    func beginMeasuring() {
        loop.enqueue { self.worker.value.beginMeasuring() }
    }

    func endMeasuring() {
        loop.enqueue { self.worker.value.endMeasuring() }
    }

    /// Waits for what is under way, at most five seconds, and answers what was counted.
    func finish() async throws -> LoadTally {
        let deadline = ContinuousClock.now + .seconds(5)
        while try await !loop.perform({ self.worker.value.isQuiet }), ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(20))
        }
        return try await loop.perform { self.worker.value.finalTally() }
    }
}

/// Why a load cannot be run.
struct LoadError: Error, CustomStringConvertible {
    var description: String
}

/// The loop-side half of a generator.
private final class LoadWorker {
    private let load: LoadResult.Load
    private let share: Double
    private let loop: EventLoop
    private var users: [LoadUser] = []
    private var userOfNumber: [Int64: LoadUser] = [:]
    private var loggedInCount = 0
    private var refusedCount = 0
    private var tally = LoadTally()
    private var isSending = false
    private var isMeasuring = false
    private var ticker: UVKit.Timer?
    private var interval: UInt64 = 0
    private var output: [UInt8] = []

    init(_ load: LoadResult.Load, share: Double, loop: EventLoop) throws {
        self.load = load
        self.share = share
        self.loop = loop
        output.reserveCapacity(65_536)
        ticker = try UVKit.Timer(on: loop) { [weak self] in self?.tick() }
    }

    func connect(_ accounts: [LoadAccount], to address: SocketAddress, contentBytes: Int, run: UInt64) throws
    {
        for (index, account) in accounts.enumerated() {
            let partner = accounts[index ^ 1]
            let frame = try LoadFrame(
                from: account.user, to: partner.user, contentBytes: contentBytes, run: run)
            let stream = try TCPStream.connect(to: address, on: loop)
            let user = LoadUser(account, stream: stream, frame: frame)
            users.append(user)
            userOfNumber[account.user] = user
            let login = Packet(
                .authToken,
                .authToken(
                    AuthenticationToken(
                        token: account.token, platformID: .linux, deviceID: "bench-\(account.user)")),
                sequence: 1)
            stream.write(try login.pack(from: .client, profile: .current))
            stream.onOpened = { [weak stream] in
                try? stream?.setNoDelay(true)
                stream?.resumeReading()
            }
            stream.onRead = { [weak self, weak user] bytes in
                guard let user else { return }
                self?.read(bytes, by: user)
            }
            stream.onClosed = { [weak self] _ in self?.tally.errors += 1 }
        }
        for index in users.indices { users[index].partner = users[index ^ 1] }
    }

    /// Whether all are logged in; throws when one was refused.
    func checkLogin() throws -> Bool {
        guard refusedCount == 0 else { throw LoadError(description: "the server refused a token") }
        return loggedInCount == users.count
    }

    func begin() {
        isSending = true
        switch load {
        case .depth(let depth):
            for user in users { send(depth, from: user, now: loop.nowNanoseconds) }
        case .rate(let rate):
            interval = UInt64(1_000_000_000 * Double(users.count) / (Double(rate) * share))
            let now = loop.nowNanoseconds
            for (index, user) in users.enumerated() {
                user.nextDue = now + interval * UInt64(index) / UInt64(users.count)
            }
            tick()
        }
    }

    func beginMeasuring() {
        isMeasuring = true
    }

    func endMeasuring() {
        isMeasuring = false
        isSending = false
    }

    var isQuiet: Bool {
        users.allSatisfy { user in
            user.acknowledgedCount == Int(user.lastNumber) - 1
                && user.lastReceived == (user.partner?.lastNumber ?? 1)
        }
    }

    func finalTally() -> LoadTally {
        var result = tally
        for user in users {
            result.total += Int(user.lastNumber) - 1
            result.lost += Int((user.partner?.lastNumber ?? 1) - user.lastReceived)
        }
        return result
    }

    // MARK: Sending

    private func tick() {
        guard isSending else { return }
        let now = loop.nowNanoseconds
        for user in users where user.nextDue <= now {
            output.removeAll(keepingCapacity: true)
            while user.nextDue <= now {
                append(from: user, at: user.nextDue)
                user.nextDue += interval
            }
            flush(user)
        }
        ticker?.arm(after: .milliseconds(1))
    }

    private func send(_ count: Int, from user: LoadUser, now: UInt64) {
        output.removeAll(keepingCapacity: true)
        for _ in 0..<count { append(from: user, at: now) }
        flush(user)
    }

    private func append(from user: LoadUser, at time: UInt64) {
        user.lastNumber += 1
        user.sentAt[user.slot(user.lastNumber)] = time
        user.frame.append(user.lastNumber, to: &output)
    }

    private func flush(_ user: LoadUser) {
        output.withUnsafeBytes { bytes in
            _ = user.stream.write(bytes)
        }
    }

    // MARK: Receiving

    private func read(_ bytes: UnsafeRawBufferPointer, by user: LoadUser) {
        let now = loop.nowNanoseconds
        var acknowledgedNow = 0
        user.reader.read(bytes) { frame in
            switch frame {
            case .acknowledgement(let number):
                acknowledgedNow += 1
                user.acknowledgedCount += 1
                guard isMeasuring else { return }
                tally.acknowledged += 1
                tally.acknowledgement.add(now &- user.sentAt[user.slot(number)])
            case .message(let sender, let number):
                received(number, from: sender, by: user, now: now)
            case .loginAnswer(let status):
                if status == 0 { loggedInCount += 1 } else { refusedCount += 1 }
            case .roomMessage, .other:
                break
            }
        }
        if acknowledgedNow > 0, isSending, case .depth = load {
            send(acknowledgedNow, from: user, now: now)
        }
    }

    private func received(_ number: Int32, from sender: Int64, by user: LoadUser, now: UInt64) {
        guard let partner = user.partner, partner.account.user == sender else { return }
        if number == user.lastReceived + 1 {
            user.lastReceived = number
        } else if number <= user.lastReceived {
            tally.doubled += 1
        } else {
            tally.outOfOrder += 1
            tally.lost += Int(number - user.lastReceived) - 1
            user.lastReceived = number
        }
        guard isMeasuring else { return }
        tally.delivered += 1
        tally.delivery.add(now &- partner.sentAt[partner.slot(number)])
    }
}
