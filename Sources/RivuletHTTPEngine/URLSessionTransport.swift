import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Carries requests by `URLSession`.
///
/// Redirects are followed within the same host only, so that an authorization never reaches another one. Answers beyond
/// the bound are given up.
public final class URLSessionTransport: HTTPTransport {
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
        session.invalidateAndCancel()
    }

    /// Carries a request; cancelling the task cancels it.
    public func answer(
        to request: URLRequest, progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPAnswer {
        try Task.checkCancellation()
        let task = session.dataTask(with: request)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                exchanges.begin(task.taskIdentifier, continuation, progress)
                task.resume()
            }
        } onCancel: {
            task.cancel()
        }
    }
}

/// What is known of the requests under way.
private final class Exchanges: NSObject, URLSessionDataDelegate {
    private struct Exchange {
        var continuation: CheckedContinuation<HTTPAnswer, any Error>
        var progress: @Sendable (HTTPProgress) -> Void
        var body = Data()
        var isTooLarge = false
    }

    private let exchanges = Mutex<[Int: Exchange]>([:])
    private let answerBytesMax: Int

    init(answerBytesMax: Int) {
        self.answerBytesMax = answerBytesMax
    }

    func begin(
        _ id: Int, _ continuation: CheckedContinuation<HTTPAnswer, any Error>,
        _ progress: @escaping @Sendable (HTTPProgress) -> Void
    ) {
        exchanges.withLock { $0[id] = Exchange(continuation: continuation, progress: progress) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let id = dataTask.taskIdentifier
        let isTooLarge = exchanges.withLock { exchanges in
            guard let exchange = exchanges[id] else { return false }
            guard exchange.body.count + data.count <= answerBytesMax else {
                exchanges[id]?.isTooLarge = true
                return true
            }
            exchanges[id]?.body.append(data)
            return false
        }
        if isTooLarge { dataTask.cancel() }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        let progress = exchanges.withLock { $0[task.taskIdentifier]?.progress }
        progress?(HTTPProgress(sentBytes: totalBytesSent, totalBytes: totalBytesExpectedToSend))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        let (old, new) = (task.currentRequest?.url, request.url)
        let isSamePlace = old?.scheme == new?.scheme && old?.host == new?.host && old?.port == new?.port
        completionHandler(isSamePlace ? request : nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = exchanges.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else {
            return
        }
        if exchange.isTooLarge {
            exchange.continuation.resume(throwing: HTTPEngineError(.tooLarge))
        } else if let error {
            let isCancelled = (error as? URLError)?.code == .cancelled
            exchange.continuation.resume(
                throwing: isCancelled ? CancellationError() : HTTPEngineError(.network))
        } else if let response = task.response as? HTTPURLResponse {
            var headers: [String: String] = [:]
            for (name, value) in response.allHeaderFields { headers["\(name)"] = "\(value)" }
            exchange.continuation.resume(
                returning: HTTPAnswer(status: response.statusCode, headers: headers, body: exchange.body))
        } else {
            exchange.continuation.resume(throwing: HTTPEngineError(.network))
        }
    }
}
