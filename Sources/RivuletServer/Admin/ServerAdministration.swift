import Foundation
public import RivuletServerCore

/// The administration of a data folder, whether or not a server runs on it.
///
/// ```swift
/// let administration = ServerAdministration(of: DataDirectory(path: "/var/lib/rivulet"))
/// let answer = try await administration.perform(.listGroups(user: nil))
/// ```
public struct ServerAdministration: Sendable {
    private let folder: DataDirectory
    private let now: @Sendable () -> WallTime

    /// How long an answer of the running server is waited for.
    private static let patienceSeconds = 60

    /// Names the folder.
    ///
    /// - Parameters:
    ///   - folder: The data folder.
    ///   - now: The wall clock for changes while no server runs.
    public init(of folder: DataDirectory, now: @escaping @Sendable () -> WallTime = { .current }) {
        self.folder = folder
        self.now = now
    }

    /// Asks the running server through its socket, or acts on the files of a stopped one.
    ///
    /// - Returns: The answer; `ok` is false for a request that was refused.
    /// - Throws: ``ServerError`` when neither server nor files can be reached.
    public func perform(_ request: AdminRequest) async throws -> AdminAnswer {
        let folder = folder
        let answer = try await withCheckedThrowingContinuation { continuation in
            BlockingWork.run {
                continuation.resume(with: Result { try Self.ask(folder, request) })
            }
        }
        return if let answer { answer } else { try await performOnFiles(request) }
    }

    /// The answer of the running server; nil when none listens.
    private static func ask(_ folder: DataDirectory, _ request: AdminRequest) throws -> AdminAnswer? {
        let socket: UnixSocket
        do {
            socket = try UnixSocket.connect(to: folder.adminSocketPath)
        } catch {
            switch error.errno {
            // A server that was killed leaves its socket behind, and nobody listens on it.
            case ENOENT, ECONNREFUSED, ENOTDIR: return nil
            case EACCES, EPERM:
                throw ServerError(
                    .folderUnwritable,
                    "\(folder.adminSocketPath) belongs to another user; run this as the server's user")
            default:
                throw ServerError(
                    .notRunning,
                    "cannot reach the server at \(folder.adminSocketPath): \(String(cString: strerror(error.errno)))"
                )
            }
        }
        socket.setPatience(seconds: patienceSeconds)
        var splitter = LineSplitter(bytesMax: 64 * 1024 * 1024)
        guard socket.write(AdminCoding.line(request)) else { throw noAnswer(folder) }
        while let bytes = socket.read(), let lines = splitter.take(bytes) {
            guard let line = lines.first else { continue }
            guard let answer = AdminCoding.answer(line) else { break }
            return answer
        }
        throw noAnswer(folder)
    }

    private static func noAnswer(_ folder: DataDirectory) -> ServerError {
        ServerError(
            .notRunning,
            "the server at \(folder.path) gave no answer; it may be stopping or of another version")
    }

    private func performOnFiles(_ request: AdminRequest) async throws -> AdminAnswer {
        switch request {
        case .createTokens, .listTokens, .revokeTokens:
            // Several processes may have the accounts open, and there is nobody to disconnect.
            return await AdminDesk(
                memberships: { Memberships() }, apply: { _ in [] }, tokens: tokenDesk
            ).answer(request)
        default: return try await changeMembers(request)
        }
    }

    private var tokenDesk: TokenDesk {
        TokenDesk(
            onAccounts: { [folder] body in
                let directory = try AccountDirectory(in: folder)
                defer { directory.close() }
                return try body(directory)
            }, endConnections: { _ in }, now: now)
    }

    private func changeMembers(_ request: AdminRequest) async throws -> AdminAnswer {
        let file: MembershipFile
        do {
            file = try MembershipFile(whileStoppedIn: folder)
        } catch let error as ServerError where error.code == .folderInUse {
            throw ServerError(
                .folderInUse,
                "the data folder \(folder.path) is in use, and nobody answers at its admin socket; try again in a moment",
                underlying: error)
        }
        let held = OneThread(file)
        defer { held.file.close() }
        return await AdminDesk(
            memberships: { held.file.memberships }, apply: { [now] in try held.file.apply($0, at: now()) },
            tokens: tokenDesk
        ).answer(request)
    }

    /// Carries a file that is used by one task at a time.
    private final class OneThread: @unchecked Sendable {
        // Invariant: only `performOnFiles` has it, and it uses it step after step.
        let file: MembershipFile

        init(_ file: MembershipFile) {
            self.file = file
        }
    }
}
