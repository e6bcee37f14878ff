import Foundation

extension BenchmarkSuite {
    /// One-to-one messages through a whole server, over real sockets.
    static let server = BenchmarkSuite(
        name: "server", summary: "messages a server commits and delivers per second",
        options: [
            Option(name: "users", placeholder: "N", help: "users, in pairs that write to each other (500)"),
            Option(
                name: "depth", placeholder: "N",
                help: "messages of each user in flight; alone, without the other rows"),
            Option(
                name: "rate", placeholder: "N",
                help: "messages per second at fixed times, however long answers take"),
            Option(name: "size", placeholder: "BYTES", help: "content of a message (100)"),
            Option(name: "warmup", placeholder: "SECONDS", help: "not measured (2)"),
            Option(name: "duration", placeholder: "SECONDS", help: "measured (5)"),
            Option(name: "loops", placeholder: "N", help: "event loops of the load generator (1)"),
            Option(name: "server-loops", placeholder: "N", help: "event loops of the server it starts (1)"),
            Option(name: "logins", placeholder: "N", help: "logins one after the other (5000)"),
            Option(name: "idle", placeholder: "N", help: "idle connections, for their memory (18000)"),
            Option(
                name: "stored", placeholder: "N",
                help: "up to how many stored messages growth is measured (1000000)"),
            Option(name: "host", placeholder: "ADDRESS", help: "a running server instead of one of its own"),
            Option(name: "port", placeholder: "N", help: "its port (23000)"),
            Option(name: "tokens", placeholder: "FILE", help: "its users: one 'uid token' a line"),
            Option(name: "pid", placeholder: "N", help: "its process, for CPU and memory"),
        ]
    ) { report, options in
        let settings = try ServerBenchmark.Settings(options)
        try await ServerBenchmark.run(settings, wanted: options.includes, &report)
    }
}

/// Runs loads against one server and reports them.
enum ServerBenchmark {
    /// What the command line asked for.
    struct Settings {
        var users: Int
        var size: Int
        var warmup: Int
        var duration: Int
        var loops: Int
        var serverLoops: Int
        var logins: Int
        var idle: Int
        var stored: Int
        var depth: Int?
        var rate: Int?
        var host: String?
        var port: Int
        var tokensPath: String?
        var processIdentifier: Int?

        /// How many users the server of its own knows.
        var accounts: Int { max(users, FanoutBenchmark.members, accountsMin) }
        /// How many users a sweep needs.
        var accountsMin = 0

        init(_ options: BenchmarkOptions) throws(BenchmarkUsageError) {
            users = try options.integer("users", default: 500)
            size = try options.integer("size", default: 100)
            warmup = try options.integer("warmup", default: 2)
            duration = try options.integer("duration", default: 5)
            loops = try options.integer("loops", default: 1)
            serverLoops = try options.integer("server-loops", default: 1)
            port = try options.integer("port", default: 23_000)
            logins = try options.integer("logins", default: 5_000)
            idle = try options.integer("idle", default: 18_000)
            stored = try options.integer("stored", default: 1_000_000)
            if options.values["depth"] != nil { depth = try options.integer("depth", default: 0) }
            if options.values["rate"] != nil { rate = try options.integer("rate", default: 0) }
            if options.values["pid"] != nil { processIdentifier = try options.integer("pid", default: 0) }
            host = options.values["host"]
            tokensPath = options.values["tokens"]
            for (name, value, least) in [
                ("users", users, 2), ("size", size, LoadFrame.contentBytesMin), ("duration", duration, 1),
                ("loops", loops, 1), ("depth", depth ?? 1, 1), ("rate", rate ?? 1, 1), ("warmup", warmup, 0),
                ("logins", logins, 1), ("idle", idle, 4_000), ("stored", stored, 0),
            ] where value < least {
                throw BenchmarkUsageError(message: "--\(name) wants \(least) or more")
            }
            guard size <= 32_000, users % 2 == 0, loops <= users / 2, (1...65_535).contains(port) else {
                throw BenchmarkUsageError(
                    message: "--size wants 32000 or less, --users an even number, --loops a pair for each")
            }
            guard (host == nil) == (tokensPath == nil) else {
                throw BenchmarkUsageError(message: "--host and --tokens belong together")
            }
        }
    }

    static func run(
        _ settings: Settings, wanted: (String) -> Bool, _ report: inout BenchmarkReport
    ) async throws {
        try await runPeers(settings, wanted: wanted, &report)
        guard settings.rate == nil, settings.depth == nil, settings.host == nil else { return }
        try await CostBenchmark.run(settings, wanted: wanted, &report)
        try await FanoutBenchmark.run(settings, wanted: wanted, &report)
        try await ConnectionBenchmark.run(settings, wanted: wanted, &report)
    }

    private static func runPeers(
        _ settings: Settings, wanted: (String) -> Bool, _ report: inout BenchmarkReport
    ) async throws {
        guard
            wanted("server.peer") || wanted("server.peer.depth1") || wanted("server.peer.depth16")
                || wanted("server.peer.half_load_p99")
        else { return }
        let target = try BenchmarkServer(settings)
        defer { target.stop() }
        let bars = (depth16: 50_000.0, halfLoadP99: 10.0)
        if let rate = settings.rate {
            let result = try await measure(.rate(rate), settings, target)
            report.add(result, named: "server.peer.rate", settings, bar: nil)
            return
        }
        if let depth = settings.depth {
            let result = try await measure(.depth(depth), settings, target)
            report.add(
                result, named: "server.peer.depth\(depth)", settings, bar: depth == 16 ? bars.depth16 : nil)
            return
        }
        if wanted("server.peer.depth1") {
            let single = try await measure(.depth(1), settings, target)
            report.add(single, named: "server.peer.depth1", settings, bar: nil)
        }
        let wantsHalf = wanted("server.peer.half_load_p99")
        guard wantsHalf || wanted("server.peer.depth16") else { return }
        if wantsHalf {
            // First: what the full load leaves to be folded would be done beside it.
            let half = Int(bars.depth16 / 2)
            let result = try await measure(.rate(half), settings, target)
            report.add(result, named: "server.peer.half_load", settings, bar: nil)
            report.add(
                Figure(
                    suite: "server", name: "server.peer.half_load_p99", parameters: [("rate", half)],
                    value: result.acknowledgement.milliseconds(at: 0.99), best: nil, unit: "ms",
                    better: .lower, bar: bars.halfLoadP99))
        }
        let full = try await measure(.depth(16), settings, target)
        report.add(full, named: "server.peer.depth16", settings, bar: bars.depth16)
        guard wantsHalf else { return }
        // Beyond the bar: half of what this machine can do, where single messages use up its cores.
        let halfOfFull = try await measure(
            .rate(max(1, Int(full.acknowledgedPerSecond / 2))), settings, target)
        report.add(halfOfFull, named: "server.peer.half_of_full", settings, bar: nil)
    }

    static func measure(
        _ load: LoadResult.Load, _ settings: Settings, _ target: BenchmarkServer
    ) async throws -> LoadResult {
        let generators = try await LoadGenerator.start(
            load, accounts: target.accounts, host: target.host, port: target.port, settings)
        defer { for generator in generators { generator.stop() } }
        try await LoadGenerator.waitUntilLoggedIn(generators)
        for generator in generators { generator.begin() }
        try await Task.sleep(for: .seconds(settings.warmup))
        let before = ProcessUse(of: target.processIdentifier)
        let ownBefore = ProcessUse(of: Int(ProcessInfo.processInfo.processIdentifier))
        let began = ContinuousClock.now
        for generator in generators { generator.beginMeasuring() }
        try await Task.sleep(for: .seconds(settings.duration))
        for generator in generators { generator.endMeasuring() }
        let seconds = Samples.seconds(ContinuousClock.now - began)
        let after = ProcessUse(of: target.processIdentifier)
        let ownAfter = ProcessUse(of: Int(ProcessInfo.processInfo.processIdentifier))
        var result = LoadResult(load: load, seconds: seconds)
        for generator in generators { result.add(try await generator.finish()) }
        result.serverCores = ProcessUse.cores(from: before, to: after, seconds: seconds)
        result.ownCores = ProcessUse.cores(from: ownBefore, to: ownAfter, seconds: seconds)
        result.serverMemory = after?.residentBytes
        if let before, let after {
            result.serverTransfers = after.transfers - before.transfers
            result.serverWaits = after.waits - before.waits
        }
        return result
    }
}
