import Foundation
import RivuletHTTPEngine
import RivuletModel
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The business server, played in this process; in an app `URLSessionTransport` is in its place.
final class TopicServer: HTTPTransport {
    private struct State {
        var comments: [HTTPSession.Comment] = []
        var failures = 0
    }

    private let state = Mutex(State())

    init(commentCount: Int) {
        for number in 1...max(1, commentCount) { write("comment \(number)", by: 8) }
    }

    var count: Int { state.withLock { $0.comments.count } }

    /// The next request is answered with "service unavailable".
    func failNext() { state.withLock { $0.failures += 1 } }

    @discardableResult
    func write(_ body: String, by author: Int64, name: String = UUID().uuidString) -> HTTPSession.Comment {
        state.withLock { state in
            // A comment that was written already is not written again: this is what the name is for.
            if let known = state.comments.first(where: { $0.name == name }) { return known }
            let number = (state.comments.last?.number ?? 0) + 1
            let comment = HTTPSession.Comment(
                number: number, author: author, body: body, name: name, at: 1_700_000_000 + Double(number))
            state.comments.append(comment)
            return comment
        }
    }

    func answer(
        to request: URLRequest, progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPAnswer {
        guard request.value(forHTTPHeaderField: "Authorization") == "Bearer fresh" else {
            return HTTPAnswer(status: 401)
        }
        let fails = state.withLock { state in
            guard state.failures > 0, request.httpMethod == "POST" else { return false }
            state.failures -= 1
            return true
        }
        if fails { return HTTPAnswer(status: 503) }
        switch request.httpMethod {
        case "POST":
            let new = try JSONDecoder().decode(HTTPSession.NewComment.self, from: request.httpBody ?? Data())
            let comment = write(new.body, by: HTTPSession.ada.rawValue, name: new.name)
            return HTTPAnswer(status: 201, body: try JSONEncoder().encode(comment))
        case "DELETE":
            let number = Int64(request.url?.lastPathComponent ?? "") ?? 0
            state.withLock { $0.comments.removeAll { $0.number == number } }
            return HTTPAnswer(status: 204)
        default:
            return HTTPAnswer(status: 200, body: try JSONEncoder().encode(page(request.url)))
        }
    }

    private func page(_ url: URL?) -> [HTTPSession.Comment] {
        let items = url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: false)?.queryItems } ?? []
        let number = { (name: String) in items.first { $0.name == name }?.value.flatMap { Int64($0) } }
        let count = Int(number("count") ?? 20)
        let comments = state.withLock { $0.comments }
        if let above = number("above") { return Array(comments.filter { $0.number > above }.prefix(count)) }
        return comments.filter { $0.number < number("below") ?? .max }.suffix(count)
    }
}
