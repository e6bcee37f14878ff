import RivuletModel
import RivuletServerCore

/// The part of the administration that is about tokens.
struct TokenDesk: Sendable {
    /// Does something with the account directory, on the thread to which that belongs.
    var onAccounts:
        @Sendable (@escaping @Sendable (AccountDirectory) throws -> [AdminAnswer.Token?]) async throws ->
            [AdminAnswer.Token?]
    /// Ends the connections of clients that logged in with these tokens.
    var endConnections: @Sendable ([TokenID]) async -> Void
    /// The wall clock.
    var now: @Sendable () -> WallTime

    /// The most tokens that one request makes.
    static let tokensMax: Int64 = 100_000
    /// The longest label, in bytes.
    static let labelBytesMax = 255

    /// Makes a token for each user of a range.
    func create(
        _ users: ClosedRange<Int64>, _ label: String, lifetime: Int64?
    ) async throws -> AdminAnswer {
        let now = now()
        return answer(
            try await onAccounts { directory in
                var generator = SystemRandomNumberGenerator()
                let accounts = users.map { Account(user: UserID($0)) }
                return try directory.createTokens(
                    for: accounts, label: label, lifetimeMilliseconds: lifetime, now: now, using: &generator
                ).map { AdminAnswer.Token($0.record, token: $0.token) }
            })
    }

    func list(of user: UserID?) async throws -> AdminAnswer {
        answer(try await onAccounts { try $0.tokens(of: user).map { AdminAnswer.Token($0) } })
    }

    /// Revokes tokens; when this returns, nobody is connected with them any more.
    func revoke(_ words: [String]) async throws -> AdminAnswer {
        let now = now()
        let revoked = try await onAccounts { directory in
            try words.map { word in
                try directory.revokeToken(word, now: now).map { AdminAnswer.Token($0) }
            }
        }
        await endConnections(revoked.compactMap { $0.map { TokenID(rawValue: $0.id) } })
        var answer = answer(revoked)
        answer.unknownCount = revoked.count { $0 == nil }
        return answer
    }

    private func answer(_ tokens: [AdminAnswer.Token?]) -> AdminAnswer {
        var answer = AdminAnswer()
        answer.tokens = tokens.compactMap(\.self)
        return answer
    }
}

extension AdminAnswer.Token {
    init(_ record: TokenRecord, token: String? = nil) {
        id = record.id
        user = record.account.user.rawValue
        self.token = token
        label = record.label
        createdMilliseconds = record.created.milliseconds
        expiresMilliseconds = record.expires?.milliseconds
        revokedMilliseconds = record.revoked?.milliseconds
    }
}
