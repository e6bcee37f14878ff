import RivuletClientCore
import RivuletModel
import RivuletStore
import RivuletWire

/// What authors learn of their messages: delivered, told by RT, and read, told by a stored message.
extension Simulation {
    /// Tells the authors of what a batch brought, once it is stored (docs/extensions.md, section 1).
    mutating func reportDelivered(_ batch: StorageBatch, of index: Int) {
        guard settings.changesSuperGroup, settings.era == .current, devices[index].store != nil else {
            return
        }
        let user = devices[index].user
        var names: [Int: [String]] = [:]
        for case .received(let message) in batch.changes {
            guard message.command == .im, let number = MessageNumber.number(in: message.body),
                let sent = ledger[number], sent.content.isText, sent.author != user
            else { continue }
            names[sent.author, default: []].append("\"\(sent.uuid)\"")
        }
        for (author, names) in names.sorted(by: { $0.key < $1.key }) {
            let content = #"{"delivered":{"msgids":[\#(names.joined(separator: ","))]}}"#
            let message = RTMessage(sender: Int64(user), receiver: Int64(author), content: content)
            feed(index, .livePacketRequested(Packet(.rt, .room(message))))
        }
    }

    /// An author's device hears that a device of the reader has messages.
    mutating func takeDelivered(_ message: RTMessage, on index: Int) {
        guard message.content.hasPrefix("{\"delivered\""), let store = devices[index].store else { return }
        let numbers = message.content.split { $0 < "0" || $0 > "9" }.compactMap { Int($0) }
        for number in numbers { ledger.checkDelivered(number, to: Int(message.sender)) }
        let operations = [StoreOperation.deliver(uuids: numbers.compactMap { ledger[$0]?.uuid })]
        do {
            applyToFile(operations, try store.tables.apply(operations), of: index)
            keepState(of: index)
        } catch {
            ledger.fail(.storeDiffers, "client \(index): the store failed: \(error)")
        }
    }

    /// Checks what a device shows of one of its user's messages, when everything has arrived.
    mutating func checkReceipts(
        _ row: AccountTables.ShownMessage, _ number: Int, _ message: Ledger.Sent, on index: Int
    ) {
        guard message.author == devices[index].user, message.content.isText else { return }
        let readers = ledger.readers(of: number, known: devices[index].disk.known)
        var shownReaders = 0
        switch row.state {
        case .read(let count): shownReaders = count
        case .delivered: ledger.checkDelivered(number, to: Int(message.receiver))
        default: break
        }
        if shownReaders != readers.count {
            ledger.fail(
                .receiptWrong,
                "client \(index): message \(number) is read by \(shownReaders) instead of \(readers.count)")
        }
    }

    /// Whether a change brings what the fault that was put in keeps from the store.
    func isForgotten(_ change: StorageChange, on index: Int) -> Bool {
        guard case .received(let message) = change, let number = MessageNumber.number(in: message.body),
            let sent = ledger[number], sent.author != devices[index].user
        else { return false }
        switch sent.content {
        case .receipt: return settings.bug == .receiptForgotten
        case .revoke: return settings.bug == .withdrawalForgotten
        default: return false
        }
    }
}
