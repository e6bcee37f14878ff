public import Foundation
import RivuletServerCore

/// The configuration file of `rivuletd`: one JSON5 object, every member optional.
///
/// | member | value |
/// |---|---|
/// | `listen` | `"HOST:PORT"` or a list of them |
/// | `data` | the data folder |
/// | `syncPage` | messages in one page of a sync |
/// | `loops` | event loops |
/// | `connections` | the most connections at a time |
/// | `readTimeout`, `loginTimeout`, `writeTimeout` | seconds |
/// | `retentionDays` | after how many days messages are removed |
/// | `checkFriends`, `checkBlacklist` | whether friend lists and blacklists are looked at |
/// | `customerServiceApp` | the app that must be one side of every customer message |
/// | `filteredWords` | words that are replaced in texts |
/// | `logLevel`, `logFormat` | as the options of the same names |
public struct ConfigurationFile: Sendable, Hashable {
    /// Addresses to listen on; nil when not given.
    public var listen: [String]?
    /// Addresses to listen on over TLS; nil when not given.
    public var listenTLS: [String]?
    /// The PEM file of the certificate.
    public var tlsCertificate: String?
    /// The PEM file of the certificate's key.
    public var tlsKey: String?
    /// Addresses to serve HTTP on; nil when not given.
    public var http: [String]?
    /// The data folder.
    public var data: String?
    /// Messages in one page of a sync.
    public var syncPage: Int?
    /// Event loops.
    public var loops: Int?
    /// The most connections at a time.
    public var connections: Int?
    /// Seconds from the start of a frame to its end.
    public var readTimeout: Int?
    /// Seconds from the connection to the login.
    public var loginTimeout: Int?
    /// Seconds without progress in writing.
    public var writeTimeout: Int?
    /// After how many days messages are removed.
    public var retentionDays: Int?
    /// Whether friendship is needed both ways.
    public var checkFriends: Bool?
    /// Whether those who block the sender are spared.
    public var checkBlacklist: Bool?
    /// The app of the staff.
    public var customerServiceApp: Int?
    /// Words that are replaced in texts.
    public var filteredWords: [String]?
    /// The least level that is logged.
    public var logLevel: String?
    /// `text` or `json`.
    public var logFormat: String?

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - contents: The file's bytes.
    ///   - path: Its name, for messages.
    /// - Throws: ``ServerError`` with `badConfiguration`, naming the file and the member at fault.
    public init(_ contents: Data, path: String) throws {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        do {
            self = try decoder.decode(Decoded.self, from: contents).file
        } catch let fault as Fault {
            throw ServerError(.badConfiguration, "\(path): \(fault.message)")
        } catch let DecodingError.typeMismatch(_, context) {
            throw ServerError(
                .badConfiguration, "\(path): \(Self.name(context)) has a value of the wrong kind")
        } catch let DecodingError.dataCorrupted(context) {
            let detail =
                (context.underlyingError as NSError?)?.userInfo[NSDebugDescriptionErrorKey] as? String
            throw ServerError(
                .badConfiguration, "\(path) is not JSON5: \(detail ?? context.debugDescription)")
        } catch {
            throw ServerError(.badConfiguration, "\(path) cannot be read: \(error)", underlying: error)
        }
    }

    /// Puts what the file gives over a configuration.
    ///
    /// - Throws: ``ServerError`` with `badConfiguration` for a value out of range.
    public func apply(to configuration: inout ServerConfiguration) throws {
        if let data { configuration.data = DataDirectory(path: data) }
        if let listen { configuration.listen = try listen.map { try Self.address($0, "listen") } }
        if let listenTLS {
            configuration.listenTLS = try listenTLS.map { try Self.address($0, "listenTLS") }
        }
        switch (tlsCertificate, tlsKey) {
        case (nil, nil): break
        case (let certificate?, let key?):
            configuration.tls = TLSFiles(certificate: certificate, key: key)
        default: throw ServerError(.badConfiguration, "tlsCertificate and tlsKey belong together")
        }
        if let http { configuration.http = try http.map { try Self.address($0, "http") } }
        if let loops { configuration.loops = loops }
        if let syncPage { configuration.pageLimit.countMax = try Self.positive(syncPage, "syncPage") }
        if let connections { configuration.connectionsMax = try Self.positive(connections, "connections") }
        if let retentionDays {
            configuration.retentionDays = try Self.positive(retentionDays, "retentionDays")
        }
        if let checkFriends { configuration.rules.checksFriends = checkFriends }
        if let checkBlacklist { configuration.rules.checksBlacklist = checkBlacklist }
        if let customerServiceApp { configuration.rules.customerServiceApp = Int64(customerServiceApp) }
        if let filteredWords { configuration.contentFilter = WordFilter(filteredWords).filter }
        if let readTimeout {
            configuration.deadlines.readMilliseconds = try Self.milliseconds(readTimeout, "readTimeout")
        }
        if let loginTimeout {
            configuration.deadlines.loginMilliseconds = try Self.milliseconds(loginTimeout, "loginTimeout")
        }
        if let writeTimeout {
            configuration.deadlines.writeMilliseconds = try Self.milliseconds(writeTimeout, "writeTimeout")
        }
    }

    private static func address(_ text: String, _ name: String) throws -> ListenAddress {
        guard let address = ListenAddress(text) else {
            throw ServerError(.badConfiguration, "\(name): '\(text)' is not HOST:PORT")
        }
        return address
    }

    private static func positive(_ value: Int, _ name: String) throws -> Int {
        guard (1...1_000_000).contains(value) else {
            throw ServerError(.badConfiguration, "\(name) must lie between 1 and 1000000")
        }
        return value
    }

    private static func milliseconds(_ seconds: Int, _ name: String) throws -> Int64 {
        Int64(try positive(seconds, name)) * 1000
    }

    private static func name(_ context: DecodingError.Context) -> String {
        context.codingPath.first.map { "'\($0.stringValue)'" } ?? "the file"
    }

    private init() {}

    private struct Fault: Error {
        var message: String
    }

    /// Decodes member by member, so that an unknown one is named instead of overlooked.
    private struct Decoded: Decodable {
        var file = ConfigurationFile()

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Member.self)
            for member in members.allKeys {
                switch member.stringValue {
                case "listen":
                    file.listen = try Self.oneOrMore(members, member)
                case "listenTLS": file.listenTLS = try Self.oneOrMore(members, member)
                case "tlsCertificate":
                    file.tlsCertificate = try members.decode(String.self, forKey: member)
                case "tlsKey": file.tlsKey = try members.decode(String.self, forKey: member)
                case "http":
                    file.http = try Self.oneOrMore(members, member)
                case "data": file.data = try members.decode(String.self, forKey: member)
                case "syncPage": file.syncPage = try members.decode(Int.self, forKey: member)
                case "loops": file.loops = try members.decode(Int.self, forKey: member)
                case "connections": file.connections = try members.decode(Int.self, forKey: member)
                case "readTimeout": file.readTimeout = try members.decode(Int.self, forKey: member)
                case "loginTimeout": file.loginTimeout = try members.decode(Int.self, forKey: member)
                case "writeTimeout": file.writeTimeout = try members.decode(Int.self, forKey: member)
                case "retentionDays": file.retentionDays = try members.decode(Int.self, forKey: member)
                case "checkFriends": file.checkFriends = try members.decode(Bool.self, forKey: member)
                case "checkBlacklist": file.checkBlacklist = try members.decode(Bool.self, forKey: member)
                case "customerServiceApp":
                    file.customerServiceApp = try members.decode(Int.self, forKey: member)
                case "filteredWords":
                    file.filteredWords = try members.decode([String].self, forKey: member)
                case "logLevel": file.logLevel = try members.decode(String.self, forKey: member)
                case "logFormat": file.logFormat = try members.decode(String.self, forKey: member)
                default: throw Fault(message: "unknown member '\(member.stringValue)'")
                }
            }
        }

        private static func oneOrMore(
            _ members: KeyedDecodingContainer<Member>, _ member: Member
        ) throws -> [String] {
            if let one = try? members.decode(String.self, forKey: member) { return [one] }
            return try members.decode([String].self, forKey: member)
        }
    }

    private struct Member: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) {
            nil
        }
    }
}
