import RivuletEngine
import RivuletFlow
import RivuletModel
import RivuletStore

// What is done with a conversation as a whole; the store keeps it.
extension AccountModel {
    /// What the menu of a conversation offers.
    func actions(for conversation: Conversation) -> [SidebarEntry.Action] {
        let session = conversation.session
        var actions: [SidebarEntry.Action] = []
        if conversation.unreadCount > 0 {
            actions.append(
                SidebarEntry.Action(name: "read", title: Words.say("Mark as read")) { [weak self] in
                    self?.markAllRead(session)
                })
        }
        actions.append(
            SidebarEntry.Action(
                name: conversation.isPinned ? "unpin" : "pin",
                title: conversation.isPinned ? Words.say("No longer keep on top") : Words.say("Keep on top")
            ) { [weak self] in self?.change(session, .setPinned(session, !conversation.isPinned)) })
        actions.append(
            SidebarEntry.Action(
                name: conversation.isMuted ? "unmute" : "mute",
                title: conversation.isMuted ? Words.say("Unmute") : Words.say("Mute")
            ) { [weak self] in self?.change(session, .setMuted(session, !conversation.isMuted)) })
        actions.append(removing(session))
        return actions
    }

    /// Takes a conversation off the list, once that was confirmed.
    private func removing(_ session: Session) -> SidebarEntry.Action {
        guard session.kind != .room else {
            return SidebarEntry.Action(name: "leave", title: Words.say("Leave this room")) { [weak self] in
                self?.remove(session)
            }
        }
        return SidebarEntry.Action(
            name: "delete", title: Words.say("Delete the conversation …"),
            confirmation: Words.say("Delete it, with all its messages on this device")
        ) { [weak self] in self?.remove(session) }
    }

    /// Removes the messages of a conversation, once that was confirmed.
    func clearing(_ session: Session) -> SidebarEntry.Action {
        SidebarEntry.Action(
            name: "clear", title: Words.say("Remove all messages …"),
            confirmation: Words.say("Remove all messages of this conversation from this device")
        ) { [weak self] in self?.clearHistory(session) }
    }

    /// Marks all of a conversation as read, here and on the user's other devices.
    func markAllRead(_ session: Session) {
        guard session.kind != .room else { return rooms.markRead(session) }
        attempt(Words.say("What was read could not be kept.")) { try await $0.markRead(session) }
    }

    /// Keeps a choice about a conversation.
    func change(_ session: Session, _ operation: StoreOperation) {
        attempt(Words.say("This could not be kept.")) { [weak self] account in
            _ = try await account.store.apply([operation])
            if session.kind == .room { await self?.rooms.readChoices() }
        }
    }

    /// Removes the messages of a conversation from this device; it stays in the list.
    func clearHistory(_ session: Session) {
        attempt(Words.say("The messages could not be removed.")) {
            _ = try await $0.store.apply([.clear(session)])
        }
    }

    /// Takes a conversation out of the list, with all its messages on this device; a room is left.
    func remove(_ session: Session) {
        positions[session] = nil
        onRemoved?(session)
        guard session.kind != .room else { return rooms.remove(session) }
        attempt(Words.say("The conversation could not be deleted.")) {
            _ = try await $0.store.apply([
                .setDraft(session, nil), .clear(session), .setPinned(session, false),
                .setHidden(session, true),
            ])
        }
    }

    private func attempt(_ problem: String, _ work: @escaping (ChatAccount) async throws -> Void) {
        Task { [account, weak self] in
            do {
                try await work(account)
            } catch {
                self?.onProblem?(problem)
            }
        }
    }

    /// The conversations of the store with the rooms among them: pinned ones first, then the newest.
    nonisolated static func merged(_ stored: [Conversation], rooms: [Conversation]) -> [Conversation] {
        // A room that the store knows only has choices and drafts there.
        var merged = stored.filter { $0.session.kind != .room }
        for room in rooms {
            let time = room.lastMessage?.timeMilliseconds ?? 0
            let place = merged.firstIndex { other in
                if other.isPinned != room.isPinned { return room.isPinned }
                return (other.lastMessage?.timeMilliseconds ?? 0) < time
            }
            merged.insert(room, at: place ?? merged.endIndex)
        }
        return merged
    }
}
