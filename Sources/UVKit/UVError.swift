internal import CUV

/// A failure that libuv or the operating system reported.
public struct UVError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The symbolic name of the failure, such as `ECONNREFUSED`; an open set.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name.
        public let rawValue: String

        /// Makes the code with this name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The address and port are in use.
        public static let addressInUse = Code(rawValue: "EADDRINUSE")
        /// The address does not belong to this machine.
        public static let addressNotAvailable = Code(rawValue: "EADDRNOTAVAIL")
        /// The port needs a privilege that the process does not have.
        public static let accessDenied = Code(rawValue: "EACCES")
        /// Nobody listens there.
        public static let connectionRefused = Code(rawValue: "ECONNREFUSED")
        /// The other side broke the connection.
        public static let connectionReset = Code(rawValue: "ECONNRESET")
        /// The operation was given up, usually because its handle was closed.
        public static let cancelled = Code(rawValue: "ECANCELED")
        /// The process has no file descriptor left.
        public static let tooManyOpenFiles = Code(rawValue: "EMFILE")
        /// The system has no file descriptor left.
        public static let fileTableOverflow = Code(rawValue: "ENFILE")
        /// An argument was not understood, such as a host that is no number.
        public static let invalidArgument = Code(rawValue: "EINVAL")
        /// The name of the host is unknown.
        public static let unknownHost = Code(rawValue: "EAI_NONAME")
    }

    /// What went wrong, for programs.
    public let code: Code
    /// What went wrong, in the system's words.
    public let message: String
    /// What was being done, such as `connect` or `listen`.
    public let operation: String

    /// Makes an error by hand, for transports that imitate a socket.
    public init(code: Code, message: String, operation: String) {
        self.code = code
        self.message = message
        self.operation = operation
    }

    init(_ number: Int32, _ operation: String) {
        self.code = Code(rawValue: unsafe UVError.text(number, uv_err_name_r))
        self.message = unsafe UVError.text(number, uv_strerror_r)
        self.operation = operation
    }

    /// The operation, the code and the message on one line.
    public var description: String {
        "\(operation): \(message) (\(code.rawValue))"
    }

    /// Throws the error that a negative libuv result stands for.
    static func check(_ result: Int32, _ operation: String) throws(UVError) {
        if result < 0 { throw UVError(result, operation) }
    }

    private static func text(
        _ number: Int32, _ read: (Int32, UnsafeMutablePointer<CChar>?, Int) -> UnsafeMutablePointer<CChar>?
    ) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            // The function writes at most 128 bytes, the terminator included.
            unsafe buffer.initialize(repeating: 0)
            _ = unsafe read(number, buffer.baseAddress, buffer.count)
            return unsafe buffer.baseAddress.map { unsafe String(cString: $0) } ?? ""
        }
    }
}
