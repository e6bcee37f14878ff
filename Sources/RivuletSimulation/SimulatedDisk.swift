import RivuletClientCore
import RivuletWire

/// A client's storage with what a crash does to it: a batch is there as a whole or not at all.
struct SimulatedDisk: Sendable {
    var peerKey: Int64?
    var groupKeys: [Int64: Int64] = [:]
    var outbox: [OutboxEntry] = []
    var lastSendID = SendID(rawValue: 0)
    /// The messages that are stored, received or own, by their number.
    var known: Set<Int> = []
    var unread = 0
    /// The greatest key in the queue of a message that came new, for the check of the order.
    var newestReceived: [MessageQueue: Int64] = [:]
    /// How far the check of the keys has come: an index into each queue.
    var verified: [MessageQueue: Int] = [:]

    var restored: RestoredState {
        RestoredState(peerKey: peerKey, groupKeys: groupKeys, outbox: outbox, lastSendID: lastSendID)
    }
}

/// How a message is told apart: its number in this run stands at the end of its content.
enum MessageNumber {
    /// The content of a message; two numbers may share a uuid.
    static func content(number: Int, uuid: String) -> String {
        #"{"uuid":"\#(uuid)","text":"hello","ref":\#(number)}"#
    }

    /// The number in a content; nil when it is none of this run's.
    static func number(in content: String) -> Int? {
        var value = 0
        var scale = 1
        for byte in content.utf8.reversed().dropFirst() {
            guard byte >= 48, byte <= 57, scale < 1_000_000_000_000 else { break }
            value += Int(byte - 48) * scale
            scale *= 10
        }
        return scale > 1 ? value : nil
    }

    static func number(in body: PacketBody) -> Int? {
        guard case .im(let message) = body else { return nil }
        return number(in: message.content)
    }
}
