internal import Foundation
internal import RivuletArguments
internal import RivuletModel
internal import RivuletTransport
internal import TLSKit

/// What every command that connects as a user is told.
struct ClientOptions: Sendable {
    /// The port of a server that names none.
    static let defaultPort: UInt16 = 23000

    var user: UserID
    var server: Endpoint
    var token: String
    var store: String
    var device: String
    /// TLS and a proxy, if wanted.
    var transport = TransportOptions()

    static let options: [Option] =
        [
            Option(
                "--user", "-u", value: "ID", environment: "RIVULET_USER", isRequired: true,
                help: "Your user number.")
        ] + storeOptions + [
            serverOption,
            Option(
                "--token", value: "TOKEN", environment: "RIVULET_TOKEN",
                help:
                    "Your token. Others on this machine can read it from the command line; a file or the variable is safer."
            ),
            Option("--token-file", value: "FILE", help: "A file that holds your token."),
            Option(
                "--device", value: "ID",
                help:
                    "The name of this device for the server; one is made and kept in the store folder when not given."
            ),
        ] + transportOptions

    private static let transportOptions: [Option] = [
        Option("--tls", help: "Connect over TLS; the server's certificate must be for its host name."),
        Option(
            "--ca", value: "FILE", environment: "RIVULET_CA",
            help: "The authorities to trust instead of the system's, as a PEM file; implies --tls."),
        Option(
            "--pin", value: "DIGEST", isRepeated: true,
            help: "A SHA-256 digest of the server's public key, in base64 or hexadecimal; implies --tls."),
        Option(
            "--proxy", value: "URL", environment: "RIVULET_PROXY",
            help: "The way to the server: http://[USER:PASSWORD@]HOST:PORT or socks5://…"),
    ]

    static let serverOption = Option(
        "--server", "-s", value: "HOST:PORT", default: "127.0.0.1:23000", environment: "RIVULET_SERVER",
        help: "The server.")

    static let storeOptions: [Option] = [
        Option(
            "--store", value: "DIR", environment: "RIVULET_STORE",
            help: "The folder that keeps your messages; rivulet/client in your data folder when not given.")
    ]

    /// Reads and checks the options, and the token's file.
    static func read(_ arguments: Arguments, _ context: CommandContext) throws -> ClientOptions {
        let user = try user(arguments)
        let server = try server(arguments)
        let store = try storeFolder(arguments, context)
        let token = try token(arguments, context)
        return ClientOptions(
            user: user, server: server, token: token, store: store,
            device: try arguments.string("--device") ?? DeviceFile(folder: store).device(),
            transport: try transport(arguments))
    }

    private static func transport(_ arguments: Arguments) throws -> TransportOptions {
        var options = TransportOptions()
        let (authorities, pins) = (arguments.string("--ca"), arguments.strings("--pin"))
        if arguments.flag("--tls") || authorities != nil || !pins.isEmpty {
            var tls = TLSClientOptions(authorityFile: authorities)
            for text in pins {
                guard let pin = TLSPin(text) else {
                    throw arguments.usageError("--pin: '\(text)' is not a SHA-256 digest")
                }
                tls.pins.insert(pin)
            }
            options.tls = tls
        }
        if let text = arguments.string("--proxy") {
            guard let proxy = ProxyOptions(text) else {
                // The text may hold a password: it is not repeated.
                throw arguments.usageError("--proxy must be http://HOST:PORT or socks5://HOST:PORT")
            }
            options.proxy = proxy
        }
        do {
            try options.check()
        } catch {
            throw CommandError(error.message)
        }
        return options
    }

    static func server(_ arguments: Arguments) throws -> Endpoint {
        let text = arguments.string("--server") ?? ""
        guard let server = Endpoint(text, defaultPort: defaultPort), server.port != 0 else {
            throw arguments.usageError("--server: '\(text)' is not a host or HOST:PORT")
        }
        return server
    }

    static func user(_ arguments: Arguments) throws -> UserID {
        try positive("--user", arguments)
    }

    static func positive(_ name: String, _ arguments: Arguments) throws -> UserID {
        let number = try arguments.required(name, as: Int64.self)
        guard number > 0 else { throw arguments.usageError("\(name): a user's number is 1 or more") }
        return UserID(number)
    }

    static func storeFolder(_ arguments: Arguments, _ context: CommandContext) throws -> String {
        if let folder = arguments.string("--store") { return folder }
        if let base = context.environment["XDG_DATA_HOME"], base.hasPrefix("/") {
            return base + "/rivulet/client"
        }
        if let home = context.environment["HOME"], home.hasPrefix("/") {
            return home + "/.local/share/rivulet/client"
        }
        throw arguments.usageError("--store is missing, and the environment names no home folder")
    }

    private static func token(_ arguments: Arguments, _ context: CommandContext) throws -> String {
        if let path = arguments.string("--token-file") {
            return try TokenFile.read(path, user: try user(arguments))
        }
        guard let token = arguments.string("--token") else {
            throw CommandError(
                "no token: name one with --token-file FILE or the environment variable RIVULET_TOKEN; "
                    + "'rivulet token create' makes one on the server's machine")
        }
        return token
    }
}

/// A file with a token, alone or as one line among those that `rivulet token create --users` prints.
enum TokenFile {
    static func read(_ path: String, user: UserID) throws -> String {
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw CommandError(
                "cannot read the token file \(path); check that it exists and is yours to read")
        }
        let lines = text.split(whereSeparator: \.isNewline).map { $0.split(separator: " ") }
        let words = lines.filter { !$0.isEmpty }
        if words.count == 1, words[0].count == 1 { return String(words[0][0]) }
        guard let line = words.first(where: { $0.count == 2 && $0[0] == "\(user.rawValue)" }) else {
            throw CommandError("the token file \(path) holds no token for user \(user.rawValue)")
        }
        return String(line[1])
    }
}

/// The made-up name of this device, kept beside the messages so that the server knows it again.
struct DeviceFile {
    let folder: String

    func device() throws -> String {
        let path = folder + "/device"
        if let known = FileManager.default.contents(atPath: path) {
            let text = String(decoding: known, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            if !text.isEmpty { return text }
        }
        let made = "rivulet-" + UUID().uuidString.lowercased()
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try Data((made + "\n").utf8).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw CommandError("cannot write in the store folder \(folder); name another one with --store")
        }
        return made
    }
}
