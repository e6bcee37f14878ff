internal import Foundation
internal import RivuletClient
internal import RivuletClientCore
public import RivuletEngine
public import RivuletModel
public import RivuletStore

/// What the examples share: a chat of two users in a terminal, without any message type of its own.
///
/// Arguments: `HOST:PORT USER TOKEN-FILE PARTNER [FOLDER]`; messages are kept in the folder, or in a new temporary one.
public struct ExampleChat: Sendable {
    /// The user's account, started.
    public let account: ChatAccount
    /// The conversation.
    public let session: Session
    /// The other user.
    public let partner: UserID
    /// Everything from before the first message can come.
    private let changes: AsyncStream<StoreChanges>

    /// Why an example does not start.
    public struct UsageError: Error, CustomStringConvertible {
        /// What is wrong, for people.
        public let description: String
    }

    /// Opens the account that the arguments name, with an app's own kinds, and connects.
    public init(arguments: [String], kinds: ContentRegistry) throws {
        let words = arguments.dropFirst()
        guard (4...5).contains(words.count), let user = Int64(arguments[2]),
            let partner = Int64(arguments[4]),
            let colon = arguments[1].lastIndex(of: ":"),
            let port = UInt16(arguments[1][arguments[1].index(after: colon)...])
        else {
            throw UsageError(description: "usage: HOST:PORT USER TOKEN-FILE PARTNER [FOLDER]")
        }
        let token = try String(contentsOfFile: arguments[3], encoding: .utf8)
        let folder =
            words.count == 5 ? arguments[5] : NSTemporaryDirectory() + "rivulet-example-" + UUID().uuidString
        let endpoint = ClientEndpoint(host: String(arguments[1][..<colon]), port: port)
        account = try ChatAccount.open(
            in: folder,
            service: IMServiceConfiguration(
                endpoints: [endpoint],
                identity: ClientIdentity(
                    uid: user, token: token.trimmingCharacters(in: .whitespacesAndNewlines),
                    deviceID: "example-\(user)")),
            codec: ContentCodec(registry: kinds))
        self.partner = UserID(partner)
        session = .peer(UserID(partner))
        changes = account.changes()
        guard account.start() else { throw UsageError(description: "the client does not start") }
    }

    /// Handles each line of standard input and each change of the store, until the input ends.
    public func run(
        line: @escaping @Sendable (String) async throws -> Void,
        change: @escaping @Sendable (StoreChanges) async throws -> Void
    ) async throws {
        let changes = changes
        let reader = Task {
            for await set in changes { try await change(set) }
        }
        for await text in Self.lines() where !text.isEmpty { try await line(text) }
        await account.close()
        try await reader.value
    }

    /// Prints a line at once, also into a pipe.
    public func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    /// A stream of the lines of standard input, which are read on a thread of their own.
    private static func lines() -> AsyncStream<String> {
        let (stream, feed) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            while let line = readLine() { feed.yield(line) }
            feed.finish()
        }
        return stream
    }
}
