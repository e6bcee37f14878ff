public import RivuletClient
internal import RivuletFlow
public import RivuletModel
internal import RivuletWire

extension PeerTyping {
    /// The conversation in which somebody types.
    public var session: Session { groupID.map { Session.group($0) } ?? .peer(UserID(uid)) }
}

/// What is told and not kept (docs/extensions.md, section 1).
extension ChatAccount {
    /// Tells the other side that this user types, or stopped; only between two users and in groups, nowhere else.
    ///
    /// How often is the caller's matter; `TypingPace` knows. Who types is heard of through `service.typings()`.
    ///
    /// - Throws: `IMServiceError` without a connection; nothing waits for one.
    public func sendTyping(in session: Session, isOn: Bool) async throws {
        guard TypingPace.applies(to: session) else { return }
        let typing = MessageInputing(sender: user.rawValue, receiver: session.id)
        try await service.send(
            session.kind == .group
                ? .groupTyping(typing, isOn: isOn) : .typing(typing, isOn: isOn))
    }
}
