internal import RivuletModel

/// What the chat commands need of the client below them: an account that is connected or tries to be.
///
/// It stands between the commands and the client so that a terminal can be tested without a network.
protocol ChatBackend: Sendable {
    /// What happens from ``start()`` on, for one reader; it ends after ``stop()``.
    ///
    /// Each message comes again, under the same id, whenever its state or content has changed.
    var events: AsyncStream<ChatModel.Event> { get }

    /// Opens the store and begins to connect.
    func start() async throws

    /// The latest messages with a user, oldest first, from the store alone.
    func history(with peer: UserID, limit: Int) async throws -> [Message]

    /// Stores a text and sends it as soon as possible; its progress comes through ``events``.
    ///
    /// - Returns: the uuid under which it comes.
    func send(_ text: String, to peer: UserID) async throws -> String

    /// Disconnects and closes the store.
    func stop() async
}
