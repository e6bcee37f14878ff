import RivuletModel
import Synchronization
import Testing

@testable import RivuletFlow

/// A provider that answers what its gates let through, whoever has gone away meanwhile.
private final class GatedProvider: SessionMessageProvider {
    enum Question: Hashable {
        case page, around, time, readPosition
    }

    private let base: MemoryEngine
    private let gates: Mutex<[Question: Gate]>

    init(_ base: MemoryEngine, holding gates: [Question: Gate] = [:]) {
        self.base = base
        self.gates = Mutex(gates)
    }

    func hold(_ question: Question, at gate: Gate?) { gates.withLock { $0[question] = gate } }

    private func wait(_ question: Question) async {
        await gates.withLock { $0[question] }?.pass()
    }

    func messages(
        in session: Session, anchorMessage: Message?, direction: PageDirection, limit: Int
    ) async throws -> MessagePage {
        await wait(.page)
        return try await base.messages(
            in: session, anchorMessage: anchorMessage, direction: direction, limit: limit)
    }

    func messages(in session: Session, around id: MessageID, limit: Int) async throws -> MessagePage {
        await wait(.around)
        return try await base.messages(in: session, around: id, limit: limit)
    }

    func message(in session: Session, sentFrom milliseconds: Int64) async throws -> Message? {
        await wait(.time)
        return try await base.message(in: session, sentFrom: milliseconds)
    }

    func readPosition(in session: Session) async throws -> MessagePosition? {
        await wait(.readPosition)
        return try await base.readPosition(in: session)
    }
}

@Suite(.timeLimit(.minutes(5))) @MainActor struct `Jumps with a slow provider` {
    private let memory = MemoryEngine(history: 500)
    private let gate = Gate()

    private func screen(_ provider: GatedProvider) -> Screen {
        var configuration = SessionConfiguration.test
        configuration.provider = provider
        return Screen(engine: memory.engine, configuration: configuration)
    }

    private func numbers(_ screen: Screen) -> [Int] { screen.texts.compactMap { Int($0) } }

    private func expectNoGap(_ screen: Screen, _ location: SourceLocation = #_sourceLocation) {
        let numbers = numbers(screen)
        guard let first = numbers.first, let last = numbers.last else { return }
        #expect(numbers == Array(first...last), sourceLocation: location)
    }

    @Test func `what arrives while a message is fetched neither holds it up nor tears the window`()
        async throws
    {
        let screen = screen(GatedProvider(memory, holding: [.around: gate]))
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.texts.last == "500" }
            screen.manager.jump(to: MessageID(200))
            await gate.arrived()
            memory.receive(.text("501"), from: ben, in: withBen)
            gate.open()
            await screen.wait { screen.texts.contains("200") }
            expectNoGap(screen)
            #expect(screen.manager.controller.state.newer.canLoad)
            screen.manager.controller.submit(.latestRequested)
            await screen.wait { screen.texts.last == "501" }
            expectNoGap(screen)
        }
    }

    @Test func `a message that is fetched for a session that was left shows nothing of itself`() async throws
    {
        let provider = GatedProvider(memory, holding: [.around: gate])
        let screen = screen(provider)
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.texts.last == "500" }
            screen.manager.jump(to: MessageID(200))
            await gate.arrived()
            screen.manager.close()
            provider.hold(.around, at: nil)
            screen.manager.open()
            await screen.wait { screen.texts.last == "500" }
            gate.open()
            // The late answer is counted once it came.
            while screen.manager.counters.staleAnswers == 0 { await Task.yield() }
            memory.receive(.text("501"), from: ben, in: withBen)
            await screen.wait { screen.texts.last == "501" }
            #expect(!screen.texts.contains("200"))
            expectNoGap(screen)
        }
    }

    @Test func `a time that is found for a session that was left moves nobody`() async throws {
        let screen = screen(GatedProvider(memory, holding: [.time: gate]))
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.texts.last == "500" }
            let jump = Task { try await screen.manager.jump(toTime: 50 * 60_000) }
            await gate.arrived()
            screen.manager.close()
            screen.manager.open()
            gate.open()
            let isMoved = try await jump.value
            #expect(!isMoved)
            memory.receive(.text("501"), from: ben, in: withBen)
            await screen.wait { screen.texts.last == "501" }
            #expect(!screen.texts.contains("51"))
        }
    }

    @Test func `a time that is found for a session that is closed moves nobody`() async throws {
        let screen = screen(GatedProvider(memory, holding: [.time: gate]))
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.texts.last == "500" }
            let jump = Task { try await screen.manager.jump(toTime: 50 * 60_000) }
            await gate.arrived()
            screen.manager.close()
            gate.open()
            let isMoved = try await jump.value
            #expect(!isMoved)
        }
    }

    @Test func `of two jumps the one asked for last counts, also when it is answered first`() async throws {
        let screen = screen(GatedProvider(memory, holding: [.time: gate]))
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.texts.last == "500" }
            let jump = Task { try await screen.manager.jump(toTime: 50 * 60_000) }
            await gate.arrived()
            screen.manager.jump(to: MessageID(300))
            await screen.wait { screen.texts.contains("300") }
            gate.open()
            let isMoved = try await jump.value
            #expect(!isMoved)
            memory.receive(.reaction(target: "memory-300", emoji: "👍", isOn: true), from: ben, in: withBen)
            await screen.wait { screen.messages.contains { !$0.reactions.isEmpty } }
            #expect(!screen.texts.contains("51"))
        }
    }

    @Test func `the first unread message is found although the read position takes its time`() async throws {
        memory.setReadPosition(MessagePosition(120), in: withBen)
        let provider = GatedProvider(memory)
        let screen = screen(provider)
        screen.manager.configuration.showsUnreadMark = false
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.texts.last == "500" }
            provider.hold(.readPosition, at: gate)
            let jump = Task { try await screen.manager.jumpToFirstUnread() }
            await gate.arrived()
            memory.receive(.text("501"), from: ben, in: withBen)
            gate.open()
            let isMoved = try await jump.value
            #expect(isMoved)
            await screen.wait { screen.texts.contains("121") }
            expectNoGap(screen)
        }
    }

    @Test func `the first unread message of a session that was left moves nobody`() async throws {
        memory.setReadPosition(MessagePosition(120), in: withBen)
        let provider = GatedProvider(memory)
        let screen = screen(provider)
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.texts.last == "500" }
            // Its pages are read one after the other, and the session is left in the middle.
            provider.hold(.page, at: gate)
            let jump = Task { try await screen.manager.jumpToFirstUnread() }
            await gate.arrived()
            screen.manager.close()
            provider.hold(.page, at: nil)
            screen.manager.open()
            gate.open()
            let isMoved = try await jump.value
            #expect(!isMoved)
            memory.receive(.text("501"), from: ben, in: withBen)
            await screen.wait { screen.texts.last == "501" }
            #expect(!screen.texts.contains("121"))
        }
    }

    @Test func `a provider that fails leaves the reader in place, and the caller knows`() async throws {
        let screen = Screen(engine: memory.engine)
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.texts.last == "500" }
            memory.setScript { $0.kind == .page ? .failing(with: FlowFailure(code: "offline")) : .normal }
            await #expect(throws: FlowFailure.self) { try await screen.manager.jump(toTime: 0) }
            memory.setReadPosition(MessagePosition(9), in: withBen)
            await #expect(throws: FlowFailure.self) { try await screen.manager.jumpToFirstUnread() }
            let before = numbers(screen)
            screen.manager.jump(to: MessageID(5))
            memory.receive(.text("501"), from: ben, in: withBen)
            await screen.wait { screen.texts.last == "501" }
            #expect(Set(before).subtracting(numbers(screen)).count < before.count)
            #expect(!screen.texts.contains("5"))
        }
    }
}

/// A conversation of so many messages that are made when they are asked for: message n has id, key and position n.
private struct EndlessProvider: SessionMessageProvider {
    let count: Int64
    let largestPage = LargestPage()

    final class LargestPage: Sendable {
        private let value = Mutex(0)
        var count: Int { value.withLock { $0 } }
        func note(_ count: Int) { value.withLock { $0 = max($0, count) } }
    }

    private func page(_ range: ClosedRange<Int64>) -> MessagePage {
        let range = range.clamped(to: 1...count)
        largestPage.note(range.count)
        return MessagePage(
            messages: range.map { Message.sample($0, text: "\($0)", sender: 8, session: withBen) },
            hasOlder: range.lowerBound > 1, hasNewer: range.upperBound < count)
    }

    func messages(
        in session: Session, anchorMessage: Message?, direction: PageDirection, limit: Int
    ) async throws -> MessagePage {
        let limit = Int64(limit)
        guard let anchor = anchorMessage?.position.rawValue else { return page(count - limit + 1...count) }
        switch direction {
        case .older:
            guard anchor > 1 else { return MessagePage(messages: [], hasOlder: false, hasNewer: true) }
            return page(anchor - limit...anchor - 1)
        case .newer:
            guard anchor < count else { return MessagePage(messages: [], hasOlder: true, hasNewer: false) }
            return page(anchor + 1...anchor + limit)
        }
    }

    func messages(in session: Session, around id: MessageID, limit: Int) async throws -> MessagePage {
        page(id.rawValue - Int64(limit / 2)...id.rawValue + Int64(limit / 2) - 1)
    }

    func message(in session: Session, sentFrom milliseconds: Int64) async throws -> Message? {
        Message.sample(max(1, milliseconds / 60_000), sender: 8, session: withBen)
    }
}

@Suite(.timeLimit(.minutes(5))) @MainActor struct `A conversation of 100,000 messages` {
    private let count: Int64 = 100_000
    private let memory = MemoryEngine()

    private func screen(_ provider: EndlessProvider) -> Screen {
        var configuration = SessionConfiguration.test
        configuration.provider = provider
        configuration.showsUnreadMark = false
        configuration.ledgerCountMax = 300
        return Screen(engine: memory.engine, configuration: configuration)
    }

    /// The window is within its bound, without a gap or a double, and what is remembered is bounded.
    private func expectBounds(_ screen: Screen, _ location: SourceLocation = #_sourceLocation) {
        let numbers = screen.messages.map(\.id.rawValue)
        #expect(numbers.count <= 120, sourceLocation: location)
        #expect(
            numbers == Array((numbers.first ?? 1)...(numbers.last ?? 1)), sourceLocation: location)
        #expect(screen.manager.ledger.entries.count <= 300 + 300 / 4 + 64, sourceLocation: location)
    }

    @Test func `is scrolled through far beyond what is remembered, and back`() async throws {
        let provider = EndlessProvider(count: count)
        let screen = screen(provider)
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.texts.last == "100000" }
            for side in [PageDirection.older, .newer] {
                for _ in 0..<40 {
                    let before = screen.messages.map(\.id.rawValue)
                    guard side == .older || screen.manager.controller.state.newer.canLoad else { break }
                    // The reader goes to the edge, where the next page is asked for.
                    screen.manager.controller.submit(
                        .jumpRequested(
                            MessageID(side == .older ? before[0] : before[before.count - 1]),
                            side == .older ? .top : .bottom, highlights: false))
                    screen.manager.controller.submit(.loadRequested(side))
                    await screen.wait {
                        let now = screen.messages.map(\.id.rawValue)
                        return side == .older
                            ? now[0] < before[0] : now[now.count - 1] > before[before.count - 1]
                    }
                    expectBounds(screen)
                }
            }
            #expect(screen.messages.count > 30)
        }
        #expect(provider.largestPage.count <= 60)
    }

    @Test func `any message is a jump away, also the first and the last`() async throws {
        let screen = screen(EndlessProvider(count: count))
        try await screen.run {
            screen.manager.open()
            await screen.wait { screen.texts.last == "100000" }
            for target in [1, 50_000, 3, 99_999, 12_345, 100_000, 77_777] as [Int64] {
                screen.manager.jump(to: MessageID(target))
                await screen.wait { screen.texts.contains("\(target)") }
                expectBounds(screen)
            }
            let isFound = try await screen.manager.jump(toTime: 4_321 * 60_000)
            #expect(isFound)
            await screen.wait { screen.texts.contains("4321") }
            expectBounds(screen)
            screen.manager.jump(to: MessageID(1))
            await screen.wait { screen.texts.first == "1" }
            #expect(!screen.manager.controller.state.older.canLoad)
        }
    }
}
