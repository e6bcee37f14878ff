import RivuletClientCore
import RivuletModel
import RivuletServerCore
import RivuletWire

/// What users write, and what they do to messages.
extension Simulation {
    mutating func write(_ kind: Operation.Kind, on index: Int) {
        guard devices[index].isRunning else { return }
        switch kind {
        case .sendToUser(let receiver): send(.text, from: index, to: Int64(receiver + 1), .im)
        case .sendBurning(let receiver): send(.burning, from: index, to: Int64(receiver + 1), .im)
        case .sendToTwo(let first, let second):
            let uuid = send(.text, from: index, to: Int64(first + 1), .im)
            guard first != second else { return }
            // A store takes two messages with one uuid for the same, as the described databases do.
            send(.text, from: index, to: Int64(second + 1), .im, uuid: settings.usesStore ? nil : uuid)
        case .sendToGroup(let group): send(.text, from: index, to: group, .groupIM)
        case .sendToCustomer(let receiver): send(.text, from: index, to: Int64(receiver + 1), .customerV2)
        case .sendToRoom: sendToRoom(from: index)
        case .typing(let receiver): type(on: index, to: Int64(receiver + 1))
        default: break
        }
    }

    /// Sends, and answers the message's uuid.
    @discardableResult
    private mutating func send(
        _ content: SimulatedContent, from index: Int, to receiver: Int64, _ command: Command,
        uuid: String? = nil
    ) -> String {
        // Customers write to people in the first era, which has other commands for them.
        let command = command == .customerV2 && settings.staff == nil ? .im : command
        let user = devices[index].user
        let number = ledger.request(
            Ledger.Sent(author: user, device: index, receiver: receiver, command: command, content: content),
            uuid: uuid)
        totals.messages += 1
        let name = ledger[number]?.uuid ?? ""
        let target = content.target.flatMap { ledger[$0] }
        let json = content.json(
            number: number, uuid: name, target: target?.uuid ?? "",
            session: target.map { session(of: $0, for: user) } ?? ("", 0))
        let body: PacketBody =
            command == .customerV2
            ? .customerV2(
                CustomerMessageV2(
                    senderAppID: devices[index].app, sender: Int64(user),
                    receiverAppID: settings.account(of: Int(receiver)).app, receiver: receiver, content: json)
            )
            : .im(
                IMMessage(
                    sender: Int64(user), receiver: receiver, msgLocalID: Int32(truncatingIfNeeded: number),
                    content: json))
        feed(
            index,
            .sendRequested(
                SendRequest(
                    ticket: SendTicket(rawValue: UInt64(number)), uuid: name, command: command, body: body,
                    flags: .text, createdMilliseconds: wallTime.milliseconds)))
        return name
    }

    private func session(of message: Ledger.Sent, for user: Int) -> (kind: String, id: Int64) {
        switch ledger.conversation(of: message, for: user) {
        case .user(let id): ("peer", id)
        case .group(let id): ("group", id)
        case .customer(let id): ("customer", id)
        }
    }

    // MARK: About a message

    /// Does something to one of the last messages of the device, if there is one that fits.
    mutating func actOnMessage(_ kind: Operation.Kind, on index: Int) {
        guard devices[index].isRunning else { return }
        let user = devices[index].user
        switch kind {
        case .revoke(let pick):
            act(on: index, pick, SimulatedContent.revoke) { $0.author == user && $0.content == .text }
        case .edit(let pick):
            // From the device that wrote it: of two devices that change a text at a time, each shows its own.
            act(on: index, pick, SimulatedContent.edit) { $0.device == index && $0.content == .text }
        case .receipt(let pick):
            act(on: index, pick, SimulatedContent.receipt) {
                $0.author != user && $0.command == .im && $0.content == .text
            }
        case .readMark(let pick):
            act(on: index, pick, SimulatedContent.readMark) {
                $0.author != user && $0.content == .text && $0.command != .customerV2
                    && $0.receiver != Operation.superGroup
            }
        case .burn(let pick):
            act(on: index, pick, SimulatedContent.burned) {
                $0.author != user && $0.content == .burning
            }
        default: break
        }
    }

    private mutating func act(
        on index: Int, _ pick: Int, _ content: (Int) -> SimulatedContent, where fits: (Ledger.Sent) -> Bool
    ) {
        let candidates = devices[index].disk.recent.filter { number in ledger[number].map(fits) == true }
        guard !candidates.isEmpty else { return }
        let target = candidates[pick % candidates.count]
        guard let old = ledger[target] else { return }
        let action = content(target)
        switch action {
        case .readMark: send(action, from: index, to: Int64(devices[index].user), .im)
        case .receipt, .burned: send(action, from: index, to: Int64(old.author), .im)
        default: send(action, from: index, to: old.receiver, old.command)
        }
    }

    // MARK: Live

    private mutating func sendToRoom(from index: Int) {
        guard settings.era == .current else { return }
        let user = devices[index].user
        let number = ledger.request(
            Ledger.Sent(
                author: user, device: index, receiver: Operation.room, command: .roomIM, content: .text),
            uuid: nil)
        totals.messages += 1
        let message = RoomMessage(
            sender: Int64(user), receiver: Operation.room,
            content: SimulatedContent.text.json(
                number: number, uuid: "m\(number)", target: "", session: ("", 0)))
        feed(
            index,
            .sendRequested(
                SendRequest(
                    ticket: SendTicket(rawValue: UInt64(number)), uuid: "m\(number)", command: .roomIM,
                    body: .room(message), flags: .text, createdMilliseconds: wallTime.milliseconds)))
    }

    private mutating func type(on index: Int, to receiver: Int64) {
        guard settings.era == .current else { return }
        let message = RTMessage(
            sender: Int64(devices[index].user), receiver: receiver, content: #"{"typing":{"on":1}}"#)
        feed(index, .livePacketRequested(Packet(.rt, .room(message))))
    }

    mutating func changeRoom(_ kind: Operation.Kind, on index: Int) {
        guard settings.era == .current else { return }
        switch kind {
        case .enterRoom where devices[index].isRunning && devices[index].user != settings.staff:
            devices[index].hasEnteredRoom = true
            feed(index, .roomEntered(Operation.room))
        case .leaveRoom where devices[index].isRunning: feed(index, .roomLeft(Operation.room))
        case .ban(let user, let isBanned):
            change(.banFromRoom(RoomID(Operation.room), settings.account(of: user + 1), isBanned))
            if isBanned { ledger.books.banned.insert(user + 1) } else { ledger.books.banned.remove(user + 1) }
        default: break
        }
    }
}
