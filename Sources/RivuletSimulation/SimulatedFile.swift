package import RivuletModel
package import RivuletStore
import RivuletWire

/// A file that does what a device's tables do, so that a test can run a world over real disks that fail.
///
/// The simulation itself opens no file: who runs it hands in the files, one for each device.
package protocol SimulatedFile: AnyObject {
    /// Applies operations as one transaction.
    func apply(_ operations: [StoreOperation]) throws -> [StoreOutcome]

    /// Tries to apply operations while the disk is full; answers whether anything of them stayed.
    func applyOnFullDisk(_ operations: [StoreOperation]) throws -> Bool

    /// The program dies, or the power fails, while it applies these, after so many writes, and opens the file anew.
    ///
    /// Answers how many transactions the file has more than before: 1 when these are there, 0 when not, and less when
    /// the power took earlier ones along.
    func crash(during operations: [StoreOperation], afterWrites count: Int, losesPower: Bool) throws -> Int

    /// What a client needs to go on.
    func clientState() throws -> StoredClientState

    /// Whether the file says the same as the tables, and is sound.
    func check(against tables: AccountTables) throws -> String?
}

extension Simulation {
    /// Runs a world of which each device keeps a file beside the real store's tables, and the server one beside its log.
    package static func run(
        _ settings: SimulationSettings, log: (any SimulatedLogFile)? = nil,
        files: (UserID) throws -> any SimulatedFile
    ) rethrows -> SimulationResult {
        var settings = settings
        settings.hasStore = true
        settings.profile = .current
        var simulation = Simulation(settings, isTracing: false)
        simulation.logFile = log
        simulation.setUp()
        for device in simulation.devices {
            device.file = try files(UserID(Int64(device.user)))
            // What the tables begin with.
            guard let state = device.store?.tables.clientState else { continue }
            let keys = state.groupKeys.map { StoreOperation.setKey(group: $0.key, key: $0.value) }
            simulation.withFile(of: device.index) { _ = try $0.apply(keys) }
            simulation.keepState(of: device.index)
        }
        simulation.runToEnd()
        simulation.checkLogFile()
        for device in simulation.devices {
            guard let tables = device.store?.tables else { continue }
            simulation.withFile(of: device.index) { [index = device.index] file in
                if let difference = try file.check(against: tables) {
                    throw SimulatedFileError(description: "client \(index): \(difference)")
                }
            }
        }
        return simulation.result
    }

    /// Does something with a device's file, if it has one; what goes wrong breaks the rule of the store.
    mutating func withFile(of index: Int, _ body: (any SimulatedFile) throws -> Void) {
        guard let file = devices[index].file else { return }
        do {
            try body(file)
        } catch {
            ledger.fail(.storeDiffers, "client \(index): the file: \(error)")
        }
    }

    /// Keeps what a device has, for the case that the power takes later transactions of its file.
    mutating func keepState(of index: Int) {
        guard devices[index].file != nil else { return }
        devices[index].states.append((devices[index].disk, devices[index].store?.copy()))
    }

    /// Compares what the file answers with what the tables answered.
    mutating func applyToFile(
        _ operations: [StoreOperation], _ outcomes: [StoreOutcome], of index: Int
    ) {
        withFile(of: index) { file in
            let answered = try file.apply(operations)
            guard answered == outcomes else {
                throw SimulatedFileError(description: "the outcomes are \(answered) instead of \(outcomes)")
            }
        }
    }
}

/// What a file did wrong.
struct SimulatedFileError: Error, CustomStringConvertible {
    let description: String
}
