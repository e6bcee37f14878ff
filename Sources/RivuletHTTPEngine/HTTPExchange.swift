public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A request to the business server, as a value.
public struct HTTPRequest: Hashable, Sendable {
    /// The method, such as "GET".
    public var method: String
    /// The path below the server's base address, without a leading slash.
    public var path: String
    /// The query, in order.
    public var query: [URLQueryItem]
    /// Further header fields; the authorization is added by the engine.
    public var headers: [String: String]
    /// The body; nil for none.
    public var body: Data?
    /// Whether the server does it once however often it is asked, so that it may be tried again.
    public var isRepeatable: Bool

    /// Makes a request.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path below the base address.
    ///   - query: The query.
    ///   - headers: Further header fields.
    ///   - body: The body.
    ///   - isRepeatable: Whether it may be tried again; nil for the methods that HTTP says are idempotent.
    public init(
        _ method: String, _ path: String, query: [URLQueryItem] = [], headers: [String: String] = [:],
        body: Data? = nil, isRepeatable: Bool? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.isRepeatable = isRepeatable ?? ["GET", "HEAD", "PUT", "DELETE"].contains(method)
    }

    /// A request with a JSON body.
    ///
    /// - Throws: `EncodingError`.
    public static func json(
        _ method: String, _ path: String, _ value: some Encodable, isRepeatable: Bool? = nil
    ) throws -> HTTPRequest {
        HTTPRequest(
            method, path, headers: ["Content-Type": "application/json"],
            body: try JSONEncoder().encode(value),
            isRepeatable: isRepeatable)
    }
}

/// An answer of the business server.
public struct HTTPAnswer: Hashable, Sendable {
    /// The status.
    public var status: Int
    /// The header fields, with lower-case names.
    public var headers: [String: String]
    /// The body.
    public var body: Data

    /// Makes an answer; names of header fields are made lower-case.
    public init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
        self.status = status
        self.headers = Dictionary(headers.map { ($0.lowercased(), $1) }) { first, _ in first }
        self.body = body
    }

    /// The body as a value of this type.
    ///
    /// - Throws: ``HTTPEngineError`` with `unreadable`.
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch {
            throw HTTPEngineError(.unreadable, status: status)
        }
    }
}

/// How much of a request's body is on its way.
public struct HTTPProgress: Hashable, Sendable {
    /// The bytes that were sent.
    public var sentBytes: Int64
    /// All bytes.
    public var totalBytes: Int64

    /// Makes a progress.
    public init(sentBytes: Int64, totalBytes: Int64) {
        self.sentBytes = sentBytes
        self.totalBytes = totalBytes
    }

    /// The part that was sent, from 0 to 1.
    public var fraction: Double {
        totalBytes > 0 ? min(1, Double(sentBytes) / Double(totalBytes)) : 0
    }
}

/// Carries requests; `URLSessionTransport` does it over the network.
public protocol HTTPTransport: Sendable {
    /// Carries a request and returns the answer, whatever its status.
    ///
    /// - Throws: ``HTTPEngineError`` with `network`, `timedOut` or `tooLarge`; `CancellationError`.
    func answer(
        to request: URLRequest, progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPAnswer
}
