#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// How many files and sockets this process may have open.
public enum FileDescriptorLimit {
    /// What a server needs at least: its files, its loops and a few connections.
    public static let least = 64
    /// What a server keeps for itself of all it may open.
    static let reserve = 48

    /// The number in force; 1024 when the system does not say.
    public static var current: Int {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }

    /// Raises the limit to what the system allows without privileges; answers the limit then in force.
    @discardableResult
    public static func raise() -> Int {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 1024 }
        if limit.rlim_cur < limit.rlim_max {
            var raised = limit
            // An endless hard limit cannot be set on every system; a million sockets is more than a process holds.
            raised.rlim_cur = min(limit.rlim_max, 1_048_576)
            if setrlimit(resource, &raised) == 0 { limit = raised }
        }
        return Int(clamping: limit.rlim_cur)
    }

    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif
}
