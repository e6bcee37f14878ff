import RivuletModel
import RivuletStore
import Testing

@testable import RivuletCommands

@Suite("Following a store's changes")
struct ChangeFollowerTests {
    private func incoming(_ text: String, from sender: Int64 = 8) -> StoreOperation {
        let raw = "{\"uuid\":\"\(text)\",\"text\":\"\(text)\"}"
        return .receive(
            IncomingMessage(
                session: .peer(UserID(sender)), sender: UserID(sender), isOutgoing: false, raw: raw,
                content: ContentCodec().decode(raw), timeMilliseconds: 0))
    }

    private func texts(_ messages: [Message]) -> [String] { messages.map(\.content.summary) }

    @Test func `changes that were lost are read from the store, and nothing older`() async throws {
        let store = MemoryAccountStore(account: UserID(7))
        _ = try await store.apply([incoming("old")])
        let changes = store.changes()
        var follower = try await ChangeFollower(store: store)
        // More than the stream keeps for a reader that does not read.
        for number in 1...600 {
            _ = try await store.apply([incoming("\(number)", from: 8 + Int64(number % 3))])
        }
        var seen: [String] = []
        for await change in changes {
            for message in texts(await follower.messages(of: change)) where !seen.contains(message) {
                seen.append(message)
            }
            if seen.contains("600") { break }
        }
        #expect(seen == (1...600).map { "\($0)" })
    }

    @Test func `without a gap the changes are given as they came`() async throws {
        let store = MemoryAccountStore(account: UserID(7))
        let changes = store.changes()
        var follower = try await ChangeFollower(store: store)
        _ = try await store.apply([incoming("a"), incoming("b")])
        _ = try await store.apply([incoming("c")])
        var iterator = changes.makeAsyncIterator()
        let first = try #require(await iterator.next())
        let second = try #require(await iterator.next())
        #expect(texts(await follower.messages(of: first)) == ["a", "b"])
        #expect(texts(await follower.messages(of: second)) == ["c"])
    }
}
