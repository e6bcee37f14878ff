/// What a program is to do after its arguments were read.
public enum ParseOutcome: Sendable {
    /// Run the command that was chosen.
    case run(Arguments)
    /// Print this text to standard output and exit with status 0.
    case `print`(String)
    /// Print this text to standard error and exit with status 2.
    case refuse(String)
}

extension CommandSpec {
    /// Reads the arguments of a program, without the program's own name.
    ///
    /// - Parameters:
    ///   - arguments: The words after the program's name.
    ///   - environment: The environment variables that options may fall back to.
    ///   - width: The width to which help is wrapped.
    /// - Returns: What to do: the command to run, help to print, or a refusal.
    public func parse(
        _ arguments: some Sequence<String>, environment: [String: String], width: Int = 80
    ) -> ParseOutcome {
        do throws(UsageError) {
            return try choose(Array(arguments), environment: environment, width: width)
        } catch {
            return .refuse(error.description)
        }
    }

    private func choose(
        _ arguments: [String], environment: [String: String], width: Int
    ) throws(UsageError) -> ParseOutcome {
        var command = self
        var path = [name]
        var rest = arguments[...]
        if rest.first == "help", !subcommands.isEmpty {
            rest = rest.dropFirst() + ["--help"]
        }
        while !command.subcommands.isEmpty {
            guard let word = rest.first else { return .refuse(command.help(path: path, width: width)) }
            if isHelp(word) { return .print(command.help(path: path, width: width)) }
            if word == "--version", path.count == 1, let version { return .print("\(name) \(version)") }
            guard let next = command.subcommands.first(where: { $0.name == word }) else {
                let kind = word.hasPrefix("-") ? "option" : "command"
                let guess = suggestion(for: word, among: command.subcommands.map(\.name))
                throw UsageError("unknown \(kind) \(word)\(guess)", path: path)
            }
            command = next
            path.append(next.name)
            rest = rest.dropFirst()
        }
        let options = rest.prefix { $0 != "--" }
        if options.contains(where: isHelp) { return .print(command.help(path: path, width: width)) }
        if path.count == 1, let version, options.contains("--version") { return .print("\(name) \(version)") }
        var reader = Reader(Arguments(path: path, command: command, environment: environment))
        return .run(try reader.read(rest))
    }

    private func isHelp(_ word: String) -> Bool {
        word == "--help" || word == "-h"
    }
}

/// Sorts the words of one command into options and positionals.
private struct Reader {
    private var result: Arguments
    private var loose: [String] = []

    init(_ arguments: Arguments) {
        result = arguments
    }

    private var command: CommandSpec { result.command }

    mutating func read(_ words: ArraySlice<String>) throws(UsageError) -> Arguments {
        var words = words
        while let word = words.popFirst() {
            if word == "--" {
                loose += words
                break
            } else if word.hasPrefix("--") {
                try readLong(word, &words)
            } else if word.hasPrefix("-"), word.count > 1, Double(word) == nil {
                try readShort(word, &words)
            } else {
                loose.append(word)
            }
        }
        try placePositionals()
        for option in command.options where option.isRequired && result.string(option.name) == nil {
            throw result.usageError("\(option.name) is missing")
        }
        return result
    }

    private mutating func readLong(_ word: String, _ words: inout ArraySlice<String>) throws(UsageError) {
        let equals = word.firstIndex(of: "=")
        let name = String(word[..<(equals ?? word.endIndex)])
        guard let option = command.options.first(where: { $0.name == name }) else {
            throw unknown(name)
        }
        let attached = equals.map { String(word[word.index(after: $0)...]) }
        guard option.valueName != nil else {
            guard attached == nil else { throw result.usageError("\(name) takes no value") }
            return try set(option, "")
        }
        // Spelled out, since the right side of `??` cannot throw a typed error.
        let value = if let attached { attached } else { try takeValue(of: name, from: &words) }
        try set(option, value)
    }

    /// Reads `-a`, `-ab` (two flags), `-p VALUE` and `-pVALUE`.
    private mutating func readShort(_ word: String, _ words: inout ArraySlice<String>) throws(UsageError) {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            let name = "-\(letter)"
            guard let option = command.options.first(where: { $0.short == name }) else { throw unknown(name) }
            guard option.valueName != nil else {
                try set(option, "")
                continue
            }
            let attached = letters.first == "=" ? letters.dropFirst() : letters
            return try set(option, letters.isEmpty ? takeValue(of: name, from: &words) : String(attached))
        }
    }

    private func takeValue(of name: String, from words: inout ArraySlice<String>) throws(UsageError) -> String
    {
        // A known option in the value's place means that the value was forgotten.
        guard let word = words.first, word != "--",
            !command.options.contains(where: { $0.name == word || $0.short == word })
        else { throw result.usageError("\(name) needs a value") }
        words.removeFirst()
        return word
    }

    private mutating func set(_ option: Option, _ value: String) throws(UsageError) {
        if option.valueName != nil, !option.isRepeated, result.given[option.name] != nil {
            throw result.usageError("\(option.name) is given twice")
        }
        result.given[option.name, default: []].append(value)
    }

    private mutating func placePositionals() throws(UsageError) {
        var words = loose[...]
        for positional in command.positionals {
            let taken = positional.isRepeated ? words : words.prefix(1)
            if taken.isEmpty, positional.isRequired {
                throw result.usageError("\(positional.name) is missing")
            }
            if !taken.isEmpty { result.positionals[positional.name] = Array(taken) }
            words = words.dropFirst(taken.count)
        }
        if let extra = words.first { throw result.usageError("unexpected argument '\(extra)'") }
    }

    private func unknown(_ name: String) -> UsageError {
        let known = command.options.flatMap { [$0.name, $0.short].compactMap(\.self) } + ["--help"]
        return result.usageError("unknown option \(name)\(suggestion(for: name, among: known))")
    }
}
