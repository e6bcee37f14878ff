public import SQLiteKit

/// Why a store cannot do what it is asked to.
public struct StoreError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The reasons, by a stable number.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The number.
        public let rawValue: Int

        /// Makes the code with this number.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// 1: the store was closed.
        public static let closed = Code(rawValue: 1)
        /// 2: the file is damaged; it was kept aside under another name.
        public static let damaged = Code(rawValue: 2)
        /// 3: the file was written by a newer version of the program.
        public static let newerVersion = Code(rawValue: 3)
        /// 4: the file is not an account of this program, or of another user.
        public static let foreignFile = Code(rawValue: 4)
        /// 5: the disk is full.
        public static let diskFull = Code(rawValue: 5)
        /// 6: another process held the file for too long.
        public static let busy = Code(rawValue: 6)
        /// 7: the file or its folder cannot be used.
        public static let unusable = Code(rawValue: 7)
    }

    /// The reason.
    public let code: Code
    /// What happened, for developers; without contents.
    public let message: String
    /// The database's own error.
    public let underlying: SQLiteError?

    /// Makes an error.
    public init(code: Code, message: String, underlying: SQLiteError? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    /// The store was closed.
    public static let closed = StoreError(code: .closed, message: "the store is closed")

    /// Translates the database's error.
    public init(_ error: SQLiteError) {
        let code: Code =
            switch error.code.primary {
            case .closed: .closed
            case .schemaIsNewer: .newerVersion
            case .foreignFile: .foreignFile
            case .full: .diskFull
            case .busy: .busy
            default: error.isCorrupt ? .damaged : .unusable
            }
        self.init(code: code, message: error.message, underlying: error)
    }

    /// One line for logs, without contents.
    public var description: String {
        underlying.map { "\(message) [\($0)]" } ?? message
    }
}
