import RivuletClientCore
import RivuletServerCore
import RivuletWire

/// The network: bytes on their way, cut anywhere, late, or lost with the link that carried them.
extension Simulation {
    mutating func connect(_ index: Int, _ epoch: UInt64) {
        let number = links.count
        devices[index].linkSerial += 1
        var chance = Chance(settings.seed, 1000 + index, devices[index].linkSerial)
        let latency = chance.time(2...80)
        links.append(
            SimulatedLink(
                device: index, life: devices[index].life, epoch: epoch, chance: chance, latency: latency,
                profile: settings.era))
        devices[index].links[epoch] = number
        devices[index].latestEpoch = epoch
        queue.add(.opens(link: number), at: now + 2 * latency)
    }

    mutating func open(_ number: Int) {
        guard let link = links[number], link.isClientOpen, !link.isBlackHole else { return }
        guard isServerRunning else { return endClientSide(of: number, isTold: true) }
        link.isServerOpen = true
        tellNode([.opened(ConnectionID(rawValue: UInt64(number)))])
        queue.add(
            .toClient(
                device: link.device, life: link.life, .opened(ConnectionEpoch(rawValue: link.epoch))), at: now
        )
    }

    private func extraDelay(_ index: Int) -> Int64 {
        devices[index].delayUntil > now ? devices[index].delay : 0
    }

    mutating func sendToServer(_ bytes: [UInt8], on number: Int) {
        guard let link = links[number], link.isClientOpen, link.isServerOpen, !link.isBlackHole else {
            return
        }
        let delay = link.latency + link.chance.time(0...10) + extraDelay(link.device)
        var time = max(link.lastToServer, now + delay)
        for part in split(bytes, &link.chance) {
            queue.add(.toServer(link: number, part), at: time)
            link.lastToServer = time
            time += link.chance.time(0...30)
        }
    }

    mutating func sendToClient(_ bytes: [UInt8], on number: Int) {
        guard let link = links[number], link.isServerOpen else { return }
        link.unread += bytes.count
        guard link.isClientOpen, !link.isBlackHole else { return }
        let delay = link.latency + link.chance.time(0...10) + extraDelay(link.device)
        var time = max(link.lastToClient, now + delay)
        for part in split(bytes, &link.chance) {
            queue.add(.fromServer(link: number, part), at: time)
            link.lastToClient = time
            time += link.chance.time(0...30)
        }
    }

    /// Cuts bytes at any place, now and then.
    private func split(_ bytes: [UInt8], _ chance: inout Chance) -> [[UInt8]] {
        guard bytes.count > 1, chance.percent(15) else { return [bytes] }
        let place = 1 + chance.below(bytes.count - 1)
        return [Array(bytes[..<place]), Array(bytes[place...])]
    }

    mutating func clientReceives(_ bytes: [UInt8], on number: Int) {
        guard let link = links[number] else { return }
        let device = devices[link.device]
        var epoch = link.epoch
        if !link.isClientOpen || link.isBlackHole || device.life != link.life {
            // What a closed link still carries is nobody's, unless the client mistakes it for its own.
            guard settings.bug == .staleEpoch, device.life == link.life else { return }
            epoch = device.latestEpoch
        }
        guard link.isReading, link.stalledUntil <= now, link.held.isEmpty else {
            links[number]?.held.append(bytes)
            return
        }
        deliver(bytes, on: number, epoch)
    }

    mutating func resumeReading(_ number: Int) {
        while let link = links[number], link.isClientOpen, !link.isBlackHole, link.isReading,
            link.stalledUntil <= now, let bytes = link.held.first
        {
            links[number]?.held.removeFirst()
            deliver(bytes, on: number, link.epoch)
        }
    }

    private mutating func deliver(_ bytes: [UInt8], on number: Int, _ epoch: UInt64) {
        guard let link = links[number] else { return }
        links[number]?.unread -= bytes.count
        if devices[link.device].life == link.life {
            feed(link.device, .received(ConnectionEpoch(rawValue: epoch), bytes))
        }
        flush(number)
    }

    // MARK: Ends

    /// The client's side is gone: closed by the client, or by the network and told to it.
    mutating func endClientSide(of number: Int, isTold: Bool) {
        guard let link = links[number], link.isClientOpen else { return }
        links[number]?.isClientOpen = false
        if isTold, devices[link.device].life == link.life {
            queue.add(
                .toClient(
                    device: link.device, life: link.life,
                    .closed(ConnectionEpoch(rawValue: link.epoch), .endOfStream)), at: now)
        }
        if link.isServerOpen {
            // Through a dead network the server hears nothing and goes by its own time-out.
            let delay = link.isBlackHole ? 360_000 : link.latency
            queue.add(.serverSeesEnd(link: number), at: max(now + delay, link.lastToServer))
        } else {
            removeLater(number)
        }
    }

    mutating func endServerSide(of number: Int) {
        guard let link = links[number], link.isServerOpen else { return }
        links[number]?.isServerOpen = false
        tellNode([.closed(ConnectionID(rawValue: UInt64(number)))])
        if !link.isClientOpen { removeLater(number) }
    }

    /// The server closes: what it wrote before arrives first.
    mutating func closeFromServer(_ number: Int) {
        guard let link = links[number], link.isServerOpen else { return }
        note("the server closes link \(number)")
        endServerSide(of: number)
        guard link.isClientOpen, !link.isBlackHole else { return }
        queue.add(.clientSeesEnd(link: number), at: max(now + link.latency, link.lastToClient))
    }

    private mutating func removeLater(_ number: Int) {
        guard let link = links[number] else { return }
        if settings.bug != .staleEpoch || link.lastToClient <= now { links[number] = nil }
        if devices[link.device].links[link.epoch] == number, devices[link.device].life == link.life {
            devices[link.device].links[link.epoch] = nil
        }
    }
}
