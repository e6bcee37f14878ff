/// The conversation with a proxy before it passes bytes on: a value that is fed what the proxy says.
///
/// It never takes more of the stream than belongs to the proxy; what follows is given back.
struct ProxyHandshake {
    /// What is to be done next.
    enum Step: Equatable {
        /// Send these bytes, and give what comes then to ``receive(_:)``; none when more must come first.
        case send([UInt8])
        /// The way is open; these bytes came from the server already.
        case open(rest: [UInt8])
        /// The proxy refuses, or is none.
        case failed(TransportError)
    }

    private enum State {
        case connectAnswer
        case methodAnswer
        case passwordAnswer
        case requestAnswer
        case finished
    }

    private let options: ProxyOptions
    private let target: Endpoint
    private var state = State.finished
    private var buffer: [UInt8] = []

    /// The longest answer to CONNECT that is read.
    private static let headBytesMax = 16_384

    init(_ options: ProxyOptions, to target: Endpoint) {
        self.options = options
        self.target = target
    }

    /// The first bytes to send.
    mutating func start() -> Step {
        switch options.kind {
        case .http:
            state = .connectAnswer
            return connectRequest()
        case .socks5:
            guard target.host.utf8.count <= 255 else {
                return fail("PROXY_BAD_TARGET", "the host's name is too long for SOCKS")
            }
            state = .methodAnswer
            return .send(options.user == nil ? [5, 1, 0] : [5, 2, 0, 2])
        }
    }

    /// Takes what the proxy sent.
    mutating func receive(_ bytes: [UInt8]) -> Step {
        buffer += bytes
        switch state {
        case .connectAnswer: return readConnectAnswer()
        case .methodAnswer: return readMethod()
        case .passwordAnswer: return readPasswordAnswer()
        case .requestAnswer: return readRequestAnswer()
        case .finished: return .failed(TransportError(code: "PROXY_PROTOCOL", message: "the proxy is done"))
        }
    }

    private mutating func fail(_ code: String, _ message: String) -> Step {
        state = .finished
        return .failed(TransportError(code: code, message: "proxy \(options): \(message)"))
    }

    private mutating func open(after count: Int) -> Step {
        state = .finished
        return .open(rest: Array(buffer.dropFirst(count)))
    }

    // MARK: HTTP

    private mutating func connectRequest() -> Step {
        let name = target.description
        guard !name.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
            return fail("PROXY_BAD_TARGET", "the host's name cannot be sent")
        }
        var head = "CONNECT \(name) HTTP/1.1\r\nHost: \(name)\r\n"
        if let user = options.user {
            let secret = Self.base64(Array("\(user):\(options.password ?? "")".utf8))
            head += "Proxy-Authorization: Basic \(secret)\r\n"
        }
        return .send(Array((head + "\r\n").utf8))
    }

    private mutating func readConnectAnswer() -> Step {
        let end: [UInt8] = [13, 10, 13, 10]
        // Only the end of what came before can be part of the blank line, but an answer is short.
        guard let blank = buffer.firstRange(of: end) else {
            guard buffer.count <= Self.headBytesMax else {
                return fail("PROXY_PROTOCOL", "its answer is too long")
            }
            guard buffer.starts(with: Array("HTTP/".utf8).prefix(buffer.count)) else {
                return fail("PROXY_PROTOCOL", "it does not speak HTTP")
            }
            return .send([])
        }
        let line = String(decoding: buffer.prefix { $0 != 13 }, as: UTF8.self)
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), words[1].utf8.count == 3,
            words[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let status = UInt16(words[1])
        else { return fail("PROXY_PROTOCOL", "it does not speak HTTP") }
        switch status {
        case 200..<300: return open(after: blank.upperBound)
        case 407: return fail("PROXY_AUTHENTICATION", "it wants another user or password (407)")
        default: return fail("PROXY_REFUSED", "it answered \(status)")
        }
    }

    // MARK: SOCKS

    private mutating func readMethod() -> Step {
        guard buffer.first ?? 5 == 5 else { return fail("PROXY_PROTOCOL", "it does not speak SOCKS 5") }
        guard buffer.count >= 2 else { return .send([]) }
        let method = buffer[1]
        buffer.removeFirst(2)
        switch method {
        case 0:
            state = .requestAnswer
            return .send(socksRequest())
        case 2 where options.user != nil:
            let (user, password) = (Array((options.user ?? "").utf8), Array((options.password ?? "").utf8))
            guard (1...255).contains(user.count), password.count <= 255 else {
                return fail("PROXY_AUTHENTICATION", "the user's name or password is too long")
            }
            state = .passwordAnswer
            return .send([1, UInt8(user.count)] + user + [UInt8(password.count)] + password)
        default:
            return fail("PROXY_AUTHENTICATION", "it wants a user and a password")
        }
    }

    private mutating func readPasswordAnswer() -> Step {
        guard buffer.count >= 2 else { return .send([]) }
        guard buffer[1] == 0 else {
            return fail("PROXY_AUTHENTICATION", "it wants another user or password")
        }
        buffer.removeFirst(2)
        state = .requestAnswer
        return .send(socksRequest())
    }

    /// CONNECT to the name, which the proxy looks up; `start` has checked its length.
    private func socksRequest() -> [UInt8] {
        let name = Array(target.host.utf8.prefix(255))
        return [5, 1, 0, 3, UInt8(name.count)] + name
            + [UInt8(target.port >> 8), UInt8(truncatingIfNeeded: target.port)]
    }

    private mutating func readRequestAnswer() -> Step {
        guard buffer.first ?? 5 == 5 else { return fail("PROXY_PROTOCOL", "it does not speak SOCKS 5") }
        guard buffer.count >= 2 else { return .send([]) }
        guard buffer[1] == 0 else {
            return fail("PROXY_REFUSED", Self.socksReasons[buffer[1]] ?? "it answered \(buffer[1])")
        }
        guard buffer.count >= 5 else { return .send([]) }
        let addressCount: Int
        switch buffer[3] {
        case 1: addressCount = 4
        case 3: addressCount = 1 + Int(buffer[4])
        case 4: addressCount = 16
        default: return fail("PROXY_PROTOCOL", "its answer has an unknown kind of address")
        }
        let count = 4 + addressCount + 2
        return buffer.count >= count ? open(after: count) : .send([])
    }

    private static let socksReasons: [UInt8: String] = [
        1: "general failure", 2: "its rules forbid the connection", 3: "network unreachable",
        4: "host unreachable", 5: "connection refused", 6: "time to live expired",
        7: "it cannot connect", 8: "it does not know this kind of address",
    ]

    private static func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0 as UInt32) { $0 << 8 | UInt32($1) } << (8 * UInt32(3 - group.count))
            for index in 0..<4 {
                let isPadding = index > group.count
                text.append(
                    isPadding ? UInt8(ascii: "=") : alphabet[Int(bits >> (18 - 6 * UInt32(index)) & 63)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
