import Foundation
import RivuletArguments
import RivuletServer
import RivuletServerCore

/// What the command line and the configuration file say together; the command line goes before the file.
struct Settings {
    var configuration: ServerConfiguration
    var logLevel = LogRecordLine.Level.info
    var logFormat = LogFormat.text
    var readyDescriptor: Int32?
    var stopsAtEndOfInput = false

    init(_ arguments: Arguments, _ environment: [String: String]) throws {
        var file: ConfigurationFile?
        if let path = arguments.string("--config") { file = try Self.read(path) }
        let folder = arguments.string("--data").map(DataDirectory.init(path:))
        guard
            let data = folder ?? file?.data.map(DataDirectory.init(path:))
                ?? DataDirectory.standard(environment: environment)
        else {
            throw ServerError(.badConfiguration, "no data folder: HOME is not set; name one with --data")
        }
        configuration = ServerConfiguration(data: data)
        try file?.apply(to: &configuration)
        configuration.data = data

        try readAddresses(arguments, file)
        if let page: Int = try arguments.value("--sync-page") {
            guard (1...1_000_000).contains(page) else {
                throw arguments.usageError("--sync-page must lie between 1 and 1000000")
            }
            configuration.pageLimit.countMax = page
        }
        if let loops: Int = try arguments.value("--loops") {
            guard (1...64).contains(loops) else {
                throw arguments.usageError("--loops must lie between 1 and 64")
            }
            configuration.loops = loops
        }
        if let descriptor: Int = try arguments.value("--ready-fd") {
            guard (0...65_535).contains(descriptor) else {
                throw arguments.usageError("--ready-fd: \(descriptor) is no descriptor")
            }
            readyDescriptor = Int32(descriptor)
        }
        stopsAtEndOfInput = arguments.flag("--stop-at-eof")
        try readLogSettings(arguments, file)
    }

    private mutating func readAddresses(_ arguments: Arguments, _ file: ConfigurationFile?) throws {
        let listen = try Self.addresses("--listen", arguments)
        if let listen { configuration.listen = listen }
        if let secured = try Self.addresses("--listen-tls", arguments) { configuration.listenTLS = secured }
        if listen == nil, file?.listen == nil, !configuration.listenTLS.isEmpty { configuration.listen = [] }
        if let http = try Self.addresses("--http", arguments) { configuration.http = http }
        switch (arguments.string("--tls-cert"), arguments.string("--tls-key")) {
        case (nil, nil): break
        case (let certificate?, let key?):
            configuration.tls = TLSFiles(certificate: certificate, key: key)
        default: throw arguments.usageError("--tls-cert and --tls-key belong together")
        }
        guard configuration.listenTLS.isEmpty || configuration.tls != nil else {
            throw arguments.usageError("--listen-tls needs --tls-cert and --tls-key")
        }
    }

    /// The addresses of an option; nil when it is not given.
    private static func addresses(_ option: String, _ arguments: Arguments) throws -> [ListenAddress]? {
        let texts = arguments.strings(option)
        guard !texts.isEmpty else { return nil }
        return try texts.map { text in
            guard let address = ListenAddress(text) else {
                throw arguments.usageError("\(option): '\(text)' is not HOST:PORT")
            }
            return address
        }
    }

    private mutating func readLogSettings(_ arguments: Arguments, _ file: ConfigurationFile?) throws {
        if let name = arguments.string("--log-level") ?? file?.logLevel {
            guard let level = LogRecordLine.Level(name: name) else {
                throw arguments.usageError("'\(name)' is no log level: debug, info, warning or error")
            }
            logLevel = level
        }
        if let name = arguments.string("--log-format") ?? file?.logFormat {
            guard let format = LogFormat(rawValue: name) else {
                throw arguments.usageError("'\(name)' is no log format: text or json")
            }
            logFormat = format
        }
    }

    private static func read(_ path: String) throws -> ConfigurationFile {
        let contents: Data
        do {
            contents = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw ServerError(
                .badConfiguration, "cannot read the configuration file \(path)", underlying: error)
        }
        return try ConfigurationFile(contents, path: path)
    }
}
