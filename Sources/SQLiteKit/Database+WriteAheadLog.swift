import CSQLite

#if canImport(Glibc)
    import Glibc
#endif

extension Database {
    /// Gives the write-ahead log its room on the disk before it is written.
    ///
    /// A commit that makes a file longer waits for the file system's own journal, too. With room there already it waits
    /// for its pages alone. SQLite reads a write-ahead log up to the first frame that is not its own, so what is behind
    /// harms nothing, and what is there stays: it may be called at any time.
    ///
    /// Only speed depends on it. Without room to spare, on other systems, or where the file system cannot do it,
    /// nothing is done.
    ///
    /// - Parameter byteCount: How long the log is to be; one that is longer stays.
    public func reserveWriteAheadLog(_ byteCount: Int) {
        #if canImport(Glibc)
            reserve(byteCount, in: path + "-wal")
        #endif
    }
}

#if canImport(Glibc)
    private func reserve(_ byteCount: Int, in path: String) {
        // The string is alive for the call and ends in a zero byte.
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { _ = close(descriptor) }
        var status = stat()
        var space = statvfs()
        guard unsafe fstat(descriptor, &status) == 0, status.st_size < off_t(byteCount),
            unsafe fstatvfs(descriptor, &space) == 0,
            space.f_bavail / 16 > UInt(max(0, byteCount)) / max(1, space.f_frsize)
        else { return }
        // Not `posix_fallocate`, which writes into the file where the file system has no such call.
        guard rivulet_allocate(descriptor, Int64(byteCount)) == 0 else { return }
        _ = fsync(descriptor)
    }
#endif
