import RivuletModel
public import RivuletServerCore

/// A token that was just made; its text exists nowhere else.
public struct IssuedToken: Sendable, Hashable {
    /// The text that the client sends: 45 bytes of ASCII.
    public var token: String
    /// What the directory keeps of it.
    public var record: TokenRecord
}

/// What the directory knows of a token: everything but the token.
public struct TokenRecord: Sendable, Hashable {
    /// The readable part, by which it is listed and revoked.
    public var id: String
    /// Whose it is.
    public var account: Account
    /// A note of the one who made it.
    public var label: String
    /// When it was made.
    public var created: WallTime
    /// When it ends; nil for never.
    public var expires: WallTime?
    /// When it was revoked; nil while it was not.
    public var revoked: WallTime?

    /// Whether a login with it succeeds at this time.
    public func isValid(at now: WallTime) -> Bool {
        guard revoked == nil else { return false }
        guard let expires else { return true }
        return now < expires
    }
}

/// The text of tokens: `rvt_` + 8 letters to know it by + `_` + 32 secret letters (160 bits).
enum TokenText {
    /// Lower-case letters and digits without the four that are easily confused.
    private static let alphabet = Array("abcdefghjkmnpqrstuvwxyz023456789".utf8)

    static func make(using generator: inout some RandomNumberGenerator) -> (token: String, id: String) {
        let id = "rvt_" + letters(8, using: &generator)
        return (id + "_" + letters(32, using: &generator), id)
    }

    private static func letters(_ count: Int, using generator: inout some RandomNumberGenerator) -> String {
        let bytes = (0..<count).map { _ in alphabet[Int(generator.next() & 31)] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
