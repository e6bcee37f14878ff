import Foundation
import RivuletModel
import RivuletServer
import RivuletServerCore

/// The server that a load is run against: one that was named, or a `rivuletd` of its own on a new folder.
final class BenchmarkServer {
    /// What kind of server is started.
    enum Kind {
        case plain
        /// Clients reach it over TLS.
        case secured
        /// It is this program itself as a server, where allocations are counted.
        case counted
    }

    let hosts: [String]
    /// The PEM file that its clients trust; nil without TLS.
    let certificateFile: String?
    private(set) var ports: [UInt16]
    let accounts: [LoadAccount]
    let processIdentifier: Int?
    /// The group of a thousand that the server knows.
    static let group: Int64 = 1
    private var process: Process?
    private var folder: URL?
    /// Where a server of its own listens: a client's address and one of these have 28,000 ports between them.
    private static let ownHosts = (1...4).map { "127.0.0.\($0)" }
    private let questions = Pipe()
    private let answers = Pipe()

    /// Takes the server that was named, or starts one.
    ///
    /// - Parameters:
    ///   - settings: Which server, and how many users it knows.
    ///   - kind: What kind of server is started.
    /// - Throws: `LoadError`, and what the server's files say.
    init(_ settings: ServerBenchmark.Settings, _ kind: Kind = .plain) throws {
        if let named = settings.host, let path = settings.tokensPath {
            hosts = [named]
            ports = [UInt16(settings.port)]
            accounts = try Self.readAccounts(path, count: settings.users)
            processIdentifier = settings.processIdentifier
            certificateFile = nil
            return
        }
        hosts = kind == .counted ? ["127.0.0.1"] : Self.ownHosts
        ports = []
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "rivulet-bench-\(UUID().uuidString)")
        self.folder = folder
        let data = DataDirectory(path: folder.path)
        let directory = try AccountDirectory(in: data)
        var random = SystemRandomNumberGenerator()
        let users = (1...settings.accounts).map { Account(user: UserID(Int64($0))) }
        accounts = try directory.createTokens(for: users, now: .current, using: &random).map {
            LoadAccount(user: $0.record.account.user.rawValue, token: $0.token)
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
        certificateFile = kind == .secured ? try Self.makeCertificate(in: folder) : nil
        let process = Process()
        // Every kind ends with its input, so none is left running when this program is killed.
        process.standardInput = questions
        let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        if kind == .counted {
            process.executableURL = own
            process.arguments = [CountedServer.argument, folder.path]
            process.standardOutput = answers
        } else {
            process.executableURL = own.deletingLastPathComponent().appending(path: "rivuletd")
            process.arguments = Self.arguments(folder, settings, secured: kind == .secured)
        }
        (ports, self.process) = (try Self.launch(process, listeners: hosts.count), process)
        processIdentifier = Int(process.processIdentifier)
    }

    private static func arguments(
        _ folder: URL, _ settings: ServerBenchmark.Settings, secured: Bool
    ) -> [String] {
        let listen = secured ? "--listen-tls" : "--listen"
        let certificate =
            secured
            ? [
                "--tls-cert", folder.appending(path: "cert.pem").path, "--tls-key",
                folder.appending(path: "key.pem").path,
            ]
            : []
        return [
            "--data", folder.path, "--loops", "\(settings.serverLoops)", "--log-level", "warning",
            "--stop-at-eof",
        ] + certificate + ownHosts.flatMap { [listen, "\($0):0"] }
    }

    /// Makes a certificate for the server's own addresses, which signs itself; answers its file.
    private static func makeCertificate(in folder: URL) throws -> String {
        let certificate = folder.appending(path: "cert.pem").path
        let names = ownHosts.map { "IP:\($0)" }.joined(separator: ",")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=rivulet-bench", "-addext", "subjectAltName=\(names)", "-out", certificate,
            "-keyout",
            folder.appending(path: "key.pem").path,
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw LoadError(description: "openssl did not make a certificate")
        }
        return certificate
    }

    /// The first place where it listens.
    var host: String { hosts[0] }
    var port: UInt16 { ports[0] }

    /// How many blocks a server that counts them has asked for so far.
    func allocationCount() throws -> Int {
        questions.fileHandleForWriting.write(Data("\n".utf8))
        let line = String(decoding: answers.fileHandleForReading.availableData, as: UTF8.self)
        guard let count = Int(line.filter { !$0.isWhitespace }) else {
            throw LoadError(description: "the server does not count its allocations")
        }
        return count
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

    /// Starts a server and waits until it says where it listens.
    private static func launch(_ process: Process, listeners count: Int) throws -> [UInt16] {
        let output = Pipe()
        process.standardError = output
        do {
            try process.run()
        } catch {
            throw LoadError(
                description: "cannot start rivuletd beside this program; build it with --product rivuletd")
        }
        // Blocks until the server has printed its lines, which is all that this program waits for.
        var printed = ""
        while case let bytes = output.fileHandleForReading.availableData, !bytes.isEmpty {
            printed += String(decoding: bytes, as: UTF8.self)
            let lines = printed.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            let ports = lines.filter { $0.hasPrefix("rivuletd: listening ") }.compactMap {
                $0.split(separator: ":").last.flatMap { UInt16($0) }
            }
            guard ports.count == count else { continue }
            // What the server complains about later belongs on this program's standard error.
            output.fileHandleForReading.readabilityHandler = { handle in
                let bytes = handle.availableData
                if bytes.isEmpty { handle.readabilityHandler = nil }
                FileHandle.standardError.write(bytes)
            }
            return ports
        }
        throw LoadError(description: "the server did not start: \(printed)")
    }
}
