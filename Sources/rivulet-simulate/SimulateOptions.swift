import RivuletArguments
import RivuletSimulation
import RivuletWire

/// What the program was called with.
struct SimulateOptions {
    var settings: SimulationSettings
    var seeds: Int
    var isTracing: Bool
    var isJSON: Bool
    var isShrinking: Bool
    var jobs: Int
    var progressPath: String?

    init(_ arguments: Arguments) throws {
        settings = SimulationSettings(
            seed: UInt64(bitPattern: Int64(try arguments.required("--seed", as: Int.self))))
        seeds = try Self.number("--seeds", 1...1_000_000_000, arguments)
        settings.clients = try Self.number("--clients", 1...10_000, arguments)
        settings.faultsPerHour = try Self.number("--faults-per-hour", 0...1_000_000, arguments)
        settings.messagesPerHour = try Self.number("--messages-per-hour", 0...1_000_000, arguments)
        let hours: Double = try arguments.required("--hours")
        guard hours > 0, hours <= 100_000 else {
            throw arguments.usageError("--hours must be above 0 and at most 100000")
        }
        // Rounded, so that the hours that a replay names give the same time again.
        settings.milliseconds = max(1, Int64((hours * 3_600_000).rounded()))
        if let name = arguments.string("--bug") {
            guard let bug = SimulationBug(rawValue: name) else {
                throw arguments.usageError("there is no bug '\(name)'; '--bug list' names them")
            }
            settings.bug = bug
        }
        switch arguments.string("--profile") {
        case "seed": settings.profile = .seed
        case "current": settings.profile = .current
        case nil: break
        case let other?: throw arguments.usageError("there is no profile '\(other)'; it is seed or current")
        }
        switch arguments.string("--store") {
        case "yes": settings.hasStore = true
        case "no": settings.hasStore = false
        case nil: break
        case let other?: throw arguments.usageError("--store is yes or no, not '\(other)'")
        }
        jobs = try Self.number("--jobs", 1...256, arguments)
        progressPath = arguments.string("--resume")
        settings.kept = try Self.list("--keep", arguments)
        let clients = 0..<settings.clients
        settings.absent = Set((try Self.list("--without", arguments) ?? []).filter { clients.contains($0) })
        isTracing = arguments.flag("--trace")
        if isTracing, seeds > 1 { throw arguments.usageError("--trace is for one seed") }
        isJSON = arguments.flag("--json")
        isShrinking = !arguments.flag("--no-shrink") && settings.kept == nil
    }

    private static func number(
        _ name: String, _ range: ClosedRange<Int>, _ arguments: Arguments
    ) throws -> Int {
        let value: Int = try arguments.required(name)
        guard range.contains(value) else {
            throw arguments.usageError("\(name) must be from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    private static func list(_ name: String, _ arguments: Arguments) throws -> [Int]? {
        guard let text = arguments.string(name) else { return nil }
        return try text.split(separator: ",").map { part in
            guard let number = Int(part) else {
                throw arguments.usageError("'\(part)' in \(name) is not a whole number")
            }
            return number
        }
    }
}
