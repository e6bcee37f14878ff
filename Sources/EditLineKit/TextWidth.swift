internal import CEditLine

/// How many terminal cells a text takes, as `wcwidth` of the system counts: 2 for most of Chinese, Japanese and Korean
/// and for emoji, 0 for combining marks.
///
/// Control characters count as nothing; a text for the terminal has none.
public func displayWidth(of text: some StringProtocol) -> Int {
    CharacterSet.prepare()
    return text.unicodeScalars.reduce(0) { $0 + max(0, cellCount(of: $1)) }
}

/// How many cells one character takes; −1 for a control character.
func cellCount(of scalar: Unicode.Scalar) -> Int {
    Int(wcwidth(wchar_t(bitPattern: scalar.value)))
}

extension wchar_t {
    /// `wchar_t` is signed on some systems and unsigned on others.
    init(bitPattern value: UInt32) {
        self = wchar_t(truncatingIfNeeded: value)
    }
}

/// The process's character set, which libedit and `wcwidth` ask for.
enum CharacterSet {
    private static let prepared: Void = editkit_use_utf8()

    /// Chooses UTF-8, once in the life of the process.
    static func prepare() {
        prepared
    }
}
