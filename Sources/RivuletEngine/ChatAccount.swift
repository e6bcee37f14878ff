public import RivuletClient
internal import RivuletClientCore
public import RivuletModel
public import RivuletStore
public import RivuletTransport
internal import RivuletWire
internal import Synchronization

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One user on one server, with everything in its place: the connection, the store and the contents.
///
/// ```swift
/// let account = try ChatAccount.open(
///     in: "/var/lib/ada/rivulet",
///     service: IMServiceConfiguration(
///         endpoints: [ClientEndpoint(host: "im.example.org", port: 23000)],
///         identity: ClientIdentity(uid: 7, token: token, deviceID: "laptop")))
/// account.start()
/// let message = try await account.send(text: "hello", to: .peer(UserID(8)))
/// for await changes in account.changes() {
///     for message in changes.inserted { show(message) }
/// }
/// ```
public final class ChatAccount: Sendable {
    /// The user.
    public let user: UserID
    /// The connection; use it for states, rooms and live messages.
    public let service: IMService
    /// What this device remembers; use it for searches and everything that is not offered here.
    public let store: any AccountStore
    /// Reads and writes contents.
    public let codec: ContentCodec
    /// Where a damaged file was put when the account was opened; nil when there was none.
    public let damagedFile: String?
    let makeUUID: @Sendable () -> String
    /// Follows the receipts of others while the account is started.
    private let deliveries = Mutex<Task<Void, Never>?>(nil)

    /// Joins a store and a service; `open` does it for a file.
    ///
    /// - Parameters:
    ///   - store: What the device remembers.
    ///   - service: The server and the user.
    ///   - codec: Reads contents; the same as the store's.
    ///   - transport: How the server is reached; nil for TCP.
    ///   - now: The time in milliseconds since 1970.
    ///   - makeUUID: Gives every message its identity.
    public init(
        store: any AccountStore, service: IMServiceConfiguration, codec: ContentCodec = ContentCodec(),
        transport: (any ClientTransport)? = nil,
        now: @escaping @Sendable () -> Int64 = ChatAccount.systemTime,
        makeUUID: @escaping @Sendable () -> String = ChatAccount.systemUUID
    ) {
        user = store.account
        self.store = store
        self.codec = codec
        self.makeUUID = makeUUID
        damagedFile = (store as? SQLiteAccountStore)?.damagedFile
        let storage = AccountStorage(
            store: store, profile: service.core.profile, codec: codec, commands: service.registry, now: now)
        self.service = IMService(configuration: service, storage: storage, transport: transport)
    }

    /// Opens the account's file in a folder, which is made when it is missing; blocks until that is done.
    ///
    /// The file's name is that of ``AccountFile``. A damaged file is put aside (`damagedFile`); the server then fills a new one.
    ///
    /// - Parameters:
    ///   - folder: Where accounts are kept, each in a file of its own; made with mode 0700.
    ///   - service: The server and the user.
    ///   - codec: Reads contents; knows the app's own kinds.
    ///   - transport: How the server is reached; nil for TCP.
    /// - Returns: The account, not yet started.
    /// - Throws: `StoreError`.
    public static func open(
        in folder: String, service: IMServiceConfiguration, codec: ContentCodec = ContentCodec(),
        transport: (any ClientTransport)? = nil
    ) throws -> ChatAccount {
        let file = AccountFile(folder: folder, service: service)
        try file.makeFolder()
        let store = try SQLiteAccountStore(
            path: file.path, account: file.user, codec: codec, damagePolicy: .keepAside)
        return ChatAccount(store: store, service: service, codec: codec, transport: transport)
    }

    /// The system's time in milliseconds since 1970.
    public static let systemTime: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }

    /// A new random name.
    public static let systemUUID: @Sendable () -> String = { UUID().uuidString }

    // MARK: Life

    /// Connects and stays connected; false when it cannot start.
    ///
    /// From now on a message is marked as delivered when a device of its receiver says so. Whether this device says so
    /// of what it receives is `IMServiceConfiguration.sendsDeliveryReceipts`.
    @discardableResult
    public func start() -> Bool {
        deliveries.withLock { task in
            guard task == nil else { return }
            let (receipts, store) = (service.deliveries(), store)
            task = Task { await Self.follow(receipts, in: store) }
        }
        return service.start()
    }

    /// Gives the connection up and closes the store; unsent messages go out after the next start.
    public func close() async {
        await service.stopAndWait()
        let task = deliveries.withLock { exchange(&$0, with: nil) }
        task?.cancel()
        await task?.value
        await store.close()
    }

    // MARK: Reading

    /// The messages of a conversation before a position, or the newest; the oldest first.
    ///
    /// - Throws: `StoreError`.
    public func history(
        _ session: Session, before position: MessagePosition? = nil, limit: Int = 50
    ) async throws -> StoredPage {
        try await store.page(
            PageQuery(session: session, place: position.map { .before($0) } ?? .newest, limit: limit))
    }

    /// The conversations, pinned ones first, then the one with the newest message first.
    ///
    /// - Throws: `StoreError`.
    public func conversations(limit: Int = 100, offset: Int = 0) async throws -> [Conversation] {
        try await store.conversations(limit: limit, offset: offset)
    }

    /// What changes in the store from now on: new messages, new states, conversations.
    public func changes() -> AsyncStream<StoreChanges> {
        store.changes()
    }
}
