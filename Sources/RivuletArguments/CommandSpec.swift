/// One command of a program: what it takes and how it is explained.
///
/// A command with subcommands only chooses among them. `--help` is understood everywhere, `--version` at the top.
///
/// ```swift
/// let program = CommandSpec(
///     "rivuletd", summary: "Run the chat server.", version: "1.0",
///     options: [
///         Option("--port", "-p", value: "PORT", default: "23000", help: "The port to listen on; 0 chooses one."),
///         Option("--verbose", "-v", help: "Say more."),
///     ])
/// switch program.parse(CommandLine.arguments.dropFirst(), environment: [:]) { … }
/// ```
public struct CommandSpec: Sendable {
    /// The word by which it is called.
    public var name: String
    /// What it does, in one sentence.
    public var summary: String
    /// More, after the usage; paragraphs are separated by blank lines and wrapped.
    public var discussion: String
    /// What `--version` prints; only at the top of a program.
    public var version: String?
    /// The options.
    public var options: [Option]
    /// The arguments without names, in order.
    public var positionals: [Positional]
    /// The commands to choose from.
    public var subcommands: [CommandSpec]

    /// Describes a command.
    public init(
        _ name: String, summary: String, discussion: String = "", version: String? = nil,
        options: [Option] = [], positionals: [Positional] = [], subcommands: [CommandSpec] = []
    ) {
        self.name = name
        self.summary = summary
        self.discussion = discussion
        self.version = version
        self.options = options
        self.positionals = positionals
        self.subcommands = subcommands
    }
}

/// An argument with a name: a flag, or an option with a value.
public struct Option: Sendable {
    /// The name with its two dashes, by which a program asks for the value.
    public var name: String
    /// A second, one-letter name with its dash.
    public var short: String?
    /// What the value is called in help; nil for a flag.
    public var valueName: String?
    /// The value when none is given.
    public var defaultValue: String?
    /// The environment variable that is asked before the default.
    public var environment: String?
    /// Whether it may be given several times.
    public var isRepeated: Bool
    /// Whether it must be given.
    public var isRequired: Bool
    /// What it means, in one or two sentences.
    public var help: String

    /// Describes an option; without `value` it is a flag.
    public init(
        _ name: String, _ short: String? = nil, value valueName: String? = nil,
        default defaultValue: String? = nil,
        environment: String? = nil, isRepeated: Bool = false, isRequired: Bool = false, help: String
    ) {
        self.name = name
        self.short = short
        self.valueName = valueName
        self.defaultValue = defaultValue
        self.environment = environment
        self.isRepeated = isRepeated
        self.isRequired = isRequired
        self.help = help
    }
}

/// An argument without a name.
public struct Positional: Sendable {
    /// What it is called in help and by the program.
    public var name: String
    /// Whether it must be given.
    public var isRequired: Bool
    /// Whether it takes all that is left; only the last one may.
    public var isRepeated: Bool
    /// What it means.
    public var help: String

    /// Describes a positional argument.
    public init(_ name: String, isRequired: Bool = true, isRepeated: Bool = false, help: String) {
        self.name = name
        self.isRequired = isRequired
        self.isRepeated = isRepeated
        self.help = help
    }
}

/// A mistake in how a program was called; programs print it and exit with status 2.
public struct UsageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, without a period at its end.
    public var message: String
    /// The words of the command at fault, the program's name first.
    public var path: [String]

    /// Makes an error; the parser fills in the path when a value is at fault.
    public init(_ message: String, path: [String] = []) {
        self.message = message
        self.path = path
    }

    /// The message and where to read more, on two lines.
    public var description: String {
        let words = path.joined(separator: " ")
        return "\(path.first ?? ""): \(message)\nTry '\(words) --help' for how to use it."
    }
}
