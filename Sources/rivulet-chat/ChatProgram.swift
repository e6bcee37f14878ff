import Foundation
import RivuletArguments
import RivuletClient
import RivuletClientCore
import RivuletEngine
import RivuletFlow
import RivuletModel
import RivuletServer
import RivuletUI

/// The program `rivulet-chat`: reads what it was told, opens the account and shows its window.
enum ChatProgram {
    static let command = CommandSpec(
        "rivulet-chat", summary: "Chat in a window.",
        discussion: """
            Without --user it needs --demo: a server of its own, people who answer and thousands of messages, in a \
            temporary folder that is removed at the end.
            """,
        version: "0.1.0",
        options: [
            Option("--demo", help: "Try it with nothing set up."),
            Option("--user", "-u", value: "ID", environment: "RIVULET_USER", help: "Your user number."),
            Option(
                "--server", "-s", value: "HOST:PORT", default: "127.0.0.1:23000",
                environment: "RIVULET_SERVER",
                help: "The server."),
            Option(
                "--http", value: "URL", environment: "RIVULET_HTTP",
                help: "The server's HTTP interface, which has the history of chat rooms."),
            Option(
                "--token", value: "TOKEN", environment: "RIVULET_TOKEN",
                help: "Your token; a file or the variable is safer than the command line."),
            Option("--token-file", value: "FILE", help: "A file that holds your token."),
            Option("--with", value: "ID", help: "Begin in the conversation with this user."),
            Option(
                "--store", value: "DIR", environment: "RIVULET_STORE",
                help:
                    "The folder that keeps your messages; rivulet/client in your data folder when not given."),
            Option("--theme", value: "NAME", default: "system", help: "light, dark or system."),
            Option(
                "--direction", value: "NAME", default: "system",
                help: "The way the interface reads: ltr, rtl or system."),
            Option(
                "--language", value: "NAME", default: "system",
                help: "The language of the interface: en, zh or system."),
            Option("--size", value: "WxH", default: "1120x820", help: "The window's size."),
            Option(
                "--name", value: "ID=NAME", isRepeated: true,
                help: "What a user is called; may be given often."),
            Option("--strict", help: "End with status 3 if GTK warned of anything; for tests."),
        ])

    /// Runs the program; answers its exit status: 0, 1 when it cannot run, 2 for bad usage, 3 for a warning of GTK
    /// where none is allowed.
    static func run(_ arguments: [String], _ environment: [String: String]) -> Int32 {
        switch command.parse(arguments, environment: environment) {
        case .print(let text):
            say(text, to: .standardOutput)
            return 0
        case .refuse(let text):
            say(text, to: .standardError)
            return 2
        case .run(let arguments):
            do {
                return try show(try ChatOptions(arguments, environment))
            } catch let error as UsageError {
                say(error.description, to: .standardError)
                return 2
            } catch {
                say("rivulet-chat: \(error)", to: .standardError)
                return 1
            }
        }
    }

    private static func show(_ options: ChatOptions) throws -> Int32 {
        guard PlatformApplication.start() else {
            throw ChatError(
                "there is no display; set DISPLAY or WAYLAND_DISPLAY, or run 'make demo', which shows the window "
                    + "in a browser")
        }
        var warningCount = 0
        if options.isStrict { PlatformApplication.onWarning { _ in warningCount += 1 } }
        if let isRightToLeft = options.isRightToLeft { PlatformApplication.isRightToLeft = isRightToLeft }
        Words.use(options.language)
        PlatformApplication.onStopSignal { PlatformApplication.quit() }
        let life = ChatLife(options)
        life.begin()
        PlatformApplication.run()
        life.end()
        if let failure = life.failure { throw failure }
        return warningCount > 0 ? 3 : 0
    }

    static func say(_ text: String, to handle: FileHandle) {
        handle.write(Data((text.hasSuffix("\n") ? text : text + "\n").utf8))
    }
}

/// Why the program cannot go on, for people.
struct ChatError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// What the program was told.
struct ChatOptions {
    var isDemo: Bool
    var user: UserID?
    var host = ""
    var port: UInt16 = 0
    var token = ""
    /// The server's HTTP interface; nil when it is not known.
    var http: URL?
    var store = ""
    var partner: UserID?
    var theme: Theme
    var size = CGSize(width: 1120, height: 820)
    /// Whether the interface reads from right to left; nil for what the desktop says.
    var isRightToLeft: Bool?
    var names: [UserID: String] = [:]
    var isStrict: Bool
    var language: InterfaceStrings

    init(_ arguments: Arguments, _ environment: [String: String]) throws {
        isDemo = arguments.flag("--demo")
        isStrict = arguments.flag("--strict")
        theme = try Self.theme(arguments, environment)
        language = try Self.language(arguments, environment)
        size = try Self.size(arguments)
        isRightToLeft = try Self.direction(arguments)
        names = try Self.names(arguments)
        partner = try Self.user("--with", arguments)
        user = try Self.user("--user", arguments)
        if isDemo { return }
        guard user != nil else {
            throw arguments.usageError("name yourself with --user ID, or try --demo")
        }
        try readServer(arguments)
        http = try Self.http(arguments)
        token = try Self.token(arguments)
        store = try Self.storeFolder(arguments, environment)
    }

    private static func user(_ option: String, _ arguments: Arguments) throws -> UserID? {
        guard let number = try arguments.value(option, as: Int64.self) else { return nil }
        guard number > 0 else { throw arguments.usageError("\(option): a user's number is 1 or more") }
        return UserID(number)
    }

    private mutating func readServer(_ arguments: Arguments) throws {
        let text = arguments.string("--server") ?? ""
        let hasPort = text.contains(":") && !text.hasSuffix("]")
        guard let address = ListenAddress(hasPort ? text : text + ":23000"), address.port > 0 else {
            throw arguments.usageError("--server: '\(text)' is not HOST:PORT")
        }
        (host, port) = (address.host, address.port)
    }

    private static func language(
        _ arguments: Arguments, _ environment: [String: String]
    ) throws -> InterfaceStrings {
        let name = arguments.string("--language") ?? "system"
        if name == "system" { return .system(environment) }
        guard let language = InterfaceStrings.builtIn(name) else {
            throw arguments.usageError("--language: '\(name)' is not en, zh or system")
        }
        return language
    }

    private static func http(_ arguments: Arguments) throws -> URL? {
        guard let text = arguments.string("--http"), !text.isEmpty else { return nil }
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme ?? ""), url.host() != nil
        else {
            throw arguments.usageError("--http: '\(text)' is not an address such as http://127.0.0.1:23080")
        }
        return url
    }

    private static func theme(_ arguments: Arguments, _ environment: [String: String]) throws -> Theme {
        switch arguments.string("--theme") ?? "system" {
        case "light": return .light
        case "dark": return .dark
        case "system":
            let named = environment["GTK_THEME"] ?? ""
            return named.hasSuffix(":dark") || PlatformAppearance.isDark(environment) ? .dark : .light
        case let other: throw arguments.usageError("--theme: '\(other)' is not light, dark or system")
        }
    }

    private static func direction(_ arguments: Arguments) throws -> Bool? {
        switch arguments.string("--direction") ?? "system" {
        case "system": return nil
        case "ltr": return false
        case "rtl": return true
        case let other: throw arguments.usageError("--direction: '\(other)' is not ltr, rtl or system")
        }
    }

    private static func size(_ arguments: Arguments) throws -> CGSize {
        let text = arguments.string("--size") ?? ""
        let parts = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        guard parts.count == 2, parts.allSatisfy({ (200...10_000).contains($0) }) else {
            throw arguments.usageError("--size: '\(text)' is not WIDTHxHEIGHT, such as 1120x820")
        }
        return CGSize(width: Double(parts[0]), height: Double(parts[1]))
    }

    private static func names(_ arguments: Arguments) throws -> [UserID: String] {
        var names: [UserID: String] = [:]
        for text in arguments.strings("--name") {
            let parts = text.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let id = Int64(parts[0]), id > 0 else {
                throw arguments.usageError("--name: '\(text)' is not ID=NAME")
            }
            names[UserID(id)] = String(parts[1])
        }
        return names
    }

    private static func token(_ arguments: Arguments) throws -> String {
        if let path = arguments.string("--token-file") {
            do {
                let text = try String(contentsOfFile: path, encoding: .utf8)
                if let word = text.split(whereSeparator: \.isWhitespace).last { return String(word) }
            } catch {
                throw ChatError(
                    "cannot read the token file \(path): check that it exists and is yours to read")
            }
            throw ChatError("the token file \(path) is empty")
        }
        guard let token = arguments.string("--token") else {
            throw arguments.usageError(
                "no token: name one with --token-file FILE or the environment variable RIVULET_TOKEN; "
                    + "'rivulet token create' makes one on the server's machine")
        }
        return token
    }

    private static func storeFolder(_ arguments: Arguments, _ environment: [String: String]) throws -> String
    {
        if let folder = arguments.string("--store") { return folder }
        if let base = environment["XDG_DATA_HOME"], base.hasPrefix("/") { return base + "/rivulet/client" }
        if let home = environment["HOME"], home.hasPrefix("/") {
            return home + "/.local/share/rivulet/client"
        }
        throw arguments.usageError("--store is missing, and the environment names no home folder")
    }
}

/// Whether the desktop says that it is dark, where it says so without a service.
enum PlatformAppearance {
    static func isDark(_ environment: [String: String]) -> Bool {
        let folder = environment["XDG_CONFIG_HOME"] ?? (environment["HOME"] ?? "") + "/.config"
        guard let text = try? String(contentsOfFile: folder + "/gtk-4.0/settings.ini", encoding: .utf8) else {
            return false
        }
        return text.split(whereSeparator: \.isNewline).contains { line in
            let parts = line.split(separator: "=").map { $0.trimmingCharacters(in: .whitespaces) }
            return parts.first == "gtk-application-prefer-dark-theme"
                && ["1", "true"].contains(parts.last ?? "")
        }
    }
}
