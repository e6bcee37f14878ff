import Foundation
import RivuletClient
import Testing

@testable import rivulet_chat

/// What stands under a conversation's name, and the times beside conversations.
struct HeaderWordsTests {
    private let utc = TimeZone(secondsFromGMT: 0) ?? .current
    // 2026-03-11, a Wednesday, 12:00.
    private let now: Int64 = 1_773_230_400_000

    @Test(
        arguments: [
            ([], "6 members"), (["Mei Arai"], "6 members · Mei is typing…"),
            (["林小雨", "User 17"], "6 members · 林小雨 and User 17 are typing…"),
            (["A B", "C D", "E F"], "6 members · 3 people are typing…"),
        ] as [([String], String)])
    func `a group tells its members and who types`(names: [String], words: String) {
        #expect(HeaderWords.line(standing: "6 members", isGroup: true, typists: names) == words)
    }

    @Test func `between two the typing takes the place of what is known otherwise`() {
        #expect(HeaderWords.line(standing: "online", isGroup: false, typists: ["Mei"]) == "Mei is typing…")
        #expect(HeaderWords.line(standing: "", isGroup: true, typists: ["Mei"]) == "Mei is typing…")
    }

    @Test(
        arguments: [
            (0, "last seen just now"), (59_000, "last seen just now"), (120_000, "last seen 2 min ago"),
            (3 * 3_600_000, "last seen at 09:00"), (24 * 3_600_000, "last seen yesterday"),
            (-5_000, "last seen just now"), (400 * 86_400_000, "last seen 4.2.2025"),
        ] as [(Int64, String)])
    func `who is away was seen some time ago`(ago: Int64, words: String) {
        let presence = PeerPresence(uid: 2, isOnline: false, lastSeenMilliseconds: now - ago)
        #expect(HeaderWords.presence(presence, now: now, zone: utc) == words)
    }

    @Test func `who is there is online, and of others nothing is said`() {
        #expect(HeaderWords.presence(PeerPresence(uid: 2, isOnline: true), now: now, zone: utc) == "online")
        #expect(HeaderWords.presence(PeerPresence(uid: 2, isOnline: false), now: now, zone: utc) == "")
        #expect(HeaderWords.presence(nil, now: now, zone: utc) == "")
    }

    @Test(arguments: [(0, "12:00"), (1, "Yesterday"), (2, "Mon"), (6, "Thu"), (7, "4.3."), (-3, "12:00")])
    func `a conversation's time is as exact as its age`(days: Int64, words: String) {
        #expect(RowTime.text(milliseconds: now - days * 86_400_000, now: now, zone: utc) == words)
    }
}
