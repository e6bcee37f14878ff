import RivuletClientCore
import RivuletModel
import RivuletServerCore

/// What must hold when work and faults are over and everything had time.
extension Simulation {
    mutating func checkRest() {
        for index in devices.indices where !devices[index].isAbsent {
            checkQuiet(index)
            checkMessages(of: index)
        }
        checkFates()
        checkLog()
    }

    private mutating func checkQuiet(_ index: Int) {
        let device = devices[index]
        if !device.core.isOnline { ledger.fail(.restless, "client \(index) is not online") }
        if device.lastRealTrafficAt > now - Self.silenceMilliseconds {
            ledger.fail(.restless, "client \(index) still sent something at \(device.lastRealTrafficAt) ms")
        }
        if !device.disk.outbox.isEmpty {
            ledger.fail(.noFate, "client \(index) has \(device.disk.outbox.count) messages in its outbox")
        }
    }

    private mutating func checkMessages(of index: Int) {
        let device = devices[index]
        for queue in [MessageQueue.peer, .group(Operation.superGroup)] {
            let contents = ledger.queues[Ledger.queueID(queue, user: device.user)]
            for place in contents?.places ?? [] where !device.disk.known.contains(place.number) {
                ledger.fail(
                    .lost,
                    "client \(index) of user \(device.user) lacks message \(place.number), key \(place.key)")
            }
        }
        let unread = device.disk.known.count { ledger[$0]?.author != device.user }
        if unread != device.disk.unread {
            ledger.fail(
                .unreadWrong, "client \(index) counts \(device.disk.unread) unread instead of \(unread)")
        }
    }

    private mutating func checkFates() {
        for (index, message) in ledger.sent.enumerated() {
            switch message.fate {
            case .acknowledged where !message.isStored:
                ledger.fail(.lost, "message \(index + 1) was acknowledged and is not in the log")
            case .refused where message.isStored && !message.isLateRefusal:
                ledger.fail(.refusedButStored, "message \(index + 1)")
            case .requested, .queued:
                ledger.fail(.noFate, "message \(index + 1) of client \(message.device)")
            case .failed(let reason) where reason != 0:
                ledger.fail(
                    .noFate, "client \(message.device) gave up message \(index + 1), reason \(reason)")
            default: break
            }
        }
    }

    /// The log itself against the book of what it committed.
    private mutating func checkLog() {
        for user in 1...max(1, settings.users) {
            for queue in [MessageQueue.peer, .group(Operation.superGroup)] {
                let id = Ledger.queueID(queue, user: user)
                let expected = ledger.queues[id]?.places ?? []
                do {
                    let limit = PageLimit(countMax: .max, bytesMax: .max)
                    let slice = try log.messages(in: id, after: 0, limit: limit)
                    let isEqual =
                        slice.messages.count == expected.count
                        && zip(slice.messages, expected).allSatisfy {
                            $0.key == $1.key && MessageNumber.number(in: $0.content) == $1.number
                        }
                    if !isEqual { ledger.fail(.lost, "the log of \(id) is not what was committed") }
                } catch {
                    ledger.fail(.unknown, "the log failed: \(error)")
                }
            }
        }
    }
}
