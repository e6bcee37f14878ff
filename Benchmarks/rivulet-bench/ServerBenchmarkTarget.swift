import Foundation
import RivuletModel
import RivuletServer
import RivuletServerCore

/// The server that a load is run against: one that was named, or a `rivuletd` of its own on a new folder.
final class BenchmarkServer {
    let host: String
    let port: UInt16
    let accounts: [LoadAccount]
    let processIdentifier: Int?
    /// The group of a thousand that the server knows.
    static let group: Int64 = 1
    private var process: Process?
    private var folder: URL?

    init(_ settings: ServerBenchmark.Settings) throws {
        if let named = settings.host, let path = settings.tokensPath {
            host = named
            port = UInt16(settings.port)
            accounts = try Self.readAccounts(path, count: settings.users)
            processIdentifier = settings.processIdentifier
            return
        }
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "rivulet-bench-\(UUID().uuidString)")
        self.folder = folder
        let data = DataDirectory(path: folder.path)
        let directory = try AccountDirectory(in: data)
        var random = SystemRandomNumberGenerator()
        accounts = try (1...settings.accounts).map { user in
            let issued = try directory.createToken(
                for: Account(user: UserID(Int64(user))), now: .current, using: &random)
            return LoadAccount(user: Int64(user), token: issued.token)
        }
        directory.close()
        let members = try MembershipFile(whileStoppedIn: data)
        _ = try members.apply(
            [
                .createGroup(
                    GroupID(Self.group), app: Account.defaultApp, name: "bench", isSuper: false,
                    owner: UserID(1), members: (1...Int64(FanoutBenchmark.members)).map { UserID($0) })
            ], at: .current)
        members.close()
        (process, port) = try Self.launch(folder, loops: settings.serverLoops)
        host = "127.0.0.1"
        processIdentifier = process.map { Int($0.processIdentifier) }
    }

    /// Ends the server and removes its folder.
    func stop() {
        process?.terminate()
        process?.waitUntilExit()
        process = nil
        if let folder { try? FileManager.default.removeItem(at: folder) }
        folder = nil
    }

    private static func readAccounts(_ path: String, count: Int) throws -> [LoadAccount] {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let accounts = try text.split(separator: "\n").prefix(count).map { line in
            let words = line.split(separator: " ")
            guard words.count == 2, let user = Int64(words[0]) else {
                throw LoadError(description: "\(path): a line is not 'uid token'")
            }
            return LoadAccount(user: user, token: String(words[1]))
        }
        guard accounts.count == count else {
            throw LoadError(description: "\(path) names \(accounts.count) users, \(count) are needed")
        }
        return accounts
    }

    private static func launch(_ folder: URL, loops: Int) throws -> (Process, UInt16) {
        let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        let process = Process()
        process.executableURL = own.deletingLastPathComponent().appending(path: "rivuletd")
        process.arguments = [
            "--data", folder.path, "--listen", "127.0.0.1:0", "--loops", "\(loops)", "--log-level", "warning",
        ]
        let output = Pipe()
        process.standardError = output
        do {
            try process.run()
        } catch {
            throw LoadError(
                description: "cannot start rivuletd beside this program; build it with --product rivuletd")
        }
        // Blocks until the server has printed its line, which is all that this program waits for.
        var printed = ""
        while case let bytes = output.fileHandleForReading.availableData, !bytes.isEmpty {
            printed += String(decoding: bytes, as: UTF8.self)
            let lines = printed.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            guard let line = lines.first(where: { $0.hasPrefix("rivuletd: listening on") }) else { continue }
            guard let port = line.split(separator: ":").last.flatMap({ UInt16($0) }) else { break }
            // What the server complains about later belongs on this program's standard error.
            output.fileHandleForReading.readabilityHandler = { handle in
                let bytes = handle.availableData
                if bytes.isEmpty { handle.readabilityHandler = nil }
                FileHandle.standardError.write(bytes)
            }
            return (process, port)
        }
        throw LoadError(description: "the server did not start: \(printed)")
    }
}
