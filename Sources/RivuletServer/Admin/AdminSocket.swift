import Foundation
import RivuletServerCore
import Synchronization

/// The socket in the data folder through which programs of the same owner ask a running server.
///
/// A connection carries requests and answers as lines of JSON, one answer for each request, in order.
final class AdminSocket: Sendable {
    private let socket: UnixSocket
    private let path: String
    private let desk: AdminDesk
    private let open = Mutex<[ObjectIdentifier: UnixSocket]>([:])
    private let ended = DispatchGroup()

    /// The most connections at a time; later ones are closed.
    static let connectionsMax = 16
    /// The longest line, in bytes.
    static let lineBytesMax = 1024 * 1024
    /// After how many seconds of silence a connection is closed.
    static let patienceSeconds = 30

    /// Listens in a folder whose lock the caller holds.
    ///
    /// - Throws: `UnixSocket.Failure`.
    init(in folder: DataDirectory, desk: AdminDesk) throws(UnixSocket.Failure) {
        path = folder.adminSocketPath
        self.desk = desk
        socket = try UnixSocket.listen(at: path)
        ended.enter()
        BlockingWork.run { [self] in
            defer { ended.leave() }
            while let connection = socket.accept() { take(connection) }
        }
    }

    private func take(_ connection: UnixSocket) {
        let isTaken = open.withLock { open in
            guard open.count < Self.connectionsMax else { return false }
            open[ObjectIdentifier(connection)] = connection
            return true
        }
        guard isTaken else { return }
        ended.enter()
        BlockingWork.run { [self] in
            defer { ended.leave() }
            serve(connection)
            open.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(connection)) }
        }
    }

    /// Runs on a thread of its own until the other side ends, is silent for too long, or breaks the rules.
    private func serve(_ connection: UnixSocket) {
        connection.setPatience(seconds: Self.patienceSeconds)
        var splitter = LineSplitter(bytesMax: Self.lineBytesMax)
        while let bytes = connection.read() {
            guard let lines = splitter.take(bytes) else {
                _ = connection.write(
                    AdminCoding.line(AdminAnswer.failure("too_long", "the request is too long")))
                return
            }
            for line in lines {
                guard connection.write(AdminCoding.line(answer(line))) else { return }
            }
        }
    }

    private func answer(_ line: [UInt8]) -> AdminAnswer {
        guard let request = AdminCoding.request(line) else {
            return .failure("bad_request", "the request is not understood")
        }
        let answer = Mutex<AdminAnswer?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        // This thread is the connection's own, so that waiting on it holds nobody up.
        Task { [desk] in
            let made = await desk.answer(request)
            answer.withLock { $0 = made }
            isDone.signal()
        }
        isDone.wait()
        return answer.withLock { $0 } ?? .failure("failed", "the request failed")
    }

    /// Accepts nothing more, lets the requests under way end, and removes the socket; blocks until then.
    func stop() {
        socket.shutDown()
        for connection in open.withLock({ Array($0.values) }) { connection.shutDown() }
        ended.wait()
        unlink(path)
    }
}

/// Requests and answers as lines.
enum AdminCoding {
    static func request(_ line: [UInt8]) -> AdminRequest? {
        try? JSONDecoder().decode(AdminRequest.self, from: Data(line))
    }

    static func answer(_ line: [UInt8]) -> AdminAnswer? {
        try? JSONDecoder().decode(AdminAnswer.self, from: Data(line))
    }

    static func line(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        // Values of these types always encode; an empty line is answered as not understood.
        let bytes = (try? encoder.encode(value)).map { [UInt8]($0) } ?? []
        return bytes + [UInt8(ascii: "\n")]
    }
}
