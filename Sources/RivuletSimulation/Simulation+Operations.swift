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
        case .sendToUser(let receiver):
            send(from: index, to: [Int64(receiver + 1)], .im)
        case .sendToTwo(let first, let second):
            send(
                from: index,
                to: first == second ? [Int64(first + 1)] : [Int64(first + 1), Int64(second + 1)], .im)
        case .sendToGroup(let group):
            send(from: index, to: [group], .groupIM)
        case .offline(let time):
            guard devices[index].isRunning else { return }
            feed(index, .enteredBackground)
            queue.add(.toClient(device: index, life: devices[index].life, .enteredForeground), at: now + time)
        case .stop(let time):
            guard devices[index].isRunning else { return }
            feed(index, .stopped)
            devices[index].isRunning = false
            queue.add(.launch(device: index, life: devices[index].life), at: now + time)
        case .addMember(let member, let group):
            change(.addMember(GroupID(group), UserID(Int64(member + 1)), .member))
            ledger.members[group]?.insert(member + 1)
        case .removeMember(let member, let group):
            let leaving = member % settings.users + 1
            // The owner stays.
            guard leaving != 1 else { return }
            change(.removeMember(GroupID(group), UserID(Int64(leaving))))
            ledger.members[group]?.remove(leaving)
        case .block(let other): setBlocked(other + 1, by: user, true)
        case .unblock(let other): setBlocked(other + 1, by: user, false)
        default: break
        }
    }

    private mutating func setBlocked(_ other: Int, by user: Int, _ isBlocked: Bool) {
        guard other != user else { return }
        change(.setBlocked(by: Account(user: UserID(Int64(user))), UserID(Int64(other)), isBlocked))
        if isBlocked {
            ledger.blocked[user, default: []].insert(other)
        } else {
            ledger.blocked[user]?.remove(other)
        }
    }

    private mutating func send(from index: Int, to receivers: [Int64], _ command: Command) {
        guard devices[index].isRunning else { return }
        var uuid: String?
        for receiver in receivers {
            let number = ledger.request(
                author: devices[index].user, device: index, receiver: receiver, command: command)
            totals.messages += 1
            let name = uuid ?? "m\(number)"
            uuid = name
            let message = IMMessage(
                sender: Int64(devices[index].user), receiver: receiver,
                msgLocalID: Int32(truncatingIfNeeded: number),
                content: MessageNumber.content(number: number, uuid: name))
            feed(
                index,
                .sendRequested(
                    SendRequest(
                        ticket: SendTicket(rawValue: UInt64(number)), uuid: name, command: command,
                        body: .im(message), flags: .text, createdMilliseconds: wallTime.milliseconds)))
        }
    }

    // MARK: Faults

    private mutating func performFault(_ kind: Operation.Kind, on index: Int) {
        switch kind {
        case .cut:
            for number in openLinks(of: index) { endClientSide(of: number, isTold: true) }
        case .halfOpen:
            for number in openLinks(of: index) { links[number]?.isBlackHole = true }
        case .delay(let delay, let time):
            devices[index].delay = delay
            devices[index].delayUntil = now + time
        case .crashClient(let time): crashClient(index, for: time)
        case .crashServer(let time): crashServer(for: time)
        case .sleep(let time):
            devices[index].clockAhead += time
            setDeadline(devices[index].deadline, of: index)
        case .serverClockJump(let time):
            wallOffset = max(wallOffset + time, Self.firstWallTime - Self.membershipAge / 2)
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
        for number in openLinks(of: index) where links[number]?.isServerOpen == true && node != nil {
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

    private mutating func crashClient(_ index: Int, for time: Int64) {
        totals.crashes += 1
        for number in openLinks(of: index) {
            links[number]?.isBlackHole = devices[index].chance.percent(30)
            endClientSide(of: number, isTold: false)
        }
        if let batch = devices[index].pending, devices[index].diskFullUntil <= now {
            if settings.bug == .tornBatch {
                _ = apply(batch, of: index, onlyKeys: true)
            } else if devices[index].chance.percent(50) {
                note("client \(index): batch \(batch.id) is on the disk all the same")
                _ = apply(batch, of: index)
            }
        }
        devices[index].pending = nil
        devices[index].life += 1
        devices[index].links = [:]
        devices[index].isRunning = false
        devices[index].deadline = nil
        devices[index].newCore()
        ledger.forgetUnstored(of: index, kept: devices[index].disk)
        queue.add(.launch(device: index, life: devices[index].life), at: now + time)
    }
}
