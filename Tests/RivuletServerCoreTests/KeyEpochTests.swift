import RivuletModel
import RivuletServerCore
import RivuletWire
import Testing

@Suite struct KeyEpochTests {
    @Test(arguments: [0, 1, 5_000_000, 1 << 47, KeyEpoch.keyMax - 1, KeyEpoch.keyMax, .max, -1] as [Int64])
    func `a log goes on above what is known, within the bounds`(known: Int64) {
        for milliseconds in [0, .min, .max, 1_735_689_600_000, 1_800_000_000_000] as [Int64] {
            let start = KeyEpoch.start(after: known, at: WallTime(milliseconds: milliseconds))
            #expect(known < KeyEpoch.keyMax ? start > known : start == KeyEpoch.keyMax)
            #expect(start > 0 && start <= KeyEpoch.keyMax)
        }
    }

    @Test func `a second later the clock gives keys that no server can have reached`() {
        let first = KeyEpoch.start(after: 7, at: WallTime(milliseconds: 1_800_000_000_000))
        let second = KeyEpoch.start(after: 7, at: WallTime(milliseconds: 1_800_000_001_000))
        #expect(second == first + 1 << 21)
    }

    @Test func `a copy of a log goes its own way`() throws {
        let now = WallTime(milliseconds: 0)
        let log = MemoryLog()
        func entry(_ content: String) -> LogEntry {
            LogEntry(
                author: Account(user: UserID(1)), device: .none, command: .im, flags: [], receiver: 2,
                timestamp: 0, msgLocalID: 0, content: content, queues: [.user(Account(user: UserID(2)))])
        }
        _ = try log.append([entry(#"{"uuid":"a"}"#)], at: now)
        let copy = log.copy()
        _ = try log.append([entry(#"{"uuid":"b"}"#)], at: now)
        #expect(copy.lastKey == 1)
        copy.beginEpoch(after: log.lastKey, at: now)
        let outcomes = try copy.append([entry(#"{"uuid":"a"}"#), entry(#"{"uuid":"b"}"#)], at: now)
        #expect(outcomes[0] == .duplicate([QueuePlace(key: 1, previous: 0)]))
        #expect(outcomes[1] == .stored([QueuePlace(key: 3 + KeyEpoch.gap, previous: 1)]))
        #expect(try log.newestKey(of: .user(Account(user: UserID(2)))) == 2)
    }
}
