/// A request as it was received, whole.
public struct HTTPRequest: Sendable, Hashable {
    /// The method in capitals, such as `GET`.
    public var method: String
    /// The path as it was sent, escapes and all, without the query.
    public var path: String
    /// The path's parts between slashes, escapes decoded, empty ones left out.
    ///
    /// An escaped slash stays inside its part, so `/a%2Fb` is one part. Nil when an escape is broken or not UTF-8.
    public var segments: [String]?
    /// The query's names and values in order, escapes decoded.
    public var query: [(name: String, value: String)] {
        get { queryItems.map { ($0.name, $0.value) } }
        set { queryItems = newValue.map(Pair.init(name:value:)) }
    }
    /// The headers in order, their names in small letters.
    public var headers: [(name: String, value: String)] {
        get { headerFields.map { ($0.name, $0.value) } }
        set { headerFields = newValue.map { Pair(name: $0.name.lowercased(), value: $0.value) } }
    }
    /// The body.
    public var body: [UInt8]

    private var queryItems: [Pair] = []
    private var headerFields: [Pair] = []

    private struct Pair: Sendable, Hashable {
        var name: String
        var value: String
    }

    /// Makes a request.
    public init(
        method: String, path: String, query: [(name: String, value: String)] = [],
        headers: [(name: String, value: String)] = [], body: [UInt8] = []
    ) {
        self.method = method
        self.path = path
        self.body = body
        segments = Self.segments(of: path)
        self.query = query
        self.headers = headers
    }

    /// The first value of this name in the query; nil without one.
    public func query(_ name: String) -> String? {
        queryItems.first { $0.name == name }?.value
    }

    /// The first value of this header, in whatever letters it was written; nil without one.
    public func header(_ name: String) -> String? {
        let name = name.lowercased()
        return headerFields.first { $0.name == name }?.value
    }

    private static func segments(of path: String) -> [String]? {
        var segments: [String] = []
        for part in path.utf8.split(separator: UInt8(ascii: "/")) {
            guard let text = PercentEncoding.decode(part) else { return nil }
            segments.append(text)
        }
        return segments
    }
}

/// What is answered to a request.
public struct HTTPResponse: Sendable, Hashable {
    /// The status, such as 200.
    public var status: Int
    /// The headers that are added to those of the server.
    public var headers: [String: String]
    /// The body.
    public var body: [UInt8]

    /// Makes a response.
    public init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A response of UTF-8 text.
    public static func text(_ text: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: ["Content-Type": "text/plain; charset=utf-8"], body: Array(text.utf8))
    }

    /// A response whose body is JSON.
    public static func json(_ body: [UInt8], status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, headers: ["Content-Type": "application/json"], body: body)
    }
}

/// Escapes of the form `%41`.
enum PercentEncoding {
    /// Decodes escapes; nil for a broken one and for what is not UTF-8.
    static func decode(_ bytes: some Sequence<UInt8>) -> String? {
        var decoded: [UInt8] = []
        var iterator = bytes.makeIterator()
        while let byte = iterator.next() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            guard let high = iterator.next().flatMap(value), let low = iterator.next().flatMap(value) else {
                return nil
            }
            decoded.append(high << 4 | low)
        }
        return String(validating: decoded, as: UTF8.self)
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
