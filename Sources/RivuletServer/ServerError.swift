/// Why the server cannot start or go on.
///
/// The description is one sentence for the person who runs it, with the path or address concerned and what to do.
public struct ServerError: Error, Sendable, CustomStringConvertible {
    /// The kind of fault; the raw value is stable.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The stable name.
        public let rawValue: String

        /// Makes the code with this name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Another program listens on the address.
        public static let addressInUse = Code(rawValue: "address_in_use")
        /// The address cannot be listened on.
        public static let addressUnusable = Code(rawValue: "address_unusable")
        /// The data folder cannot be made or written.
        public static let folderUnwritable = Code(rawValue: "folder_unwritable")
        /// Another server uses the data folder.
        public static let folderInUse = Code(rawValue: "folder_in_use")
        /// A file of the data folder is damaged.
        public static let databaseCorrupt = Code(rawValue: "database_corrupt")
        /// A file of the data folder was written by a newer version.
        public static let databaseNewer = Code(rawValue: "database_newer")
        /// A file of the data folder belongs to another program.
        public static let databaseForeign = Code(rawValue: "database_foreign")
        /// A file of the data folder cannot be used for another reason.
        public static let databaseUnusable = Code(rawValue: "database_unusable")
        /// The system allows too few open files.
        public static let tooFewFileDescriptors = Code(rawValue: "too_few_file_descriptors")
        /// A configuration value is missing or out of range.
        public static let badConfiguration = Code(rawValue: "bad_configuration")
        /// A user asks for what only members of a group may have.
        public static let notAMember = Code(rawValue: "not_a_member")
        /// No group has the id.
        public static let noSuchGroup = Code(rawValue: "no_such_group")
        /// The server does not run yet, or no more.
        public static let notRunning = Code(rawValue: "not_running")
    }

    /// The kind of fault.
    public var code: Code
    /// What happened and what to do about it.
    public var message: String
    /// The error below this one, if any.
    public var underlying: (any Error)?

    /// Makes an error.
    public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    /// The message.
    public var description: String {
        message
    }
}
