internal import CUV
internal import Dispatch
internal import Synchronization

/// A libuv event loop: sockets, timers and jobs, all on one thread.
///
/// Everything made on a loop is used on that loop only, and checks that it is. Other threads reach it through
/// ``enqueue(_:)-(()->Void)``. A loop is a `SerialExecutor`, so that an actor can live on it.
///
/// ```swift
/// let loop = try EventLoop()
/// try loop.start()                       // on a thread of its own; or `loop.run()` on the current one
/// loop.enqueue { /* make listeners, streams and timers here */ }
/// loop.stop()                            // closes all that is open on it
/// loop.waitUntilFinished()
/// ```
///
/// A loop that was started must be stopped; jobs that arrive after it has finished are dropped.
@safe public final class EventLoop: SerialExecutor, @unchecked Sendable {  // Invariant: below.
    // The pointers never change. What they point to is used by the loop's thread only (asserted by
    // `preconditionOnLoop` in every wrapper), except `async`, which other threads signal under the lock of `mailbox`
    // while `isFinished` is false. `endOfTurnJobs` is touched on the loop's thread only.
    let raw: UnsafeMutablePointer<uv_loop_t>
    let readBuffer: UnsafeMutableRawBufferPointer
    private let async: UnsafeMutablePointer<uv_async_t>
    private let prepare: UnsafeMutablePointer<uv_prepare_t>
    private let check: UnsafeMutablePointer<uv_check_t>
    private let mailbox = Mutex(Mailbox())
    private let thread = Atomic<UInt>(0)
    private let hasBegun = Atomic<Bool>(false)
    private let running = DispatchGroup()
    private var endOfTurnJobs: [() -> Void] = []

    private enum Job {
        case closure(@Sendable () -> Void)
        case executorJob(UnownedJob)
    }

    private struct Mailbox {
        var jobs: [Job] = []
        var isSignalled = false
        var isFinished = false
    }

    /// The size of the buffer into which all streams of the loop read.
    public static let readBufferByteCount = 65_536

    /// Makes a loop that does not run yet.
    ///
    /// - Throws: the system's error when no descriptor is left for it.
    public init() throws(UVError) {
        uvkit_ignore_sigpipe()
        unsafe raw = .allocate(capacity: 1)
        unsafe async = .allocate(capacity: 1)
        unsafe prepare = .allocate(capacity: 1)
        unsafe check = .allocate(capacity: 1)
        unsafe readBuffer = .allocate(byteCount: EventLoop.readBufferByteCount, alignment: 16)
        // The five blocks above live until `deinit`; after a failed `uv_loop_init` none of them was handed to libuv.
        let result = unsafe uv_loop_init(raw)
        guard result == 0 else {
            deallocateAll()
            throw UVError(result, "create event loop")
        }
        let asyncResult = unsafe uv_async_init(raw, async) { handle in
            unsafe EventLoop.from(handle?.pointee.data)?.drainMailbox()
        }
        guard asyncResult == 0 else {
            _ = unsafe uv_loop_close(raw)
            deallocateAll()
            throw UVError(asyncResult, "create event loop")
        }
        // These two cannot fail: they only link memory into the loop.
        _ = unsafe uv_prepare_init(raw, prepare)
        _ = unsafe uv_check_init(raw, check)
        // Unretained: the loop closes these handles before it goes away.
        let me = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe async.pointee.data = me
        unsafe prepare.pointee.data = me
        unsafe check.pointee.data = me
        _ = unsafe uv_prepare_start(prepare) { unsafe EventLoop.from($0?.pointee.data)?.runEndOfTurnJobs() }
        _ = unsafe uv_check_start(check) { unsafe EventLoop.from($0?.pointee.data)?.runEndOfTurnJobs() }
    }

    deinit {
        // Never run: the handles must still be closed, on whatever thread this is, since nobody else can know the loop.
        if !hasBegun.load(ordering: .acquiring) {
            thread.store(UInt(uvkit_thread_id()), ordering: .relaxed)
            closeLoop()
        }
        deallocateAll()
    }

    // MARK: Running

    /// Runs the loop on the current thread until ``stop()``; `setUp` is called on the loop first.
    ///
    /// When `setUp` throws, whatever it opened is closed and the error is passed on. A loop runs once.
    public func run<Failure>(_ setUp: () throws(Failure) -> Void) throws(Failure) {
        precondition(!hasBegun.exchange(true, ordering: .acquiringAndReleasing), "an event loop runs once")
        running.enter()
        defer { running.leave() }
        try runToTheEnd(setUp)
    }

    /// Runs the loop on a thread of its own until ``stop()``.
    ///
    /// - Throws: the system's error when no thread can be made.
    public func start() throws(UVError) {
        precondition(!hasBegun.exchange(true, ordering: .acquiringAndReleasing), "an event loop runs once")
        running.enter()
        // The thread owns one reference to the loop and gives it back at its end.
        let me = unsafe Unmanaged.passRetained(self)
        let result = unsafe uvkit_start_detached_thread(
            { argument in
                if let argument = unsafe argument {
                    let running = unsafe EventLoop.runOnThread(Unmanaged<EventLoop>.fromOpaque(argument))
                    // Only now, when the thread's reference is given back: who waits may expect the loop to be freed.
                    running.leave()
                }
                return nil
            }, me.toOpaque())
        guard result == 0 else {
            unsafe me.release()
            running.leave()
            hasBegun.store(false, ordering: .releasing)
            throw UVError(result, "start event loop thread")
        }
    }

    /// Ends the loop after the jobs queued so far, closing everything that is open on it; callable on any thread.
    public func stop() {
        enqueue { [unowned self] in unsafe uv_stop(raw) }
    }

    /// Blocks until the loop has ended and everything on it is closed; never call it on the loop itself.
    public func waitUntilFinished() {
        precondition(!isOnLoop, "an event loop cannot wait for itself")
        running.wait()
    }

    /// Returns when the loop has ended and everything on it is closed.
    public func finished() async {
        await withCheckedContinuation { continuation in
            running.notify(queue: .global()) { continuation.resume() }
        }
    }

    // MARK: Jobs

    /// Runs a job on the loop, in the order of calls; callable on any thread.
    ///
    /// - Returns: false when the loop has finished and the job was dropped.
    @discardableResult
    public func enqueue(_ job: @escaping @Sendable () -> Void) -> Bool {
        post(.closure(job))
    }

    /// Runs a job of an actor that lives on the loop.
    public func enqueue(_ job: consuming ExecutorJob) {
        _ = post(.executorJob(UnownedJob(job)))
    }

    /// Runs a body on the loop and returns its result.
    ///
    /// - Throws: what the body throws, or `ECANCELED` when the loop has finished.
    public func perform<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws
        -> Result
    {
        try await withCheckedThrowingContinuation { continuation in
            let isAccepted = enqueue { continuation.resume(with: Swift.Result(catching: body)) }
            if !isAccepted {
                continuation.resume(throwing: UVError(UV_ECANCELED.rawValue, "run on event loop"))
            }
        }
    }

    /// Runs a job once, after the events of this turn are handled and before the loop waits again.
    ///
    /// It is the place to write what many events of one turn have gathered. Must be called on the loop.
    public func atEndOfTurn(_ job: @escaping () -> Void) {
        preconditionOnLoop()
        endOfTurnJobs.append(job)
    }

    // MARK: Identity and time

    /// Whether the current thread is the loop's.
    public var isOnLoop: Bool {
        thread.load(ordering: .relaxed) == UInt(uvkit_thread_id())
    }

    /// Traps off the loop.
    public func preconditionOnLoop() {
        precondition(isOnLoop, "used outside its event loop")
    }

    /// Traps off the loop; lets an actor on this loop use `assumeIsolated` inside its callbacks.
    public func checkIsolated() {
        preconditionOnLoop()
    }

    /// The monotonic clock in nanoseconds; it has no relation to the time of day and may be read on any thread.
    public static var monotonicNanoseconds: UInt64 {
        uv_hrtime()
    }

    /// The same clock, where a loop is at hand.
    public var nowNanoseconds: UInt64 {
        uv_hrtime()
    }

    // MARK: Internals

    private func post(_ job: Job) -> Bool {
        mailbox.withLock { box in
            guard !box.isFinished else { return false }
            box.jobs.append(job)
            if !box.isSignalled {
                box.isSignalled = true
                // Under the lock, so that the handle cannot be closed between the check above and this call.
                _ = unsafe uv_async_send(async)
            }
            return true
        }
    }

    private func drainMailbox() {
        let jobs = mailbox.withLock { box in
            box.isSignalled = false
            return exchange(&box.jobs, with: [])
        }
        for job in jobs {
            switch job {
            case .closure(let body): body()
            case .executorJob(let job): unsafe job.runSynchronously(on: asUnownedSerialExecutor())
            }
        }
    }

    private func runEndOfTurnJobs() {
        guard !endOfTurnJobs.isEmpty else { return }
        for job in exchange(&endOfTurnJobs, with: []) { job() }
    }

    private static func runOnThread(_ reference: Unmanaged<EventLoop>) -> DispatchGroup {
        // Consumes the reference that `start` made for the thread.
        let loop = unsafe reference.takeRetainedValue()
        loop.runToTheEnd({})
        return loop.running
    }

    private func runToTheEnd<Failure>(_ setUp: () throws(Failure) -> Void) throws(Failure) {
        thread.store(UInt(uvkit_thread_id()), ordering: .relaxed)
        defer {
            closeLoop()
            thread.store(0, ordering: .relaxed)
        }
        try setUp()
        _ = unsafe uv_run(raw, UV_RUN_DEFAULT)
    }

    /// Closes every handle, runs what is left, and gives the loop back to libuv.
    private func closeLoop() {
        // Not referenced, these three no longer keep `uv_run` going.
        unsafe EventLoop.withHandle(async) { unsafe uv_unref($0) }
        unsafe EventLoop.withHandle(prepare) { unsafe uv_unref($0) }
        unsafe EventLoop.withHandle(check) { unsafe uv_unref($0) }
        repeat {
            unsafe uv_walk(raw, { handle, _ in unsafe HandleCore.from(handle)?.close(.loopStopped) }, nil)
            drainMailbox()
            runEndOfTurnJobs()
            _ = unsafe uv_run(raw, UV_RUN_DEFAULT)
        } while !finishMailbox()
        unsafe EventLoop.withHandle(async) { unsafe uv_close($0, nil) }
        unsafe EventLoop.withHandle(prepare) { unsafe uv_close($0, nil) }
        unsafe EventLoop.withHandle(check) { unsafe uv_close($0, nil) }
        _ = unsafe uv_run(raw, UV_RUN_DEFAULT)
        let result = unsafe uv_loop_close(raw)
        assert(result == 0, "a handle outlived its event loop")
    }

    /// Ends the mailbox if nothing is left to do; close callbacks may have queued jobs or opened handles.
    private func finishMailbox() -> Bool {
        guard endOfTurnJobs.isEmpty, unsafe uv_loop_alive(raw) == 0 else { return false }
        return mailbox.withLock { box in
            box.isFinished = box.jobs.isEmpty
            return box.isFinished
        }
    }

    private func deallocateAll() {
        unsafe raw.deallocate()
        unsafe async.deallocate()
        unsafe prepare.deallocate()
        unsafe check.deallocate()
        unsafe readBuffer.deallocate()
    }

    private static func from(_ data: UnsafeMutableRawPointer?) -> EventLoop? {
        // `data` is the unretained loop set in `init`; the loop is alive while it runs.
        unsafe data.map { unsafe Unmanaged<EventLoop>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Views a handle of any kind as the common beginning that all of them share.
    private static func withHandle<Handle>(
        _ handle: UnsafeMutablePointer<Handle>, _ body: (UnsafeMutablePointer<uv_handle_t>) -> Void
    ) {
        unsafe body(UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self))
    }
}

/// A number that tells the running threads of this process apart.
package func currentThreadNumber() -> UInt {
    UInt(uvkit_thread_id())
}
