import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Carries requests by `URLSession`.
///
/// Redirects are followed within the same scheme, host and port only, so that an authorization never reaches another
/// place, and so many times at most; one that is not followed is an answer like any other. Answers beyond the bound are
/// given up.
public final class URLSessionTransport: HTTPTransport {
    /// How many redirects of a request are followed.
    public static let redirectsMax = 5

    private let session: URLSession
    private let exchanges: Exchanges

    /// Makes a transport with a session of its own.
    ///
    /// - Parameters:
    ///   - configuration: The session's configuration; without cookies and caches by default.
    ///   - answerBytesMax: The greatest answer.
    public init(configuration: URLSessionConfiguration = .ephemeral, answerBytesMax: Int = 8 << 20) {
        exchanges = Exchanges(answerBytesMax: answerBytesMax)
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    }

    deinit {
        session.finishTasksAndInvalidate()
    }

    /// Carries a request; cancelling the task cancels it.
    public func answer(
        to request: URLRequest, progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPAnswer {
        try Task.checkCancellation()
        let task = session.dataTask(with: request)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if exchanges.begin(task.taskIdentifier, continuation, progress) {
                    task.resume()
                } else {
                    task.cancel()
                }
            }
        } onCancel: {
            // A task that was never resumed tells its delegate nothing, so the answer is given here.
            exchanges.cancel(task.taskIdentifier)
            exchanges.stop(task)
        }
    }
}

/// What is known of the requests under way.
private final class Exchanges: NSObject, URLSessionDataDelegate {
    private struct Exchange {
        var continuation: CheckedContinuation<HTTPAnswer, any Error>
        var progress: @Sendable (HTTPProgress) -> Void
        var body = Data()
        var redirectCount = 0
    }

    private struct State {
        var exchanges: [Int: Exchange] = [:]
        /// Those that were cancelled before they began.
        var cancelled: Set<Int> = []
    }

    private let state = Mutex(State())
    private let answerBytesMax: Int

    init(answerBytesMax: Int) {
        self.answerBytesMax = answerBytesMax
    }

    /// Begins to listen to a task; false when it was cancelled before, which is its answer then.
    func begin(
        _ id: Int, _ continuation: CheckedContinuation<HTTPAnswer, any Error>,
        _ progress: @escaping @Sendable (HTTPProgress) -> Void
    ) -> Bool {
        let begins = state.withLock { state in
            guard state.cancelled.remove(id) == nil else { return false }
            state.exchanges[id] = Exchange(continuation: continuation, progress: progress)
            return true
        }
        if !begins { continuation.resume(throwing: CancellationError()) }
        return begins
    }

    /// Stops a task whose answer nobody waits for any more.
    ///
    /// Not on Linux: Foundation there ends the whole program when a task is cancelled, or the session with it, in the
    /// moment in which the task ends by itself. Such a request goes on until it ends or times out, and what comes is dropped.
    func stop(_ task: URLSessionTask) {
        #if !canImport(FoundationNetworking)
            task.cancel()
        #endif
    }

    func cancel(_ id: Int) {
        let exchange = state.withLock { state in
            let exchange = state.exchanges.removeValue(forKey: id)
            if exchange == nil { state.cancelled.insert(id) }
            return exchange
        }
        exchange?.continuation.resume(throwing: CancellationError())
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let id = dataTask.taskIdentifier
        let refused: Exchange? = state.withLock { state in
            guard let exchange = state.exchanges[id] else { return nil }
            guard exchange.body.count + data.count <= answerBytesMax else {
                return state.exchanges.removeValue(forKey: id)
            }
            state.exchanges[id]?.body.append(data)
            return nil
        }
        guard let refused else { return }
        refused.continuation.resume(throwing: HTTPEngineError(.tooLarge))
        stop(dataTask)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        let progress = state.withLock { $0.exchanges[task.taskIdentifier]?.progress }
        progress?(HTTPProgress(sentBytes: totalBytesSent, totalBytes: totalBytesExpectedToSend))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        let (old, new) = (task.currentRequest?.url, request.url)
        let isSamePlace = old?.scheme == new?.scheme && old?.host == new?.host && old?.port == new?.port
        let count = state.withLock { state in
            state.exchanges[task.taskIdentifier]?.redirectCount += 1
            return state.exchanges[task.taskIdentifier]?.redirectCount ?? .max
        }
        completionHandler(isSamePlace && count <= URLSessionTransport.redirectsMax ? request : nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = state.withLock({ $0.exchanges.removeValue(forKey: task.taskIdentifier) })
        else { return }
        if let error {
            exchange.continuation.resume(throwing: Self.translated(error))
        } else if let response = task.response as? HTTPURLResponse {
            var headers: [String: String] = [:]
            for (name, value) in response.allHeaderFields { headers["\(name)"] = "\(value)" }
            exchange.continuation.resume(
                returning: HTTPAnswer(status: response.statusCode, headers: headers, body: exchange.body))
        } else {
            exchange.continuation.resume(throwing: HTTPEngineError(.network))
        }
    }

    private static func translated(_ error: any Error) -> any Error {
        switch (error as? URLError)?.code {
        case .cancelled?: CancellationError()
        case .timedOut?: HTTPEngineError(.timedOut)
        default: HTTPEngineError(.network)
        }
    }
}
