/// How a database file is opened.
public struct DatabaseOptions: Sendable {
    /// When a commit returns.
    public enum Synchronous: String, Sendable {
        /// After the log is on disk: nothing committed is lost when the power fails.
        case full = "FULL"
        /// After the log is with the system: a power failure may lose the newest commits, never consistency (in WAL).
        case normal = "NORMAL"
        /// Without waiting for anything; for scratch files.
        case off = "OFF"
    }

    /// Whether the connection refuses to write.
    public var isReadOnly = false
    /// Whether a missing file is made.
    public var createsFile = true
    /// Whether the write-ahead log is used, so that readers and the writer do not wait for each other.
    public var usesWAL = true
    /// When a commit returns.
    public var synchronous = Synchronous.normal
    /// How long a call waits for another connection's lock.
    public var busyTimeoutMilliseconds = 5_000
    /// The page cache.
    public var cacheKibibytes = 8_192
    /// How much of the file is read through a memory map; 0 uses reads.
    public var memoryMapBytes = 0
    /// After how many pages of log a commit moves them into the file; nil leaves SQLite's 1,000, 0 never does.
    public var walCheckpointPages: Int?
    /// Whether a file that is made can give unused pages back to the disk (`auto_vacuum = INCREMENTAL`).
    public var canShrink = false

    /// Makes the default options: read and write, WAL, `NORMAL`, five seconds of patience.
    public init() {}

    /// The default options for reading only.
    public static var readOnly: DatabaseOptions {
        var options = DatabaseOptions()
        options.isReadOnly = true
        options.createsFile = false
        return options
    }
}
