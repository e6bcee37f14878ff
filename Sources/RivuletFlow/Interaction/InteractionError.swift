/// Why something could not be done with a message.
public struct InteractionError: Error, Sendable, CustomStringConvertible {
    /// The causes, by a stable name; an open set.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The stable name.
        public let rawValue: String

        /// Makes the code with this name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A precheck did not let the call pass.
        public static let vetoed = Code(rawValue: "vetoed")
        /// A preparation or a service refused the message.
        public static let refused = Code(rawValue: "refused")
        /// The session was closed before.
        public static let closed = Code(rawValue: "closed")
        /// A callback did not come in time.
        public static let timedOut = Code(rawValue: "timed_out")
        /// A callback was thrown away without being called.
        public static let callbackLost = Code(rawValue: "callback_lost")
        /// The engine or the session does not offer this.
        public static let unsupported = Code(rawValue: "unsupported")
        /// There is no such message.
        public static let notFound = Code(rawValue: "not_found")
        /// The message is on its way already.
        public static let busy = Code(rawValue: "busy")
        /// The message cannot be what the call needs: not one's own, not failed, or without a uuid.
        public static let invalid = Code(rawValue: "invalid")
        /// The message burns after reading, so it goes nowhere else.
        public static let burning = Code(rawValue: "burning")
    }

    /// The cause.
    public var code: Code
    /// The reason for people; may be empty.
    public var reason: String

    /// Makes an error.
    public init(_ code: Code, reason: String = "") {
        self.code = code
        self.reason = reason
    }

    /// What burns after reading is not sent on.
    public static let burning = InteractionError(
        .burning, reason: "A message that burns after reading cannot be sent on.")

    /// The code, for logs; the reason may quote a message and is left out.
    public var description: String { "InteractionError(\(code.rawValue))" }
}

/// An error that has words for people, which a failed message then shows.
public protocol PresentableFailure: Error {
    /// The reason for people.
    var failureReason: String { get }
}

extension InteractionError: PresentableFailure {
    /// The reason, or the code where there is none.
    public var failureReason: String { reason.isEmpty ? code.rawValue : reason }
}
