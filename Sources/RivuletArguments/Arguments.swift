/// What a program was called with.
public struct Arguments: Sendable {
    /// The words of the chosen command, the program's name first.
    public let path: [String]
    let command: CommandSpec
    var given: [String: [String]] = [:]
    var positionals: [String: [String]] = [:]
    let environment: [String: String]

    init(path: [String], command: CommandSpec, environment: [String: String]) {
        self.path = path
        self.command = command
        self.environment = environment
    }

    /// Whether a flag was given.
    public func flag(_ name: String) -> Bool {
        given[name] != nil
    }

    /// The value of an option or positional: what was given last, else the environment's, else the default.
    public func string(_ name: String) -> String? {
        strings(name).last
    }

    /// All values of a repeated option or positional, in order.
    public func strings(_ name: String) -> [String] {
        if let values = positionals[name] ?? given[name] { return values }
        guard let option = command.options.first(where: { $0.name == name }) else { return [] }
        let fallback = option.environment.flatMap { environment[$0] }.flatMap { $0.isEmpty ? nil : $0 }
        return (fallback ?? option.defaultValue).map { [$0] } ?? []
    }

    /// The value of an option or positional, converted.
    ///
    /// - Throws: ``UsageError`` when the text is no such value.
    public func value<Value: ArgumentValue>(_ name: String, as type: Value.Type = Value.self)
        throws(UsageError)
        -> Value?
    {
        try values(name, as: type).last
    }

    /// The value of an option or positional that the command cannot do without, converted.
    ///
    /// - Throws: ``UsageError`` when it is missing or the text is no such value.
    public func required<Value: ArgumentValue>(_ name: String, as type: Value.Type = Value.self)
        throws(UsageError) -> Value
    {
        guard let value = try value(name, as: type) else { throw usageError("\(name) is missing") }
        return value
    }

    /// All values of a repeated option or positional, converted.
    ///
    /// - Throws: ``UsageError`` when one of the texts is no such value.
    public func values<Value: ArgumentValue>(_ name: String, as type: Value.Type = Value.self)
        throws(UsageError) -> [Value]
    {
        var values: [Value] = []
        for text in strings(name) {
            guard let value = Value(argument: text) else {
                throw usageError("\(source(of: name)): '\(text)' is not \(Value.argumentDescription)")
            }
            values.append(value)
        }
        return values
    }

    /// An error about these arguments.
    public func usageError(_ message: String) -> UsageError {
        UsageError(message, path: path)
    }

    private func source(of name: String) -> String {
        guard given[name] == nil, let option = command.options.first(where: { $0.name == name }),
            let variable = option.environment, environment[variable]?.isEmpty == false
        else { return name }
        return "\(name), from the environment variable \(variable)"
    }
}

/// A type that can be read from the command line.
public protocol ArgumentValue: Sendable {
    /// Reads the text; nil when it is no such value.
    init?(argument: String)
    /// What a text must be, to complete "'x' is not …".
    static var argumentDescription: String { get }
}

extension String: ArgumentValue {
    /// Takes any text.
    public init?(argument: String) { self = argument }
    /// Never shown.
    public static var argumentDescription: String { "text" }
}

extension Int: ArgumentValue {
    /// Reads decimal digits with an optional sign.
    public init?(argument: String) { self.init(argument) }
    /// For error messages.
    public static var argumentDescription: String { "a whole number" }
}

extension Int64: ArgumentValue {
    /// Reads decimal digits with an optional sign.
    public init?(argument: String) { self.init(argument) }
    /// For error messages.
    public static var argumentDescription: String { "a whole number" }
}

extension UInt16: ArgumentValue {
    /// Reads a port.
    public init?(argument: String) { self.init(argument) }
    /// For error messages.
    public static var argumentDescription: String { "a number from 0 to 65535" }
}

extension Double: ArgumentValue {
    /// Reads a finite decimal number.
    public init?(argument: String) {
        guard let value = Double(argument), value.isFinite else { return nil }
        self = value
    }
    /// For error messages.
    public static var argumentDescription: String { "a number" }
}

extension Duration: ArgumentValue {
    /// Reads a whole number with a unit, `ms`, `s`, `m`, `h` or `d`; without a unit, seconds.
    public init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        guard let count = Int64(digits), count <= 1_000_000_000_000 else { return nil }
        switch argument.dropFirst(digits.count) {
        case "ms": self = .milliseconds(count)
        case "", "s": self = .seconds(count)
        case "m": self = .seconds(count * 60)
        case "h": self = .seconds(count * 3600)
        case "d": self = .seconds(count * 86_400)
        default: return nil
        }
    }
    /// For error messages.
    public static var argumentDescription: String { "a time such as 500ms, 30s, 5m, 2h or 7d" }
}
