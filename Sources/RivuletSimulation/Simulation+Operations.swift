import RivuletClientCore
import RivuletModel
import RivuletServerCore
import RivuletWire

/// Work and faults, done to the world.
extension Simulation {
    mutating func perform(_ operation: Operation) {
        let index = operation.device
        note("#\(operation.number) client \(index): \(operation.kind)")
        if operation.kind.isFault {
            totals.faults += 1
            performFault(operation.kind, on: index)
        } else {
            performWork(operation.kind, on: index)
        }
    }

    private mutating func performWork(_ kind: Operation.Kind, on index: Int) {
        let user = devices[index].user
        switch kind {
        case .sendToUser, .sendBurning, .sendToTwo, .sendToGroup, .sendToCustomer, .sendToRoom, .typing:
            write(kind, on: index)
        case .revoke, .edit, .receipt, .readMark, .burn: actOnMessage(kind, on: index)
        case .enterRoom, .leaveRoom, .ban: changeRoom(kind, on: index)
        case .backUp:
            guard settings.era == .current, devices[index].file == nil else { return }
            devices[index].backup = (devices[index].disk, devices[index].store?.copy())
        case .offline(let time):
            guard devices[index].isRunning else { return }
            feed(index, .enteredBackground)
            queue.add(.toClient(device: index, life: devices[index].life, .enteredForeground), at: now + time)
        case .backUpServer:
            // An empty log that is put back cannot be told from one that was never there.
            guard log.lastKey > 0 else { return }
            serverBackup = (log.copy(), directory.memberships, ledger.books)
            backUpLogFile()
        case .stop(let time):
            guard devices[index].isRunning else { return }
            feed(index, .stopped)
            devices[index].isRunning = false
            queue.add(.launch(device: index, life: devices[index].life), at: now + time)
        case .addMember(let member, let group):
            change(.addMember(GroupID(group), UserID(Int64(member + 1)), .member))
            if ledger.books.members[group]?.insert(member + 1).inserted == true {
                ledger.books.muted[group]?.remove(member + 1)
                if group == Operation.superGroup { ledger.books.joinKeys[member + 1] = log.lastKey }
            }
        case .removeMember(let member, let group):
            let leaving = member % settings.people + 1
            // The owner stays.
            guard leaving != 1 else { return }
            change(.removeMember(GroupID(group), UserID(Int64(leaving))))
            ledger.books.members[group]?.remove(leaving)
        case .mute(let member, let group, let isMuted):
            let changes = change(.muteMember(GroupID(group), UserID(Int64(member + 1)), isMuted))
            guard changes else { return }
            if isMuted {
                ledger.books.muted[group, default: []].insert(member + 1)
            } else {
                ledger.books.muted[group]?.remove(member + 1)
            }
        case .block(let other): setBlocked(other + 1, by: user, true)
        case .unblock(let other): setBlocked(other + 1, by: user, false)
        default: break
        }
    }

    private mutating func setBlocked(_ other: Int, by user: Int, _ isBlocked: Bool) {
        guard other != user else { return }
        change(.setBlocked(by: Account(user: UserID(Int64(user))), UserID(Int64(other)), isBlocked))
        if isBlocked {
            ledger.books.blocked[user, default: []].insert(other)
        } else {
            ledger.books.blocked[user]?.remove(other)
        }
    }

    // MARK: Faults

    private mutating func performFault(_ kind: Operation.Kind, on index: Int) {
        switch kind {
        case .cut:
            for number in openLinks(of: index) {
                guard let link = links[number] else { continue }
                link.cutAt = now + link.chance.time(0...2 * link.latency)
                queue.add(.clientSeesEnd(link: number), at: now + link.chance.time(0...2 * link.latency))
            }
        case .halfOpen:
            for number in openLinks(of: index) { links[number]?.isBlackHole = true }
        case .delay(let delay, let time):
            devices[index].delay = delay
            devices[index].delayUntil = now + time
        case .crashClient(let time): crashClient(index, for: time)
        case .crashServer(let time):
            crashServer(for: time, losesPower: logFile != nil && chance.percent(50))
        case .sleep(let time):
            devices[index].clockAhead += time
            setDeadline(devices[index].deadline, of: index)
        case .serverClockJump(let time):
            wallOffset = min(
                max(wallOffset + time, Self.firstWallTime - Self.clockErrorMax),
                Self.firstWallTime + Self.clockErrorMax)
        case .kick(let time): kick(index, for: time)
        case .slowReader(let time):
            for number in openLinks(of: index) {
                links[number]?.stalledUntil = now + time
                queue.add(.reads(link: number), at: now + time)
            }
        case .fullDisk(let time): devices[index].diskFullUntil = now + time
        case .fullServerDisk(let time): serverDiskFullUntil = now + time
        case .tokenExpires: devices[index].validToken += 1
        case .secondLogin: loginAgain(index)
        case .restoreBackup(let time): goBack(index, for: time)
        case .restoreServerBackup(let time, let keepsKeys): goBackServer(for: time, keepsKeys: keepsKeys)
        default: break
        }
    }

    private func openLinks(of index: Int) -> [Int] {
        devices[index].links.values.filter { links[$0]?.isClientOpen == true }.sorted()
    }

    /// The network changes: a new connection is made while the server still holds the old one.
    private mutating func loginAgain(_ index: Int) {
        for number in openLinks(of: index) {
            links[number]?.isBlackHole = true
            endClientSide(of: number, isTold: true)
        }
    }

    private mutating func kick(_ index: Int, for time: Int64) {
        for number in openLinks(of: index) where links[number]?.isServerOpen == true && isServerRunning {
            // A frame without a body; the servers of this era send none, but clients must understand it.
            sendToClient([0, 0, 0, 0, 0, 0, 0, 1, Command.rst.rawValue, 2, 0, 0], on: number)
        }
        guard devices[index].isRunning else { return }
        queue.add(.restart(device: index, life: devices[index].life), at: now + time)
    }

    mutating func restart(_ index: Int) {
        guard devices[index].isRunning else { return }
        feed(index, .stopped)
        devices[index].isRunning = false
        launch(index)
    }

    /// A real file decides itself what a crash leaves of the batch that it is given.
    private mutating func crashFile(of index: Int) {
        let batch = devices[index].diskFullUntil <= now ? devices[index].pending : nil
        let operations = batch.flatMap { devices[index].store?.operations(of: $0).operations } ?? []
        let count = devices[index].chance.below(14)
        let losesPower = devices[index].chance.percent(50)
        var gained = 0
        withFile(of: index) {
            gained = try $0.crash(during: operations, afterWrites: count, losesPower: losesPower)
        }
        if gained == 1, let batch {
            _ = applyToStore(batch, of: index, apply(batch, of: index), isInFile: true)
        } else if gained < 0 {
            // Commits of a device do not wait for its disk, so the power takes the newest along, as a backup would.
            guard let state = devices[index].states.dropLast(-gained).last else {
                return ledger.fail(.storeDiffers, "client \(index): the file lost \(-gained) transactions")
            }
            note("client \(index) lost \(-gained) transactions with the power")
            goBack(index, to: state)
            devices[index].states.removeLast(-gained)
        }
    }

    private mutating func goBack(_ index: Int, to state: (disk: SimulatedDisk, store: SimulatedStore?)) {
        devices[index].disk = state.disk
        devices[index].store = state.store?.copy()
        devices[index].hasGoneBack = true
        ledger.goBack(index, to: state.disk)
    }

    /// The files of the last backup take the place of what the device has.
    private mutating func goBack(_ index: Int, for time: Int64) {
        guard let backup = devices[index].backup else { return }
        crashClient(index, for: time)
        note("client \(index) goes back to its backup")
        let (peerKey, groupKeys) = (devices[index].disk.peerKey, devices[index].disk.groupKeys)
        goBack(index, to: backup)
        if settings.bug == .backupKeepsKeys {
            devices[index].disk.peerKey = peerKey
            devices[index].disk.groupKeys = groupKeys
        }
    }

    private mutating func crashClient(_ index: Int, for time: Int64) {
        totals.crashes += 1
        for number in openLinks(of: index) {
            links[number]?.isBlackHole = devices[index].chance.percent(30)
            endClientSide(of: number, isTold: false)
        }
        if devices[index].file != nil {
            crashFile(of: index)
        } else if let batch = devices[index].pending, devices[index].diskFullUntil <= now {
            if settings.bug == .tornBatch {
                _ = apply(batch, of: index, onlyKeys: true)
            } else if devices[index].chance.percent(50) {
                note("client \(index): batch \(batch.id) is on the disk all the same")
                let isNew = apply(batch, of: index)
                if devices[index].store != nil { _ = applyToStore(batch, of: index, isNew) }
            }
        }
        devices[index].pending = nil
        devices[index].life += 1
        devices[index].links = [:]
        devices[index].isRunning = false
        devices[index].deadline = nil
        devices[index].newCore()
        devices[index].hasEnteredRoom = false
        ledger.forgetUnstored(of: index, kept: devices[index].disk)
        queue.add(.launch(device: index, life: devices[index].life), at: now + time)
    }
}
