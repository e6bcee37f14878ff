internal import CEditLine

/// The process's turn at libedit, which keeps the file it draws to in a variable that all editors share.
///
/// Without it, what one editor draws can land on another one's terminal. Whoever is inside libedit holds the turn, and
/// ``LineEditor`` gives it away while it waits for a key, so any number of editors can wait side by side.
enum EditLineLock {
    // Invariant: it is made once, lives as long as the process and is used through pthread's functions alone.
    nonisolated(unsafe) private static let mutex: UnsafeMutablePointer<pthread_mutex_t> = {
        // A mutex of Synchronization cannot be let go in the middle of a call from C.
        let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        return unsafe mutex
    }()

    static func withLock<Result>(_ body: () -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body()
    }

    /// Runs the body without the lock, which the calling thread holds before and after.
    static func withoutLock<Result>(_ body: () -> Result) -> Result {
        unsafe pthread_mutex_unlock(mutex)
        defer { unsafe pthread_mutex_lock(mutex) }
        return body()
    }
}
