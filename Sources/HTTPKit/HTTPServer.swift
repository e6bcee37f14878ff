internal import CMicroHTTPD
internal import Dispatch
internal import Synchronization

/// What an ``HTTPServer`` allows its clients.
public struct HTTPLimits: Sendable, Hashable {
    /// The most bytes of a body; more is answered with 413.
    public var bodyBytesMax = 64 * 1024
    /// The memory of one connection, which bounds the request line and the headers.
    public var headerBytesMax = 32 * 1024
    /// The most connections at a time; later ones wait for the system's queue.
    public var connectionsMax = 256
    /// The most connections at a time from one address.
    public var connectionsPerAddressMax = 64
    /// After how many seconds without a byte a connection is closed.
    public var idleSeconds = 15
    /// How many seconds a request may take to arrive, and its response to be taken, however busily bytes trickle.
    public var transferSeconds = 30

    /// Makes the default limits.
    public init() {}
}

/// Why a server could not be started.
public struct HTTPServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The system's number of the fault, such as `EADDRINUSE`; 0 when the library gave none.
    public let errno: Int32
    /// What happened, in the system's words.
    public let message: String

    /// The message.
    public var description: String { message }

    /// Whether another program has the address.
    public var isAddressInUse: Bool { errno == EADDRINUSE }
}

/// Takes the answer to one request; callable once, from any thread, at any time.
///
/// A responder that is let go without an answer answers 500, so that no client waits for ever.
public final class HTTPResponder: Sendable {
    private let exchange: Exchange

    init(_ exchange: Exchange) {
        self.exchange = exchange
    }

    deinit {
        exchange.finish(.text("no answer\n", status: 500))
    }

    /// Answers; later calls do nothing.
    public func respond(_ response: HTTPResponse) {
        exchange.finish(response)
    }
}

/// An HTTP/1.1 server over libmicrohttpd, for short requests and answers that fit in memory.
///
/// It has one thread of its own, on which it calls its handler; a handler that needs time keeps the responder and returns.
///
/// ```swift
/// let server = try HTTPServer(host: "127.0.0.1", port: 0) { request, responder in
///     responder.respond(.text("You asked for \(request.path)\n"))
/// }
/// print(server.port)
/// server.stop()
/// ```
public final class HTTPServer: Sendable {
    /// Answers a request; called on the server's thread, which it must not block.
    public typealias Handler = @Sendable (HTTPRequest, HTTPResponder) -> Void

    /// The port on which the server listens.
    public let port: UInt16
    private let core: HTTPServerCore

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - host: A numeric address.
    ///   - port: The port; 0 lets the system choose.
    ///   - limits: What clients are allowed.
    ///   - handler: Answers the requests.
    /// - Throws: ``HTTPServerError`` when the address cannot be listened on.
    public init(
        host: String, port: UInt16, limits: HTTPLimits = HTTPLimits(), handler: @escaping Handler
    ) throws(HTTPServerError) {
        let descriptor = unsafe httpkit_listen(host, Int32(port), 128)
        guard descriptor >= 0 else { throw HTTPServerError(errno: -descriptor, operation: "listen") }
        let bound = httpkit_port(descriptor)
        guard let bound = UInt16(exactly: bound) else {
            httpkit_close(descriptor)
            throw HTTPServerError(errno: -bound, operation: "listen")
        }
        self.port = bound
        core = HTTPServerCore(limits: limits, handler: handler)
        guard core.start(on: descriptor) else {
            httpkit_close(descriptor)
            throw HTTPServerError(errno: 0, message: "the HTTP library did not start")
        }
    }

    /// Starts a server whose handler is asynchronous.
    ///
    /// - Throws: ``HTTPServerError`` when the address cannot be listened on.
    public convenience init(
        host: String, port: UInt16, limits: HTTPLimits = HTTPLimits(),
        answer: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) throws(HTTPServerError) {
        try self.init(host: host, port: port, limits: limits) { request, responder in
            Task { responder.respond(await answer(request)) }
        }
    }

    deinit {
        core.stop()
    }

    /// How many requests are being handled.
    public var pendingRequestCount: Int {
        core.pendingRequestCount
    }

    /// Accepts nothing more, answers what is still being handled with 503, and closes all connections.
    ///
    /// It blocks for a moment. Calling it again does nothing.
    public func stop() {
        core.stop()
    }
}

extension HTTPServerError {
    init(errno: Int32, operation: String) {
        let text = unsafe strerror(errno).map { unsafe String(cString: $0) } ?? "error \(errno)"
        self.init(errno: errno, message: "\(operation): \(text)")
    }

    init(errno: Int32, message: String, _: Void = ()) {
        self.errno = errno
        self.message = message
    }
}
