public import RivuletModel
import RivuletServerCore

extension Server {
    /// Makes a token for a user of this server; it is returned once and kept only as a digest.
    ///
    /// It is a convenience for embedded servers. `rivulet token create` does the same from outside, with a label and
    /// a lifetime.
    ///
    /// - Throws: ``ServerError`` when the folder's accounts cannot be opened or written.
    public func makeToken(for user: UserID) throws -> String {
        let directory = try AccountDirectory(in: configuration.data)
        defer { directory.close() }
        var generator = SystemRandomNumberGenerator()
        return try directory.createToken(for: Account(user: user), now: WallTime.current, using: &generator)
            .token
    }

    /// Ends the connections of clients that logged in with these tokens; returns when they are told.
    ///
    /// A login under way with one of them is refused.
    func endConnections(of tokens: [TokenID]) async {
        guard !tokens.isEmpty, let node = try? runningNode() else { return }
        await withCheckedContinuation { continuation in
            node.deliver(tokens.map { .tokenRevoked($0) }, to: 0) { continuation.resume() }
        }
    }
}
