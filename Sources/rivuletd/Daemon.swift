import Foundation
import RivuletArguments
import RivuletServer
import RivuletServerCore

/// The program `rivuletd`: reads what it was told, runs the server until a signal, and says how it ended.
enum Daemon {
    static let version = "0.1.0"

    static let command = CommandSpec(
        "rivuletd", summary: "Serves Rivulet clients: login, messages, offline sync.",
        discussion: """
            Everything is kept in one folder. Make tokens for users with 'rivulet token create', also while the \
            server runs.

            SIGTERM and SIGINT stop the server in order: what was taken is committed and acknowledged. A second \
            signal ends it at once. SIGHUP lets it read the certificate and its key again; connections go on.
            """,
        version: version,
        options: [
            Option(
                "--listen", value: "HOST:PORT", isRepeated: true,
                help: "Where to listen, 127.0.0.1:23000 by default; port 0 lets the system choose."),
            Option(
                "--listen-tls", value: "HOST:PORT", isRepeated: true,
                help: "Where to listen over TLS; alone, it takes the place of --listen's default."),
            Option("--tls-cert", value: "FILE", help: "The PEM file of the certificate and its signers."),
            Option("--tls-key", value: "FILE", help: "The PEM file of the certificate's key."),
            Option(
                "--http", value: "HOST:PORT", isRepeated: true,
                help: "Where to serve HTTP (history, /health, /metrics); nowhere by default."),
            Option("--data", value: "DIR", help: "The data folder; \(standardFolder) by default."),
            Option(
                "--config", value: "FILE", help: "A JSON5 file with the same settings; options go before it."),
            Option("--sync-page", value: "N", help: "Messages in one page of a sync, 1000 by default."),
            Option("--loops", value: "N", help: "Event loops that share the connections, 1 by default."),
            Option("--log-level", value: "LEVEL", help: "debug, info, warning or error; info by default."),
            Option("--log-format", value: "FORMAT", help: "text or json; text by default."),
            Option(
                "--ready-fd", value: "N",
                help: "Writes a line with the address to this descriptor once it listens, and closes it."),
            Option(
                "--stop-at-eof",
                help:
                    "Stops in order when standard input ends, as it does when the program that started this ends."
            ),
        ])

    private static let standardFolder = "$XDG_DATA_HOME/rivulet/server or ~/.local/share/rivulet/server"

    /// Runs the program; answers its exit status: 0 after an orderly stop, 1 when it cannot run, 2 for bad usage.
    static func run(_ arguments: [String], _ environment: [String: String]) async -> Int32 {
        switch command.parse(arguments, environment: environment) {
        case .print(let text):
            print(text, to: .standardOutput)
            return 0
        case .refuse(let text):
            print(text, to: .standardError)
            return 2
        case .run(let arguments):
            do {
                let settings = try Settings(arguments, environment)
                return await serve(settings)
            } catch let error as UsageError {
                print(error.description, to: .standardError)
                return 2
            } catch {
                complain("\(error)")
                return 1
            }
        }
    }

    private static func serve(_ settings: Settings) async -> Int32 {
        let allowed = FileDescriptorLimit.raise()
        let logger = logger(settings)
        if allowed < 1024 {
            complain(
                "warning: the system allows only \(allowed) open files; few clients will fit (see ulimit -n)")
        }
        // Watched from the start, so that a signal during a slow start stops it in order, too.
        let signals = Signals()
        if settings.stopsAtEndOfInput { signals.stopAtEndOfInput() }
        let server = Server(settings.configuration, logger: logger)
        do {
            try await server.start()
        } catch {
            complain("\(error)")
            return 1
        }
        for address in server.addresses {
            print("rivuletd: listening on \(address)", to: .standardError)
        }
        for address in server.tlsAddresses {
            print("rivuletd: listening with TLS on \(address)", to: .standardError)
        }
        for address in server.httpAddresses {
            print("rivuletd: serving HTTP on \(address)", to: .standardError)
        }
        if let descriptor = settings.readyDescriptor {
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            do {
                let lines = (server.addresses + server.tlsAddresses).map { "\($0)\n" }.joined()
                try handle.write(contentsOf: Data(lines.utf8))
                try handle.close()
            } catch {
                complain("cannot write to descriptor \(descriptor)")
            }
        }
        for await wish in signals.wishes {
            guard wish == .reload else { break }
            do {
                try server.reloadCertificate()
            } catch {
                complain("the old certificate stays: \(error)")
            }
        }
        await server.stop()
        return 0
    }

    private static func logger(_ settings: Settings) -> ServerLogger {
        let format = settings.logFormat
        return ServerLogger(level: settings.logLevel) { line in
            print(line.formatted(as: format, at: Date()), to: .standardError)
        }
    }

    private static func complain(_ message: String) {
        print("rivuletd: \(message)", to: .standardError)
    }

    private static func print(_ text: String, to handle: FileHandle) {
        do {
            try handle.write(contentsOf: Data((text.hasSuffix("\n") ? text : text + "\n").utf8))
        } catch {
            // Nobody listens to what the program says; it goes on.
        }
    }
}
