import RivuletModel
import Testing

@testable import rivulet_chat

/// The countdowns of messages that burn after reading.
struct BurnClockTests {
    private func message(
        _ number: Int64, burnSeconds: Int? = 10, isOutgoing: Bool = false,
        content: MessageContent = .text("secret")
    ) -> Message {
        Message(
            id: MessageID(number), session: .peer(UserID(2)), sender: UserID(isOutgoing ? 1 : 2),
            isOutgoing: isOutgoing, uuid: "u\(number)", position: MessagePosition(number),
            timeMilliseconds: 0, content: content, burnSeconds: burnSeconds)
    }

    @Test func `a countdown begins with the first look, and later looks change nothing`() {
        var clock = BurnClock()
        clock.see(message(1), at: .seconds(100))
        clock.see(message(1), at: .seconds(105))
        #expect(clock.remarks(at: .seconds(105)) == [MessageID(1): "5 s"])
        #expect(clock.takeDue(at: .milliseconds(109_999)) == [])
        let due = clock.takeDue(at: .seconds(110))
        #expect(due == [BurnClock.Burnt(uuid: "u1", session: .peer(UserID(2)))])
        #expect(clock.isEmpty)
    }

    @Test func `what has burned does not begin anew when its row is seen again`() {
        var clock = BurnClock()
        clock.see(message(1), at: .zero)
        _ = clock.takeDue(at: .seconds(10))
        clock.see(message(1), at: .seconds(11))
        #expect(clock.isEmpty)
    }

    @Test func `nothing burns that is one's own, for ever, or gone already`() {
        var clock = BurnClock()
        clock.see(message(1, isOutgoing: true), at: .zero)
        clock.see(message(2, burnSeconds: nil), at: .zero)
        clock.see(message(3, content: .erased), at: .zero)
        clock.see(message(4, content: .revoked), at: .zero)
        #expect(clock.isEmpty)
    }

    @Test(arguments: [
        (Int.min, "1 s"), (0, "1 s"), (59, "59 s"), (60, "1 min"), (3_599, "59 min"), (7_200, "2 h"),
        (Int.max, "168 h"),
    ])
    func `a remark is short, whatever number of seconds a peer sends`(seconds: Int, words: String) {
        var clock = BurnClock()
        clock.see(message(1, burnSeconds: seconds), at: .zero)
        #expect(clock.remarks(at: .zero) == [MessageID(1): words])
    }
}
