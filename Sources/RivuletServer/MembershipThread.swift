import RivuletServerCore

/// The thread on which memberships are changed and kept.
final class MembershipThread: Sendable {
    /// Something to do with the directory.
    typealias Task = @Sendable (any MembershipDirectory) -> Void

    private let queue = WorkQueue<Task>()

    /// Opens the directory and starts.
    ///
    /// - Parameters:
    ///   - open: Makes the directory, on its thread.
    ///   - opened: Takes what is known at the start.
    /// - Throws: What `open` throws.
    func start(
        open: @escaping @Sendable () throws -> any MembershipDirectory,
        opened: @escaping @Sendable (Memberships) -> Void
    ) throws {
        try queue.start(
            named: "rivulet-members",
            makeState: {
                let directory = try open()
                opened(directory.memberships)
                return directory
            },
            work: { directory, tasks in
                for task in tasks { task(directory) }
                return nil
            },
            end: { ($0 as? MembershipFile)?.close() })
    }

    /// Adds a task; false when the directory is closed.
    func post(_ task: @escaping Task) -> Bool {
        queue.post(task)
    }

    /// Does what was posted and closes the directory; blocks until it is done.
    func close() {
        queue.close()
        queue.waitUntilEnded()
    }
}
