import RivuletModel
import Testing

@testable import RivuletFlow

@Suite("A draft that changes a message") @MainActor struct DraftEditTests {
    /// A session with a message of ada's and one of ben's.
    private func screen(_ memory: MemoryEngine) async throws -> Screen {
        let screen = Screen(engine: memory.engine)
        screen.manager.open()
        return screen
    }

    @Test func `it begins with the text, sends an edit, and is empty afterwards`() async throws {
        let memory = MemoryEngine(history: 1)
        let screen = try await screen(memory)
        try await screen.run {
            await screen.wait { screen.messages.count == 1 }
            let sent = try await screen.manager.send(.text("at noon"))
            #expect(screen.manager.beginEdit(of: sent))
            #expect(screen.manager.draft == Draft(text: "at noon", editing: sent.uuid))
            screen.manager.setDraftText("at one")
            let changed = try await screen.manager.sendDraft()
            #expect(changed.id == sent.id && changed.content == .text("at one") && changed.isEdited)
            #expect(screen.manager.draft.isEmpty)
            await screen.wait { screen.texts == ["1", "at one"] }
            #expect(memory.messages(in: withBen).map(\.content.summary) == ["1", "at one"])
        }
    }

    @Test func `the last draft is kept also when the session's object is gone at once`() async throws {
        let memory = MemoryEngine(history: 1)
        let task: Task<Void, Never>?
        do {
            let screen = Screen(engine: memory.engine)
            screen.manager.setDraftText("half a")
            screen.manager.setDraftText("half a sentence")
            task = screen.manager.draftTask
        }
        await task?.value
        #expect(try await memory.draft(in: withBen)?.text == "half a sentence")
    }

    @Test func `others' messages, withdrawn ones and those under way cannot be changed`() async throws {
        let memory = MemoryEngine(history: 1)
        let screen = try await screen(memory)
        try await screen.run {
            await screen.wait { screen.messages.count == 1 }
            #expect(!screen.manager.beginEdit(of: screen.messages[0]))
            let sent = try await screen.manager.send(.text("oops"))
            try await screen.manager.revoke(message: sent)
            #expect(!screen.manager.beginEdit(of: sent))
            memory.setScript { _ in .failing(with: InteractionError(.refused)) }
            await #expect(throws: InteractionError.self) { try await screen.manager.send(.text("stuck")) }
            await screen.wait { screen.messages.last?.state.isFailed == true }
            #expect(!screen.manager.beginEdit(of: screen.messages[2]))
            #expect(screen.manager.draft == Draft())
        }
    }

    @Test func `what cannot be changed any more keeps the draft, and giving up empties it`() async throws {
        let memory = MemoryEngine(history: 1)
        let screen = try await screen(memory)
        try await screen.run {
            await screen.wait { screen.messages.count == 1 }
            let sent = try await screen.manager.send(.text("first"))
            #expect(screen.manager.beginEdit(of: sent))
            screen.manager.setDraftText("  ")
            await #expect(throws: InteractionError.self) { try await screen.manager.sendDraft() }
            screen.manager.setDraftText("second")
            screen.manager.remove([sent.id])
            let error = await #expect(throws: InteractionError.self) { try await screen.manager.sendDraft() }
            #expect(error?.code == .notFound)
            #expect(screen.manager.draft.text == "second")
            screen.manager.cancelEdit()
            #expect(screen.manager.draft == Draft())
            // A reply takes the place of a change, and the other way round.
            #expect(screen.manager.beginReply(to: screen.messages[0]))
            let again = try await screen.manager.send(.text("third"))
            #expect(screen.manager.beginEdit(of: again))
            #expect(screen.manager.draft.reference == nil)
            #expect(screen.manager.beginReply(to: screen.messages[0]))
            #expect(screen.manager.draft.editing == nil)
        }
    }
}
