import RivuletClientCore
import RivuletModel
import RivuletServerCore
import RivuletWire

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
        for queue in ledger.queueIDs(of: device.user) {
            for place in ledger.books.queues[queue]?.places ?? []
            where !device.disk.known.contains(place.number) && ledger[place.number]?.wasBurned != true
                && ledger.isDue(place, in: queue, to: device.user)
            {
                ledger.fail(
                    .lost,
                    "client \(index) of user \(device.user) lacks message \(place.number), key \(place.key)")
            }
        }
        let unread = ledger.expectedUnread(of: device.user, known: device.disk.known)
        if let unread, unread != device.disk.unread.count, !device.hasLocalMarks {
            ledger.fail(
                .unreadWrong,
                "client \(index) counts \(device.disk.unread.count) unread instead of \(unread)")
        }
        checkStore(of: index)
    }

    private mutating func checkFates() {
        for (index, message) in ledger.sent.enumerated() {
            switch message.fate {
            case .acknowledged where !message.isOnServer && !message.isDropped && message.command != .roomIM:
                // What the log lost with its files was acknowledged before that.
                guard message.isTakenBack, message.toldAt < message.takenBackAt + Self.answerMilliseconds
                else {
                    ledger.fail(.lost, "message \(index + 1) was acknowledged and is not in the log")
                    continue
                }
            case .refused where message.isOnServer:
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
        let limit = PageLimit(countMax: .max, bytesMax: .max)
        // In a fixed order, so that a replay says the same.
        for id in ledger.allQueueIDs {
            let expected = (ledger.books.queues[id]?.places ?? []).filter {
                ledger[$0.number]?.isBurned != true
            }
            do {
                let slice = try log.messages(in: id, after: 0, limit: limit)
                let isEqual =
                    slice.messages.count == expected.count
                    && zip(slice.messages, expected).allSatisfy {
                        $0.key == $1.key && MessageNumber.number(in: $0.content) == $1.number
                    }
                if !isEqual {
                    ledger.fail(.lost, "\(TraceWords.queue(id)) in the log is not what was committed")
                }
            } catch {
                ledger.fail(.unknown, "the log failed: \(error)")
            }
        }
    }
}
