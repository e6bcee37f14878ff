import Foundation

/// How long things took, in buckets that are at most 3 % wide.
struct LatencyHistogram {
    private static let stepsPerDoubling = 32
    private var counts = [Int](repeating: 0, count: 64 * LatencyHistogram.stepsPerDoubling)
    private(set) var count = 0
    private(set) var longest: UInt64 = 0

    mutating func add(_ nanoseconds: UInt64) {
        counts[Self.bucket(nanoseconds)] += 1
        count += 1
        longest = max(longest, nanoseconds)
    }

    mutating func add(_ other: LatencyHistogram) {
        for index in counts.indices { counts[index] += other.counts[index] }
        count += other.count
        longest = max(longest, other.longest)
    }

    /// The value below which this share lies; 0 without values.
    func milliseconds(at share: Double) -> Double {
        guard count > 0 else { return 0 }
        var left = Int((Double(count) * share).rounded(.up))
        for (index, count) in counts.enumerated() where count > 0 {
            left -= count
            if left <= 0 { return min(Self.upperBound(index), Double(longest)) / 1_000_000 }
        }
        return Double(longest) / 1_000_000
    }

    private static func bucket(_ value: UInt64) -> Int {
        guard value >= UInt64(stepsPerDoubling) else { return Int(value) }
        let exponent = 63 - value.leadingZeroBitCount
        let step = Int((value >> UInt64(exponent - 5)) & UInt64(stepsPerDoubling - 1))
        return (exponent - 4) * stepsPerDoubling + step
    }

    private static func upperBound(_ index: Int) -> Double {
        guard index >= stepsPerDoubling else { return Double(index) }
        let exponent = index / stepsPerDoubling + 4
        let step = index % stepsPerDoubling
        return Double(stepsPerDoubling + step + 1) * pow(2, Double(exponent - 5))
    }
}

/// What a load brought about.
struct LoadResult {
    /// How messages are sent.
    enum Load: Sendable {
        /// The next one leaves when one is acknowledged; so many are under way.
        case depth(Int)
        /// So many leave per second, at times fixed beforehand.
        case rate(Int)
    }

    var load: Load
    var seconds: Double
    var acknowledged = 0
    var delivered = 0
    /// All that were sent, those before and after the measurement included.
    var total = 0
    var errors = 0
    var lost = 0
    var doubled = 0
    var outOfOrder = 0
    /// From the intended moment of sending to the ACK.
    var acknowledgement = LatencyHistogram()
    /// From the intended moment of sending to the receiver.
    var delivery = LatencyHistogram()
    var serverCores: Double?
    var ownCores: Double?
    var serverMemory: Int?
    /// Reads and writes of files and sockets by the server.
    var serverTransfers: Int?
    /// How often a thread of the server waited.
    var serverWaits: Int?

    var acknowledgedPerSecond: Double { Double(acknowledged) / seconds }

    mutating func add(_ tally: LoadTally) {
        acknowledged += tally.acknowledged
        total += tally.total
        delivered += tally.delivered
        errors += tally.errors
        lost += tally.lost
        doubled += tally.doubled
        outOfOrder += tally.outOfOrder
        acknowledgement.add(tally.acknowledgement)
        delivery.add(tally.delivery)
    }
}

/// What one generator counted; the sums over the whole run cover lost, doubled and disordered messages.
struct LoadTally: Sendable {
    var total = 0
    var acknowledged = 0
    var delivered = 0
    var errors = 0
    var lost = 0
    var doubled = 0
    var outOfOrder = 0
    var acknowledgement = LatencyHistogram()
    var delivery = LatencyHistogram()
}

extension BenchmarkReport {
    /// Adds the row of a load and those of its circumstances.
    mutating func add(
        _ result: LoadResult, named name: String, _ settings: ServerBenchmark.Settings, bar: Double?
    ) {
        var parameters = [("users", settings.users), ("size", settings.size), ("seconds", settings.duration)]
        switch result.load {
        case .depth(let depth): parameters.append(("depth", depth))
        case .rate(let rate): parameters.append(("rate", rate))
        }
        func row(
            _ suffix: String, _ value: Double, _ unit: String, _ better: Figure.Better, bar: Double? = nil
        ) {
            add(
                Figure(
                    suite: "server", name: name + suffix, parameters: suffix.isEmpty ? parameters : [],
                    value: value, best: nil, unit: unit, better: better, bar: bar))
        }
        row("", result.acknowledgedPerSecond, "messages/s", .higher, bar: bar)
        row(".delivered", Double(result.delivered) / result.seconds, "messages/s", .higher)
        for (what, histogram) in [("ack", result.acknowledgement), ("receive", result.delivery)] {
            row(".\(what)_p50", histogram.milliseconds(at: 0.5), "ms", .lower)
            row(".\(what)_p90", histogram.milliseconds(at: 0.9), "ms", .lower)
            row(".\(what)_p99", histogram.milliseconds(at: 0.99), "ms", .lower)
            row(".\(what)_max", histogram.milliseconds(at: 1), "ms", .lower)
        }
        row(".errors", Double(result.errors), "connections", .lower)
        row(".lost", Double(result.lost), "messages", .lower)
        row(".doubled", Double(result.doubled), "messages", .lower)
        row(".out_of_order", Double(result.outOfOrder), "messages", .lower)
        if let cores = result.serverCores { row(".server_cpu", cores, "cores", .lower) }
        if let cores = result.ownCores { row(".generator_cpu", cores, "cores", .lower) }
        let messages = Double(max(1, result.acknowledged))
        if let count = result.serverTransfers {
            row(".server_transfers", Double(count) / messages, "calls/message", .lower)
        }
        if let count = result.serverWaits {
            row(".server_waits", Double(count) / messages, "waits/message", .lower)
        }
        if let memory = result.serverMemory {
            row(".server_memory", Double(memory) / 1_048_576, "MiB", .lower)
        }
    }
}

/// What a process has used, from /proc.
struct ProcessUse {
    var cpuSeconds: Double
    var residentBytes: Int
    /// System calls that read or wrote files and sockets.
    var transfers = 0
    /// How often a thread gave up its core to wait.
    var waits = 0

    /// Reads it; nil without a process, or on a system without /proc.
    init?(of processIdentifier: Int?) {
        guard let processIdentifier,
            let stat = try? String(contentsOfFile: "/proc/\(processIdentifier)/stat", encoding: .utf8),
            let status = try? String(contentsOfFile: "/proc/\(processIdentifier)/status", encoding: .utf8)
        else { return nil }
        // The name in parentheses may hold spaces; fields are counted after it: state is the first one.
        let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
            return nil
        }
        cpuSeconds = (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        let kibibytes = line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        residentBytes = kibibytes * 1024
        readCounts(of: processIdentifier)
    }

    private mutating func readCounts(of processIdentifier: Int) {
        let folder = "/proc/\(processIdentifier)"
        transfers = Self.sum(of: ["syscr:", "syscw:"], in: folder + "/io")
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder + "/task")) ?? []
        for thread in threads {
            waits += Self.sum(of: ["voluntary_ctxt_switches:"], in: folder + "/task/\(thread)/status")
        }
    }

    /// The sum of the numbers on the lines with these names; 0 where the file cannot be read.
    private static func sum(of names: [String], in path: String) -> Int {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return 0 }
        return text.split(separator: "\n").reduce(0) { sum, line in
            guard names.contains(where: { line.hasPrefix($0) }) else { return sum }
            return sum + (line.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) } ?? 0)
        }
    }

    /// How many cores were busy between two readings.
    static func cores(from before: ProcessUse?, to after: ProcessUse?, seconds: Double) -> Double? {
        guard let before, let after, seconds > 0 else { return nil }
        return (after.cpuSeconds - before.cpuSeconds) / seconds
    }
}
