public import Foundation
public import RivuletFlow
public import RivuletModel

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What the HTTP engine needs to know beside the mapping; every member has a default.
public struct HTTPEngineOptions: Sendable {
    /// How often a request that may be repeated is tried again after the network or the server failed.
    public var retryCountMax = 3
    /// The longest wait before the first new attempt; it doubles with each, and a random part of it is waited.
    public var retryDelay = Duration.milliseconds(500)
    /// The longest wait before any attempt, also when the server asks for a longer one.
    public var retryDelayMax = Duration.seconds(30)
    /// How long the server may take to answer.
    public var timeout = Duration.seconds(30)
    /// How often new messages are asked for while a session is shown; nil for never.
    public var pollInterval: Duration?
    /// The value of the Authorization header; nil for none.
    ///
    /// It is asked before each request, and once more, with true, after the server refused the last one.
    public var authorization: @Sendable (_ wasRefused: Bool) async throws -> String? = { _ in nil }
    /// Hears how much of a message is on its way, by its uuid; from any thread.
    public var progress: @Sendable (_ uuid: String, HTTPProgress) -> Void = { _, _ in }
    /// Gives random numbers from 0 to 1, for waiting.
    public var random: @Sendable () -> Double = { Double.random(in: 0...1) }

    /// Makes the standard options.
    public init() {}
}

/// An engine over a business server's HTTP interface.
///
/// What the requests look like is the ``HTTPMapping``'s matter; the engine adds authorization, attempts, time limits,
/// errors, and asking for new messages now and then.
public final class HTTPEngine: Sendable {
    /// The user.
    public let user: UserID
    /// Tells the events; publish here what the app hears in other ways, such as by a push.
    public let hub = SessionEventHub()
    let mapping: HTTPMapping
    let options: HTTPEngineOptions
    let clock: any Clock<Duration>
    let folds: SessionFolds
    private let base: URL
    private let transport: any HTTPTransport

    /// Makes an engine.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - base: The address below which the mapping's paths lie.
    ///   - mapping: How calls become requests and answers become messages.
    ///   - options: Everything else.
    ///   - transport: Carries the requests.
    ///   - clock: By which it waits.
    public init(
        user: UserID, base: URL, mapping: HTTPMapping, options: HTTPEngineOptions = HTTPEngineOptions(),
        transport: any HTTPTransport = URLSessionTransport(), clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.user = user
        self.base = base
        self.mapping = mapping
        self.options = options
        self.transport = transport
        self.clock = clock
        folds = SessionFolds(user: user)
    }

    /// The engine for a `DataManager`.
    public var engine: Engine {
        Engine(
            user: user, provider: self, service: self, events: self,
            controls: mapping.control == nil ? nil : self,
            tallies: mapping.readHistory == nil ? nil : self)
    }

    // MARK: requests

    /// Carries a request out, with as many attempts as the options allow, and returns an answer of success.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - uuid: The message whose progress is told; nil for none.
    /// - Returns: The answer, with a status from 200 to 299.
    /// - Throws: ``HTTPEngineError``, what the authorization throws, `CancellationError`.
    public func perform(_ request: HTTPRequest, progressOf uuid: String? = nil) async throws -> HTTPAnswer {
        var attempt = 0
        var wasRefused = false
        while true {
            let failure: HTTPEngineError
            var wait: Duration?
            do {
                let answer = try await once(request, wasRefused: wasRefused, uuid)
                if (200..<300).contains(answer.status) { return answer }
                failure = error(of: answer)
                if failure.code == .unauthorized, !wasRefused {
                    // One new authorization for each request; it does not count as an attempt.
                    wasRefused = true
                    continue
                }
                wait = retryAfter(answer)
            } catch let error as HTTPEngineError {
                failure = error
            }
            let isPassing = [.network, .timedOut, .unavailable].contains(failure.code)
            guard isPassing, request.isRepeatable, attempt < options.retryCountMax else { throw failure }
            try await clock.sleep(for: min(wait ?? backOff(attempt), options.retryDelayMax))
            attempt += 1
        }
    }

    private func once(
        _ request: HTTPRequest, wasRefused: Bool, _ uuid: String?
    ) async throws -> HTTPAnswer {
        var urlRequest = URLRequest(url: try address(of: request))
        urlRequest.httpMethod = request.method
        urlRequest.httpBody = request.body
        let (seconds, attoseconds) = options.timeout.components
        urlRequest.timeoutInterval = Double(seconds) + Double(attoseconds) / 1e18
        urlRequest.setValue("application/json", forHTTPHeaderField: "Accept")
        for (name, value) in request.headers { urlRequest.setValue(value, forHTTPHeaderField: name) }
        if let authorization = try await options.authorization(wasRefused) {
            urlRequest.setValue(authorization, forHTTPHeaderField: "Authorization")
        }
        let progress = options.progress
        return try await transport.answer(to: urlRequest) { part in
            if let uuid { progress(uuid, part) }
        }
    }

    private func address(of request: HTTPRequest) throws -> URL {
        let url = base.appendingPathComponent(request.path)
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
            throw HTTPEngineError(.invalidRequest)
        }
        if !request.query.isEmpty { parts.queryItems = request.query }
        guard let address = parts.url else { throw HTTPEngineError(.invalidRequest) }
        return address
    }

    private func error(of answer: HTTPAnswer) -> HTTPEngineError {
        let code: HTTPEngineError.Code =
            switch answer.status {
            case 401: .unauthorized
            case 408, 425, 429, 500, 502, 503, 504: .unavailable
            default: .refused
            }
        let (serverCode, message) = mapping.readError(answer)
        return HTTPEngineError(code, status: answer.status, serverCode: serverCode, message: message)
    }

    private func retryAfter(_ answer: HTTPAnswer) -> Duration? {
        guard let text = answer.headers["retry-after"], let seconds = Int64(text), seconds >= 0 else {
            return nil
        }
        return .seconds(min(seconds, 86_400))
    }

    private func backOff(_ attempt: Int) -> Duration {
        let longest = options.retryDelay * (1 << min(attempt, 16))
        return min(longest, options.retryDelayMax) * max(0, min(1, options.random()))
    }
}
