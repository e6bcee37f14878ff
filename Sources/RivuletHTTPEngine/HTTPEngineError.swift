public import RivuletFlow

/// Why the business server did not do something.
public struct HTTPEngineError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The causes, by a stable name.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The stable name.
        public let rawValue: String

        /// Makes the code with this name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The server could not be reached, or the connection broke.
        public static let network = Code(rawValue: "network")
        /// The server did not answer in time.
        public static let timedOut = Code(rawValue: "timed_out")
        /// The server wants another authorization, also after a new one was asked for.
        public static let unauthorized = Code(rawValue: "unauthorized")
        /// The server refused; the status says more.
        public static let refused = Code(rawValue: "refused")
        /// The server is out of order or overloaded, also after several attempts.
        public static let unavailable = Code(rawValue: "unavailable")
        /// The answer cannot be understood.
        public static let unreadable = Code(rawValue: "unreadable")
        /// The answer is larger than the engine takes.
        public static let tooLarge = Code(rawValue: "too_large")
        /// The request makes no address.
        public static let invalidRequest = Code(rawValue: "invalid_request")
    }

    /// The cause.
    public var code: Code
    /// The status; nil when there was no answer.
    public var status: Int?
    /// The server's own code, such as "muted"; nil when it gave none.
    public var serverCode: String?
    /// The server's words for people; empty when it gave none.
    public var message: String

    /// Makes an error.
    public init(_ code: Code, status: Int? = nil, serverCode: String? = nil, message: String = "") {
        self.code = code
        self.status = status
        self.serverCode = serverCode
        self.message = message
    }

    /// One line for logs, without the server's words.
    public var description: String {
        var words = ["HTTPEngineError(\(code.rawValue)"]
        if let status { words.append("status \(status)") }
        if let serverCode { words.append(serverCode) }
        return words.joined(separator: ", ") + ")"
    }
}

extension HTTPEngineError: PresentableFailure {
    /// The server's words, or the code where there are none.
    public var failureReason: String { message.isEmpty ? code.rawValue : message }

    /// The failure of a page.
    var flowFailure: FlowFailure {
        FlowFailure(code: code.rawValue, message: status.map { "status \($0)" } ?? "")
    }
}
