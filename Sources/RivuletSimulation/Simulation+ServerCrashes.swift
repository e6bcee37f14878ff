import RivuletClientCore
import RivuletServerCore
import RivuletWire

/// What ends the server, and what it finds when it starts again.
extension Simulation {
    mutating func crashServer(for time: Int64, losesPower: Bool = false) {
        guard isServerRunning else { return }
        note("the server crashes for \(time) ms")
        totals.crashes += 1
        node = nil
        relay = nil
        isServerRunning = false
        serverGeneration += 1
        // What was on its way to the disk is there or not, but in order.
        let survivors = logFile == nil ? chance.below(pendingAppends.count + 1) : crashLogFile(losesPower)
        loseReports()
        for (_, entries) in pendingAppends.prefix(survivors) { _ = commit(entries, isInFile: true) }
        pendingAppends = []
        for number in links.indices {
            guard let link = links[number], link.isServerOpen else { continue }
            links[number]?.isServerOpen = false
            if link.isClientOpen, !link.isBlackHole {
                queue.add(.clientSeesEnd(link: number), at: now + chance.time(1...2000))
            }
        }
        queue.add(.serverStarts, at: now + time)
    }

    /// Reported keys are written with the next messages; a crash may take those that were not.
    private mutating func loseReports() {
        let lost = chance.below(unsyncedReports.count + 1)
        do {
            for (queue, reader, key) in unsyncedReports.suffix(lost).reversed() {
                try log.setReportedKey(key, of: queue, by: reader)
            }
        } catch {
            ledger.fail(.unknown, "the log failed: \(error)")
        }
        unsyncedReports = []
    }

    /// The copy takes the place of the server's files, after a crash or an orderly end.
    ///
    /// What the server promises then (docs/files.md): it has what the copy has, clients keep what they have, and keys go
    /// on above all that were ever given, which it knows from the file of the last key, or else from its clock.
    mutating func goBackServer(for time: Int64, keepsKeys: Bool) {
        guard let backup = serverBackup else { return }
        if isServerRunning { crashServer(for: time) }
        note("the server goes back to its backup, \(keepsKeys ? "with" : "without") the last key")
        let lastKey = log.lastKey
        // A clock that was set back far enough tells nothing.
        let knowsKeys = keepsKeys || KeyEpoch.start(after: 0, at: wallTime) <= lastKey
        log = backup.log.copy()
        switch settings.bug {
        case .staleLogEpoch: break
        case .epochOfTheCopy: log.beginEpoch(at: WallTime(milliseconds: 0))
        // When nothing was stored since the copy, the last key says that all is well.
        case _ where knowsKeys && lastKey == log.lastKey: break
        default: log.beginEpoch(after: knowsKeys ? lastKey : 0, at: wallTime)
        }
        directory = MemoryMembershipDirectory(backup.memberships)
        ledger.goBackServer(to: backup.books)
        placesOfUUID = [:]
        restoreLogFile(lastKey: knowsKeys ? lastKey : nil)
    }
}
