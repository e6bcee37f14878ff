import Foundation

/// What a message costs the server in system calls and allocations, and how its speed changes with what it holds.
enum CostBenchmark {
    static func run(
        _ settings: ServerBenchmark.Settings, wanted: (String) -> Bool, _ report: inout BenchmarkReport
    ) async throws {
        if wanted("server.peer.syscalls") { try await measureCalls(settings, &report) }
        if wanted("server.peer.allocations") { try await measureAllocations(settings, &report) }
        if wanted("server.growth.users") { try await measureUsers(settings, &report) }
        if wanted("server.growth.stored") { try await measureStored(settings, &report) }
    }

    // MARK: Costs of a message

    /// Counts with `perf`, which sees every call of every thread; without it nothing is printed.
    private static func measureCalls(
        _ settings: ServerBenchmark.Settings, _ report: inout BenchmarkReport
    ) async throws {
        for depth in [1, 16] {
            let target = try BenchmarkServer(settings)
            defer { target.stop() }
            guard let process = target.processIdentifier, let counter = SystemCallCounter(process) else {
                return
            }
            let result = try await ServerBenchmark.measure(.depth(depth), settings, target)
            // It also counts the warm-up and the logins, so all messages that were stored count, too.
            let calls: Int
            do {
                calls = try counter.finish()
            } catch {
                FileHandle.standardError.write(Data("rivulet-bench: \(error)\n".utf8))
                continue
            }
            add(
                "server.peer.syscalls", [("depth", depth)], Double(calls) / Double(max(1, result.total)),
                "calls/message", .lower, &report)
        }
    }

    private static func measureAllocations(
        _ settings: ServerBenchmark.Settings, _ report: inout BenchmarkReport
    ) async throws {
        for depth in [1, 16] {
            let target = try BenchmarkServer(settings, .counted)
            defer { target.stop() }
            let before = try target.allocationCount()
            let result = try await ServerBenchmark.measure(.depth(depth), settings, target)
            let count = try target.allocationCount() - before
            add(
                "server.peer.allocations", [("depth", depth)], Double(count) / Double(max(1, result.total)),
                "blocks/message", .lower, &report)
        }
    }

    // MARK: Growth

    private static func measureUsers(
        _ settings: ServerBenchmark.Settings, _ report: inout BenchmarkReport
    ) async throws {
        for users in [100, 500, 2000, 8000] {
            var settings = settings
            settings.users = users
            settings.accountsMin = users
            let target = try BenchmarkServer(settings)
            defer { target.stop() }
            let result = try await ServerBenchmark.measure(.depth(2), settings, target)
            addGrowth("server.growth.users", ("users", users), result, &report)
        }
    }

    /// One server that is never emptied: each row is measured with more messages stored than the one before.
    private static func measureStored(
        _ settings: ServerBenchmark.Settings, _ report: inout BenchmarkReport
    ) async throws {
        let target = try BenchmarkServer(settings)
        defer { target.stop() }
        var stored = 0
        var next = 0
        while next <= settings.stored {
            let result = try await ServerBenchmark.measure(.depth(16), settings, target)
            if stored >= next {
                addGrowth("server.growth.stored", ("stored", stored), result, &report)
                next = max(500_000, next * 2)
            }
            stored += result.total
        }
    }

    private static func addGrowth(
        _ name: String, _ parameter: (String, Int), _ result: LoadResult, _ report: inout BenchmarkReport
    ) {
        add(name, [parameter], result.acknowledgedPerSecond, "messages/s", .higher, &report)
        add(
            name + ".ack_p99", [parameter], result.acknowledgement.milliseconds(at: 0.99), "ms", .lower,
            &report)
        if let memory = result.serverMemory {
            add(name + ".memory", [parameter], Double(memory) / 1_048_576, "MiB", .lower, &report)
        }
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

/// Counts all system calls of a process with the program `perf`.
private final class SystemCallCounter {
    private let process = Process()
    private let output = Pipe()

    /// Begins; nil where `perf` is not installed.
    init?(_ processIdentifier: Int) {
        guard
            let path = ["/usr/bin/perf", "/usr/local/bin/perf"].first(
                where: FileManager.default.isExecutableFile)
        else { return nil }
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = ["stat", "-x", ",", "-e", "raw_syscalls:sys_enter", "-p", "\(processIdentifier)"]
        process.standardError = output
        // A program inherits what the thread that starts it blocks, on threads of Dispatch nearly every signal: it would
        // never hear that it is to end.
        var (none, blocked) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &blocked)
        defer { pthread_sigmask(SIG_SETMASK, &blocked, nil) }
        guard (try? process.run()) != nil else { return nil }
    }

    /// Ends, and answers the number of calls.
    ///
    /// - Throws: `LoadError` with what `perf` said instead.
    func finish() throws -> Int {
        process.interrupt()
        let identifier = process.processIdentifier
        let bound = DispatchWorkItem { kill(identifier, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + 10, execute: bound)
        defer { bound.cancel() }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let line = text.split(separator: "\n").first { $0.contains("raw_syscalls") }
        guard let count = line?.split(separator: ",").first.flatMap({ Int($0) }) else {
            throw LoadError(description: "perf counted no system calls: '\(text)'")
        }
        return count
    }
}
