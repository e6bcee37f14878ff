import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Fetches one file of the web, and gives it up as soon as it proves larger than allowed.
///
/// Nothing of it is kept on the disk, and no cookie is sent.
nonisolated final class BoundedDownload: NSObject, URLSessionDataDelegate, Sendable {
    /// How long the server may be silent, and how long the whole may take.
    private static let silenceMax: TimeInterval = 15
    private static let durationMax: TimeInterval = 120

    private struct State {
        var data = Data()
        var waiting: CheckedContinuation<Data?, Never>?
        var isDone = false
    }

    private let byteCountMax: Int
    private let state = Mutex(State())

    private init(byteCountMax: Int) {
        self.byteCountMax = byteCountMax
    }

    /// The bytes at an address; nil when they cannot be had, or are too many.
    static func data(from url: URL, byteCountMax: Int) async -> Data? {
        let download = BoundedDownload(byteCountMax: byteCountMax)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = silenceMax
        configuration.timeoutIntervalForResource = durationMax
        let session = URLSession(configuration: configuration, delegate: download, delegateQueue: nil)
        let task = session.dataTask(with: url)
        let found = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                download.state.withLock { $0.waiting = continuation }
                task.resume()
            }
        } onCancel: {
            task.cancel()
        }
        session.invalidateAndCancel()
        return found
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        let isWelcome = status == 200 && response.expectedContentLength <= Int64(byteCountMax)
        completionHandler(isWelcome ? .allow : .cancel)
        if !isWelcome { finish(nil) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLarge = state.withLock { state in
            guard !state.isDone, state.data.count + data.count <= byteCountMax else { return true }
            state.data.append(data)
            return false
        }
        guard isTooLarge else { return }
        dataTask.cancel()
        finish(nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        finish(error == nil ? state.withLock { $0.data } : nil)
    }

    private func finish(_ data: Data?) {
        let waiting = state.withLock { state in
            defer {
                state.waiting = nil
                state.isDone = true
                state.data = Data()
            }
            return state.waiting
        }
        waiting?.resume(returning: data)
    }
}
