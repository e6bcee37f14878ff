import Foundation
import RivuletModel
import RivuletStore

/// One of several processes that use one account's file at once: `store-hammer PATH NAME COUNT`.
///
/// Each round sends, receives, reads and searches; any error ends the process with its words.
@main struct StoreHammer {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let count = Int(arguments[3]) else { exit(2) }
        let (path, name) = (arguments[1], arguments[2])
        let store = try SQLiteAccountStore(path: path, account: UserID(1))
        let codec = ContentCodec()
        let session = Session.peer(UserID(2))
        for round in 0..<count {
            let raw = try codec.encode(
                .text("word \(name) \(round)"), envelope: ContentEnvelope(uuid: "\(name)-\(round)"))
            let message = IncomingMessage(
                session: session, sender: UserID(2), isOutgoing: false, raw: raw, content: codec.decode(raw),
                timeMilliseconds: Int64(round))
            _ = try await store.apply([.receive(message), .setKey(group: nil, key: Int64(round))])
            let page = try await store.page(PageQuery(session: session, limit: 20))
            guard
                page.messages.contains(where: { $0.uuid == "\(name)-\(round)" || page.messages.count == 20 })
            else { exit(3) }
            if round % 10 == 0 { _ = try await store.search(SearchQuery("word \(name)", limit: 5)) }
            if round % 25 == 0 {
                // Opened anew among the others, as a program that starts.
                let other = try SQLiteAccountStore(path: path, account: UserID(1))
                _ = try await other.conversations(limit: 5, offset: 0)
                await other.close()
            }
        }
        await store.close()
        print("done \(name)")
    }
}
