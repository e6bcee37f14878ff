/// The words of the interface in one language: menus, states, notices, and what assistive technology says.
///
/// It is a value that a session is given (``FlowConfiguration/strings``), so that two sessions side by side may speak
/// two languages. A host changes single phrases or adds its own under keys of its own:
///
/// ```swift
/// var strings = InterfaceStrings.system(ProcessInfo.processInfo.environment)
/// strings[phrase: .emptyConversation] = "Say something nice."
/// configuration.flow.strings = strings
/// ```
///
/// Another language is another value: its phrases, its plural rule and its words for times.
public struct InterfaceStrings: Sendable {
    /// The name of a phrase; an open set.
    public struct Key: RawRepresentable, Hashable, Sendable {
        /// The stable name.
        public let rawValue: String

        /// Makes the name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        init(_ rawValue: String) {
            self.rawValue = rawValue
        }
    }

    /// A sentence or a few words, with places for what is put in: `%1` to `%9`, in the order of the language.
    public struct Phrase: Hashable, Sendable, ExpressibleByStringLiteral {
        /// One form for each of the language's plurals; the last one stands for those that are not given.
        public var forms: [String]

        /// Makes a phrase of its plural forms.
        public init(forms: [String]) {
            self.forms = forms
        }

        /// Makes a phrase with one form.
        public init(stringLiteral text: String) {
            forms = [text]
        }

        /// A phrase with several forms, such as `.plural("%1 day", "%1 days")`.
        public static func plural(_ forms: String...) -> Phrase { Phrase(forms: forms) }
    }

    /// The language's name, such as `en` or `zh-Hans`.
    public var language: String
    /// How times and days are written in it.
    public var times: TimeLabelLanguage
    /// Which plural form a number takes, from 0.
    public var pluralForm: @Sendable (Int) -> Int
    /// The phrases.
    public private(set) var phrases: [Key: Phrase]

    /// Makes a language; phrases that are missing are said in English.
    public init(
        language: String, times: TimeLabelLanguage, phrases: [Key: Phrase],
        pluralForm: @escaping @Sendable (Int) -> Int
    ) {
        self.language = language
        self.times = times
        self.phrases = phrases
        self.pluralForm = pluralForm
    }

    /// A phrase as it is written, with its places; nil where the language has none.
    public subscript(phrase key: Key) -> Phrase? {
        get { phrases[key] }
        set { phrases[key] = newValue }
    }

    /// Adds phrases, or puts them in the place of others.
    public mutating func add(_ phrases: [Key: Phrase]) {
        self.phrases.merge(phrases) { $1 }
    }

    /// A phrase with values in its places.
    public subscript(key: Key, values: String...) -> String {
        text(key, form: 0, values)
    }

    /// A phrase about a number of things, in the form for that number, which is put in for `%1`; further values follow.
    public subscript(key: Key, count count: Int, values: String...) -> String {
        let own = phrases[key] != nil
        return text(
            key, form: own ? pluralForm(count) : Self.english.pluralForm(count), [String(count)] + values)
    }

    private func text(_ key: Key, form: Int, _ values: [String]) -> String {
        guard let phrase = phrases[key] ?? Self.english.phrases[key], let last = phrase.forms.last else {
            return key.rawValue
        }
        return Self.fill(phrase.forms.indices.contains(form) ? phrase.forms[form] : last, values)
    }

    /// Puts the values in; what a value contains is never taken for a place.
    private static func fill(_ form: String, _ values: [String]) -> String {
        guard !values.isEmpty, form.utf8.contains(UInt8(ascii: "%")) else { return form }
        var result = ""
        var isPlace = false
        for character in form {
            if isPlace {
                isPlace = false
                if let number = character.wholeNumberValue, values.indices.contains(number - 1) {
                    result += values[number - 1]
                } else {
                    result += "%"
                    result.append(character)
                }
            } else if character == "%" {
                isPlace = true
            } else {
                result.append(character)
            }
        }
        return isPlace ? result + "%" : result
    }
}

// MARK: choosing

extension InterfaceStrings {
    /// The built-in language for a locale's name such as `zh_CN.UTF-8` or `en-GB`; nil for one that there is not.
    public static func builtIn(_ locale: String) -> InterfaceStrings? {
        let name = locale.lowercased().prefix { $0 != "_" && $0 != "-" && $0 != "." && $0 != "@" }
        switch name {
        case "en", "c", "posix": return .english
        case "zh": return .simplifiedChinese
        default: return nil
        }
    }

    /// The language that an environment asks for, English where there is none.
    ///
    /// `LC_ALL` counts before `LC_MESSAGES`, that before `LANG`. `LANGUAGE`, a list with the best one first, counts
    /// before all of them, save where they say `C`: then no language is wished for.
    public static func system(_ environment: [String: String]) -> InterfaceStrings {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty }
        guard let locale, !isPlain(locale) else { return .english }
        let wishes = (environment["LANGUAGE"] ?? "").split(separator: ":").map(String.init) + [locale]
        return wishes.lazy.compactMap(builtIn).first ?? .english
    }

    private static func isPlain(_ locale: String) -> Bool {
        let name = locale.prefix { $0 != "." }
        return name == "C" || name == "POSIX"
    }
}
