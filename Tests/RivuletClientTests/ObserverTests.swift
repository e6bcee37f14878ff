import RivuletClientCore
import RivuletWire
import Testing

@testable import RivuletClient

@MainActor
private final class Recorder: PeerMessageObserver, ConnectionObserver {
    var texts: [String] = []
    var acknowledged: [Int32] = []
    var failed: [Int32] = []
    var states: [ConnectionState] = []
    var lost: [Int] = []
    var onMessage: (() -> Void)?

    func onPeerMessage(_ message: IMMessage) {
        texts.append(message.content)
        onMessage?()
    }

    func onPeerMessageACK(_ msgLocalID: Int32, uid: Int64) { acknowledged.append(msgLocalID) }
    func onPeerMessageFailure(_ msgLocalID: Int32, uid: Int64) { failed.append(msgLocalID) }
    func onConnectState(_ state: ConnectionState) { states.append(state) }
    func onEventsLost(_ count: Int) { lost.append(count) }
}

/// Implements nothing: every method is optional.
@MainActor
private final class Quiet: PeerMessageObserver, GroupMessageObserver, RoomMessageObserver {}

@MainActor
@Suite("Observers", .timeLimit(.minutes(5)))
struct ObserverTests {
    private let pump = ObserverPump()

    private func message(_ text: String) -> ObservedEvent {
        let body = IMMessage(sender: 8, receiver: 7, content: text)
        return .message(ReceivedMessage(command: .im, body: .im(body)))
    }

    private func report(_ step: SendReport.Step, id: Int32) -> ObservedEvent {
        let body = IMMessage(sender: 7, receiver: 8, msgLocalID: id, content: "")
        let entry = OutboxEntry(
            id: SendID(rawValue: 1), uuid: nil, command: .im, body: .im(body), createdMilliseconds: 0)
        return .report(SendReport(entry: entry, ticket: nil, step: step))
    }

    private func add(_ observer: any PeerMessageObserver) {
        pump.peers.add(ObjectIdentifier(observer)) { [weak observer] in observer }
    }

    private func remove(_ observer: any PeerMessageObserver) {
        pump.peers.remove(ObjectIdentifier(observer))
    }

    @Test func `everything is told in order`() async {
        let recorder = Recorder()
        add(recorder)
        for number in 1...100 { pump.push([message("\(number)")]) }
        await pump.finished()
        #expect(recorder.texts == (1...100).map { "\($0)" })
    }

    @Test func `an observer that was added twice is told once`() async {
        let recorder = Recorder()
        add(recorder)
        add(recorder)
        pump.push([message("1")])
        await pump.finished()
        #expect(recorder.texts == ["1"])
    }

    @Test func `an observer is not kept alive`() async {
        var recorder: Recorder? = Recorder()
        weak let gone = recorder
        if let recorder { add(recorder) }
        recorder = nil
        #expect(gone == nil)
        pump.push([message("1")])
        await pump.finished()
    }

    @Test func `one that removes itself or another inside a callback is told no more`() async {
        let (first, second) = (Recorder(), Recorder())
        add(first)
        add(second)
        first.onMessage = {
            self.remove(first)
            self.remove(second)
        }
        pump.push([message("1"), message("2")])
        await pump.finished()
        #expect(first.texts == ["1"])
        #expect(second.texts.isEmpty)
    }

    @Test func `acceptance and every kind of failure reach the described methods`() async {
        let (recorder, quiet) = (Recorder(), Quiet())
        add(recorder)
        add(quiet)
        pump.push([
            report(.queued, id: 1), report(.acknowledged, id: 1), report(.refused(.senderBlocked), id: 2),
            report(.failed(.unanswered), id: 3), report(.cancelled, id: 4),
        ])
        await pump.finished()
        #expect(recorder.acknowledged == [1])
        #expect(recorder.failed == [2, 3, 4])
    }

    @Test func `while the main actor is busy the queue stays bounded, and the newest state is told`() async {
        let recorder = Recorder()
        add(recorder)
        pump.connections.add(ObjectIdentifier(recorder)) { [weak recorder] in recorder }
        // This test runs on the main actor, so nothing is told before it waits.
        pump.push([.state(.connecting), .state(.authenticated)])
        for number in 1...20_000 { pump.push([message("\(number)")]) }
        #expect(pump.waitingCount == ObserverPump.eventCountMax)
        await pump.finished()
        #expect(recorder.lost == [20_002 - ObserverPump.eventCountMax])
        #expect(recorder.states == [.authenticated])
        #expect(recorder.texts.count == ObserverPump.eventCountMax && recorder.texts.last == "20000")
    }

    @Test func `the queue is bounded in bytes, too`() async {
        let recorder = Recorder()
        add(recorder)
        let text = String(repeating: "x", count: 1 << 20)
        for _ in 1...100 { pump.push([message(text)]) }
        #expect(pump.waitingCount < 33)
        await pump.finished()
    }

    @Test func `group messages that follow each other are told together`() async {
        @MainActor
        final class Groups: GroupMessageObserver {
            var counts: [Int] = []
            func onGroupMessages(_ messages: [IMMessage]) { counts.append(messages.count) }
        }
        let groups = Groups()
        pump.groups.add(ObjectIdentifier(groups)) { [weak groups] in groups }
        let body = IMMessage(sender: 8, receiver: 70, content: "x")
        let one = ObservedEvent.message(ReceivedMessage(command: .groupIM, body: .im(body)))
        pump.push([one, one, message("between"), one])
        await pump.finished()
        #expect(groups.counts == [2, 1])
    }

    @Test func `a slow reader of a stream loses the oldest elements and no memory`() async {
        let broadcast = Broadcast<Int>(limit: 3)
        let stream = broadcast.makeStream()
        for number in 1...10 { broadcast.yield(number) }
        broadcast.finish()
        var seen: [Int] = []
        for await number in stream { seen.append(number) }
        #expect(seen == [8, 9, 10])
    }

    @Test func `a stream that is made after the end is empty`() async {
        let broadcast = Broadcast<Int>(limit: 3)
        broadcast.finish()
        for await _ in broadcast.makeStream() { Issue.record("an element after the end") }
    }
}
