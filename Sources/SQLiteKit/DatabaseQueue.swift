import Dispatch

/// A connection behind one serial queue: the way to use a database from concurrent code.
///
/// Closures run one after another on the queue and get the connection for their duration; it must not escape them.
/// The async calls never block a thread of the cooperative pool.
public final class DatabaseQueue: Sendable {
    private let queue: DispatchQueue
    // Invariant: touched only by closures on `queue`, which is serial; asserted in `use`.
    private nonisolated(unsafe) let database: Database
    /// Stops the running statement; safe from any thread.
    public let interrupter: Interrupter

    /// Opens a connection; blocks until it is open.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - options: How to open it.
    ///   - label: The queue's name, for debuggers.
    ///   - prepare: Called once with the new connection, for example to migrate it.
    /// - Throws: `SQLiteError`, or what `prepare` throws.
    public init(
        path: String, options: DatabaseOptions = DatabaseOptions(), label: String = "rivulet.database",
        prepare: (Database) throws -> Void = { _ in }
    ) throws {
        let database = try Database(path: path, options: options)
        try prepare(database)
        interrupter = database.interrupter
        queue = DispatchQueue(label: label)
        unsafe self.database = database
    }

    /// Runs the closure on the queue, outside a transaction.
    public func perform<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Swift.Result { try self.use(body) })
            }
        }
    }

    /// Runs the closure on the queue in a reading transaction: all its queries see one state.
    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        try await perform { database in try database.transaction(.deferred) { try body(database) } }
    }

    /// Runs the closure on the queue in a writing transaction, which is undone when the closure throws.
    public func write<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        try await perform { database in try database.transaction(.immediate) { try body(database) } }
    }

    /// Runs the closure on the queue and waits; for threads that may block, never from within the queue.
    public func performBlocking<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try queue.sync { try use(body) }
    }

    /// Closes the connection after the closures that are queued; later calls throw `closed`.
    public func close() {
        queue.sync { unsafe database.close() }
    }

    /// Closes the connection after the closures that are queued, without blocking the caller's thread.
    public func closeAsync() async {
        await withCheckedContinuation { continuation in
            queue.async {
                unsafe self.database.close()
                continuation.resume()
            }
        }
    }

    private func use<Result>(_ body: (Database) throws -> Result) throws -> Result {
        dispatchPrecondition(condition: .onQueue(queue))
        return try body(unsafe database)
    }
}
