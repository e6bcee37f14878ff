import RivuletFlow
import Synchronization

/// What the program says, in the language that was chosen at its start.
///
/// A phrase is named by its English words, with `%1` to `%9` for what is put in. The flow's own phrases are those of
/// `InterfaceStrings`; this adds the program's. What a language lacks is said in English.
nonisolated enum Words {
    private static let chosen = Mutex(strings(for: .english))

    /// All phrases in the chosen language.
    static var strings: InterfaceStrings { chosen.withLock { $0 } }

    /// Speaks a language from now on; what is on the screen stays as it is.
    static func use(_ language: InterfaceStrings) {
        let strings = strings(for: language)
        chosen.withLock { $0 = strings }
    }

    /// A phrase with up to three values in its places.
    static func say(_ phrase: String, _ values: String...) -> String {
        let key = InterfaceStrings.Key(rawValue: phrase)
        return switch values.count {
        case 0: strings[key]
        case 1: strings[key, values[0]]
        case 2: strings[key, values[0], values[1]]
        default: strings[key, values[0], values[1], values[2]]
        }
    }

    /// A phrase about a number of things, which is put in for `%1`.
    static func say(_ phrase: String, count: Int) -> String {
        strings[InterfaceStrings.Key(rawValue: phrase), count: count]
    }

    /// A language with the program's phrases in it.
    static func strings(for language: InterfaceStrings) -> InterfaceStrings {
        var strings = language
        let isChinese = language.language == InterfaceStrings.simplifiedChinese.language
        for (english, chinese) in simplifiedChinese {
            let forms = isChinese ? [chinese] : plurals[english] ?? [english]
            strings[phrase: InterfaceStrings.Key(rawValue: english)] = InterfaceStrings.Phrase(forms: forms)
        }
        return strings
    }

    /// The phrases about a number that have several forms in English.
    private static let plurals = [
        "%1 members": ["%1 member", "%1 members"]
    ]
}
