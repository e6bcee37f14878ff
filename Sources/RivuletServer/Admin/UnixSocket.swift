#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A stream socket of the Unix domain, used with blocking calls on threads of their own.
final class UnixSocket: Sendable {
    /// Why something failed; `errno` is the system's number.
    struct Failure: Error {
        var errno: Int32
    }

    let descriptor: Int32

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Binds and listens; only the owner may connect.
    ///
    /// A file of that name is replaced.
    static func listen(at path: String) throws(Failure) -> UnixSocket {
        let made = try make()
        unlink(path)
        // On Linux a socket's file gets the mode of its descriptor, so there is no moment in which others may connect.
        fchmod(made.descriptor, 0o600)
        let result = try withAddress(path) { bind(made.descriptor, $0, $1) }
        guard result == 0, chmod(path, 0o600) == 0, Self.listen(made.descriptor) == 0 else {
            throw Failure(errno: errno)
        }
        return made
    }

    /// Connects.
    static func connect(to path: String) throws(Failure) -> UnixSocket {
        let made = try make()
        let result = try withAddress(path) { address, length in
            #if canImport(Glibc)
                Glibc.connect(made.descriptor, address, length)
            #else
                Darwin.connect(made.descriptor, address, length)
            #endif
        }
        guard result == 0 else { throw Failure(errno: errno) }
        return made
    }

    /// Waits for a connection; nil when the socket was shut down.
    func accept() -> UnixSocket? {
        while true {
            #if canImport(Glibc)
                let accepted = Glibc.accept(descriptor, nil, nil)
            #else
                let accepted = Darwin.accept(descriptor, nil, nil)
            #endif
            if accepted >= 0 {
                _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
                return UnixSocket(accepted)
            }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: usleep(100_000)
            default: return nil
            }
        }
    }

    /// Ends waiting and reading, on whatever thread they happen.
    func shutDown() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Ends a wait for bytes, or for room, after this many seconds.
    func setPatience(seconds: Int) {
        var time = timeval(tv_sec: seconds, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, size)
    }

    /// The next bytes; nil at the end, after the patience, or when the connection broke.
    func read() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 { return Array(buffer[..<count]) }
            if count < 0, errno == EINTR { continue }
            return nil
        }
    }

    /// Sends everything; false when the connection broke.
    func write(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Self.noSignal) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    #if canImport(Glibc)
        private static let noSignal = Int32(MSG_NOSIGNAL)
    #else
        private static let noSignal: Int32 = 0
    #endif

    private static func make() throws(Failure) -> UnixSocket {
        #if canImport(Glibc)
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw Failure(errno: errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return UnixSocket(descriptor)
    }

    private static func listen(_ descriptor: Int32) -> Int32 {
        #if canImport(Glibc)
            Glibc.listen(descriptor, 16)
        #else
            Darwin.listen(descriptor, 16)
        #endif
    }

    /// Calls with the address of a path.
    ///
    /// One that is too long for an address is reached through its folder's descriptor.
    private static func withAddress(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(Failure) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let capacity = MemoryLayout.size(ofValue: address.sun_path) - 1
        var name = path
        var folder: Int32 = -1
        defer { if folder >= 0 { close(folder) } }
        if name.utf8.count > capacity, let slash = name.lastIndex(of: "/") {
            folder = open(String(name[..<slash]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard folder >= 0 else { throw Failure(errno: errno) }
            name = "/proc/self/fd/\(folder)" + name[slash...]
        }
        let bytes = Array(name.utf8)
        guard bytes.count <= capacity else { throw Failure(errno: ENAMETOOLONG) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return result
    }
}

/// Takes bytes and gives the lines that they complete.
struct LineSplitter {
    private var buffer: [UInt8] = []
    private let bytesMax: Int

    init(bytesMax: Int) {
        self.bytesMax = bytesMax
    }

    /// The completed lines without their ends; nil when a line is too long.
    mutating func take(_ bytes: [UInt8]) -> [[UInt8]]? {
        buffer += bytes
        var lines: [[UInt8]] = []
        while let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
            guard end <= bytesMax else { return nil }
            lines.append(Array(buffer[..<end]))
            buffer.removeFirst(end + 1)
        }
        return buffer.count <= bytesMax ? lines : nil
    }
}
