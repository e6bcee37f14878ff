import Foundation
import RivuletArguments
import RivuletSimulation
import RivuletWire

/// The program `rivulet-simulate`: runs worlds, one per seed, and makes the first one that breaks a rule small.
enum SimulateProgram {
    static let command = CommandSpec(
        "rivulet-simulate", summary: "Runs many clients and a server in a simulated world of faults.",
        discussion: """
            Clients and server are the real cores; network, disks and clocks are simulated, and everything follows \
            from the seed. After each event it is checked that no message is lost, doubled, out of order or in wrong \
            hands, and at the end that everything came to rest.

            When a rule is broken, the run is made smaller, its trace is printed, and a command that replays it, \
            on any machine, with the same version. The exit status is then 1. To see one, put a fault in: \
            'rivulet-simulate --bug lost-notify'. Ctrl-C ends after the seeds at hand with the totals so far.
            """,
        version: "0.1.0",
        options: [
            Option("--seed", value: "N", default: "1", help: "The first seed."),
            Option("--seeds", value: "N", default: "1", help: "How many seeds to run."),
            Option(
                "--clients", value: "N", default: "6", help: "Client programs; every two belong to one user."),
            Option(
                "--hours", value: "H", default: "1", help: "Simulated hours of work and faults for each seed."
            ),
            Option("--faults-per-hour", value: "N", default: "30", help: "Faults in a simulated hour."),
            Option(
                "--messages-per-hour", value: "N", default: "80", help: "What each client does in an hour."),
            Option(
                "--profile", value: "ERA",
                help: "current or seed; by default every fourth seed is of the first."),
            Option(
                "--store", value: "WORD",
                help: "yes or no: whether devices keep the real store; by default some."),
            Option("--jobs", value: "N", default: "1", help: "How many seeds run at a time."),
            Option(
                "--resume", value: "FILE",
                help: "Keeps the progress of a long series there, and goes on with it."),
            Option("--bug", value: "NAME", help: "Puts a fault in on purpose; 'list' names them."),
            Option(
                "--keep", value: "LIST", help: "Does only these operations, by number, with commas between."),
            Option(
                "--without", value: "LIST", help: "Leaves out these clients, from 0, with commas between."),
            Option("--trace", help: "Prints everything that happens; for one seed."),
            Option("--no-shrink", help: "Does not make a run that breaks a rule smaller."),
            Option("--json", help: "Prints the speed as a line of JSON, like rivulet-bench."),
        ])

    /// Answers the exit status: 0 when all rules held, 1 when one was broken, 2 for bad usage.
    static func run(_ words: [String], _ environment: [String: String]) -> Int32 {
        switch command.parse(words, environment: environment) {
        case .print(let text):
            emit(text)
            return 0
        case .refuse(let text):
            emit(text, to: .standardError)
            return 2
        case .run(let arguments):
            do {
                if arguments.string("--bug") == "list" {
                    for bug in SimulationBug.allCases { emit(bug.rawValue) }
                    return 0
                }
                return simulate(try SimulateOptions(arguments))
            } catch {
                emit("\(error)", to: .standardError)
                return 2
            }
        }
    }

    private static func simulate(_ options: SimulateOptions) -> Int32 {
        if options.isTracing { return trace(options) }
        let began = clock()
        let start = SimulationProgress(settings: options.settings)
        var progress = start
        if let path = options.progressPath, let data = FileManager.default.contents(atPath: path) {
            let text = String(bytes: data, encoding: .utf8) ?? ""
            guard let kept = SimulationProgress(text: text, settings: options.settings) else {
                emit("\(path) is not the progress of this series; name another file.", to: .standardError)
                return 2
            }
            progress = kept
        }
        let before = progress.totals.events
        let interruption = Interruption()
        defer { withExtendedLifetime(interruption) {} }
        let series = SeedSeries(
            progress, count: options.seeds, path: options.progressPath, isInterrupted: interruption.check)
        let (end, broken) = series.run(jobs: options.jobs)
        let seconds = Double(clock() - began) / Double(CLOCKS_PER_SEC)
        if let broken, let violation = broken.result.violation {
            var settings = options.settings
            settings.seed &+= UInt64(broken.offset)
            explain(violation, settings, options)
        }
        if let failure = series.saveFailure { emit(failure, to: .standardError) }
        var speed = Speed(events: end.totals.events - before, seconds: seconds)
        if let broken { speed.events += broken.result.totals.events }
        emit(
            options.isJSON
                ? json(end.totals, end.doneCount, options, speed)
                : (broken == nil ? "" : "before it: ") + summary(end.totals, end.doneCount, options, speed))
        return broken == nil ? 0 : 1
    }

    private static func trace(_ options: SimulateOptions) -> Int32 {
        let began = clock()
        let result = Simulation.run(options.settings, isTracing: true)
        let seconds = Double(clock() - began) / Double(CLOCKS_PER_SEC)
        for line in result.trace { emit(line) }
        emit("fingerprint \(String(result.fingerprint, radix: 16))")
        if let violation = result.violation { explain(violation, options.settings, options) }
        emit(summary(result.totals, 1, options, Speed(events: result.totals.events, seconds: seconds)))
        return result.violation == nil ? 0 : 1
    }

    /// What this run of the program did, without what an earlier one had done already.
    private struct Speed {
        var events: Int
        var seconds: Double

        var eventsPerSecond: Double { Double(events) / max(seconds, 0.001) }
    }

    private static func explain(
        _ violation: SimulationViolation, _ settings: SimulationSettings, _ options: SimulateOptions
    ) {
        let handle: FileHandle = options.isJSON ? .standardError : .standardOutput
        emit("seed \(settings.seed): \(violation)", to: handle)
        guard options.isShrinking else { return emit("replay: \(replay(settings))", to: handle) }
        let small = Shrinker(settings, violation)
        if !options.isTracing {
            for line in Simulation.run(small.settings, isTracing: true).trace.suffix(400) {
                emit(line, to: handle)
            }
        }
        let kept = Set(small.settings.kept ?? [])
        emit("made small in \(small.runs) runs; what is left of the plan:", to: handle)
        for step in Simulation.plan(of: small.settings) where kept.contains(step.number) {
            emit("  #\(step.number) \(step.description)", to: handle)
        }
        emit("\(small.violation)", to: handle)
        emit("replay: \(replay(small.settings))", to: handle)
    }

    private static func replay(_ settings: SimulationSettings) -> String {
        var words = [
            "\(CommandLine.arguments.first ?? "rivulet-simulate") --seed \(settings.seed) --clients \(settings.clients)",
            "--hours \(Double(settings.milliseconds) / 3_600_000) --faults-per-hour \(settings.faultsPerHour)",
            "--messages-per-hour \(settings.messagesPerHour)",
        ]
        if let profile = settings.profile {
            words.append("--profile \(profile == .seed ? "seed" : "current")")
        }
        if let hasStore = settings.hasStore { words.append("--store \(hasStore ? "yes" : "no")") }
        if let bug = settings.bug { words.append("--bug \(bug.rawValue)") }
        if let kept = settings.kept { words.append("--keep \(list(kept.isEmpty ? [-1] : kept))") }
        if !settings.absent.isEmpty { words.append("--without \(list(settings.absent.sorted()))") }
        return words.joined(separator: " ") + " --trace"
    }

    private static func list(_ numbers: [Int]) -> String {
        numbers.map(String.init).joined(separator: ",")
    }

    private static func summary(
        _ totals: SimulationTotals, _ seeds: Int, _ options: SimulateOptions, _ speed: Speed
    ) -> String {
        let hours = Double(totals.milliseconds) / 3_600_000
        let clientHours = Double(totals.clientMilliseconds) / 3_600_000
        return """
            \(seeds) seeds from \(options.settings.seed), \(options.settings.clients) clients each: \
            \(totals.messages) messages, \(totals.stored) stored, \(totals.faults) faults, \(totals.crashes) crashes
            \(format(hours, 1)) hours simulated, \(format(clientHours, 1)) client-hours; \
            \(format(Double(totals.messages) / max(clientHours * 60, 0.001), 2)) messages in a client-minute, \
            \(format(Double(totals.faults) / max(hours, 0.001), 1)) faults in an hour
            \(totals.events) events, \(speed.events) of them now in \(format(speed.seconds, 2)) s of processor time: \
            \(format(speed.eventsPerSecond, 0)) per second and core
            """
    }

    private static func format(_ number: Double, _ digits: Int) -> String {
        String(format: "%.\(digits)f", number)
    }

    private static func json(
        _ totals: SimulationTotals, _ seeds: Int, _ options: SimulateOptions, _ speed: Speed
    ) -> String {
        let value = speed.eventsPerSecond
        let parameters = [
            ("seed", Int(clamping: options.settings.seed)), ("seeds", seeds),
            ("clients", options.settings.clients), ("faults_per_hour", options.settings.faultsPerHour),
            ("messages", totals.messages), ("faults", totals.faults), ("crashes", totals.crashes),
            ("client_hours", Int(totals.clientMilliseconds / 3_600_000)),
        ]
        let members = parameters.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",")
        return """
            {"suite":"simulate","name":"simulate.events","parameters":{\(members)},\
            "value":\(String(format: "%.6g", value)),"unit":"events/s","better":"higher","bar":100000,\
            "met":\(value >= 100_000)}
            """
    }

    static func emit(_ text: String, to handle: FileHandle = .standardOutput) {
        do {
            try handle.write(contentsOf: Data((text.hasSuffix("\n") ? text : text + "\n").utf8))
        } catch {
            // Nobody reads what the program says; its status still tells how it went.
        }
    }
}
