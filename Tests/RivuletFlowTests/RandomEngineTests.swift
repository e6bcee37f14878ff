import RivuletModel
import Synchronization
import Testing

@testable import RivuletFlow

/// An engine that tells everything late, twice and in any order, beside the plain truth of what it has.
private final class RandomEngine: SessionMessageProvider, MessageServiceInterface {
    struct Truth {
        var generator: SeededGenerator
        var messages: [String: Message] = [:]
        var deleted: Set<String> = []
        /// What was not told yet.
        var untold: [SessionEvent] = []
        var lastNumber: Int64 = 0

        var ordered: [Message] { messages.values.sorted { $0.position < $1.position } }

        mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &generator) == 0 }

        /// A message gets its place and is told, some times.
        mutating func add(_ message: Message) -> Message {
            lastNumber += 1
            var message = message
            message.id = MessageID(lastNumber)
            message.serverKey = chance(2) ? lastNumber : nil
            message.position = MessagePosition(lastNumber)
            message.state = message.isOutgoing ? .accepted : .received
            messages[message.uuid ?? ""] = message
            for _ in 0...Int.random(in: 0..<3, using: &generator) { untold.append(.arrived([message])) }
            return message
        }

        /// A message changes and this is told as the engine likes.
        mutating func change(_ uuid: String, _ control: ControlContent, _ change: (inout Message) -> Void) {
            guard var message = messages[uuid] else { return }
            change(&message)
            message.revision += 1
            messages[uuid] = message
            if chance(2) {
                untold.append(.updated([message]))
            } else {
                untold.append(.control(control, by: message.sender, milliseconds: 1))
            }
            if chance(3) { untold.append(.arrived([message])) }
        }
    }

    let truth: Mutex<Truth>

    init(seed: UInt64) {
        truth = Mutex(Truth(generator: SeededGenerator(seed: seed)))
    }

    /// Lets others go on for a while, as a network would.
    private func dawdle() async {
        let count = truth.withLock { Int.random(in: 0..<12, using: &$0.generator) }
        for _ in 0..<count { await Task.yield() }
    }

    func messages(
        in session: Session, anchorMessage: Message?, direction: PageDirection, limit: Int
    ) async throws -> MessagePage {
        let all = truth.withLock { $0.ordered }
        let fails = truth.withLock { $0.chance(12) }
        await dawdle()
        if fails { throw FlowFailure(code: "dropped") }
        guard let anchor = anchorMessage else {
            return MessagePage(messages: all.suffix(limit), hasOlder: all.count > limit, hasNewer: false)
        }
        switch direction {
        case .older:
            let rest = all.filter { $0.position < anchor.position }
            return MessagePage(messages: rest.suffix(limit), hasOlder: rest.count > limit, hasNewer: true)
        case .newer:
            let rest = all.filter { $0.position > anchor.position }
            return MessagePage(
                messages: Array(rest.prefix(limit)), hasOlder: true, hasNewer: rest.count > limit)
        }
    }

    func send(message: Message, in session: Session) async throws -> Message {
        await dawdle()
        let fate = truth.withLock { Int.random(in: 0..<4, using: &$0.generator) }
        if fate == 0 { throw InteractionError(.refused) }
        let sent = truth.withLock { truth in
            truth.deleted.contains(message.uuid ?? "")
                ? message : truth.messages[message.uuid ?? ""] ?? truth.add(message)
        }
        await dawdle()
        // It went out all the same; nobody is told by this answer.
        if fate == 1 { throw InteractionError(.timedOut) }
        return sent
    }

    func resend(message: Message) async throws -> Message {
        try await send(message: message, in: message.session)
    }
    func forward(message: Message, to session: Session) async throws -> Message { message }
    func revoke(message: Message) async throws {}
    func save(message: Message, in session: Session) async throws {}
    func delete(message: Message) async throws {}
}

/// Watches every apply for what must never be seen.
@MainActor private final class Witness: FlowObserver {
    var faults: [String] = []
    var applyCount = 0
    private var withdrawn: Set<String> = []
    private var burned: Set<String> = []

    func flow(_ controller: FlowController, didApply update: FlowUpdate) {
        applyCount += 1
        let messages = update.snapshot.messages
        let names = messages.compactMap(\.uuid)
        if Set(names).count != names.count { faults.append("one message has two rows: \(names)") }
        if Set(messages.map(\.id)).count != messages.count { faults.append("two rows have one id") }
        let places = messages.map(\.position)
        if zip(places, places.dropFirst()).contains(where: { $0 > $1 }) { faults.append("out of order") }
        for message in messages {
            guard let uuid = message.uuid else { continue }
            if message.content == .revoked { withdrawn.insert(uuid) }
            if message.content == .erased { burned.insert(uuid) }
            if withdrawn.contains(uuid), message.content != .revoked { faults.append("\(uuid) came back") }
            if burned.contains(uuid), message.content != .erased { faults.append("\(uuid) is not burned") }
        }
    }
}

@Suite("A session over an engine that tells everything late, twice and in any order", .timeLimit(.minutes(1)))
@MainActor struct RandomEngineTests {
    private struct Row: Hashable {
        var uuid: String?
        var content: MessageContent
        var isFailed: Bool
    }

    @Test(arguments: UInt64(1)...24)
    func `what is shown in the end is the truth, and nothing impossible before`(seed: UInt64) async throws {
        let engine = RandomEngine(seed: seed)
        let session = Engine(user: ada, provider: engine, service: engine)
        var configuration = SessionConfiguration.test
        configuration.pageSize = 200
        let screen = Screen(engine: session, configuration: configuration)
        let witness = Witness()
        screen.manager.controller.addObserver(witness)
        var sends: [Task<Void, Never>] = []
        var generator = SeededGenerator(seed: seed &+ 77)
        try await screen.run {
            screen.manager.open()
            for step in 0..<250 {
                if let send = act(step, screen.manager, engine, &generator) { sends.append(send) }
                if Int.random(in: 0..<3, using: &generator) == 0 { await Task.yield() }
                if Int.random(in: 0..<3, using: &generator) == 0 { screen.manager.controller.drain() }
            }
            for send in sends { await send.value }
            while tellOne(screen.manager, engine, &generator) {}
            screen.manager.close()
            screen.manager.open()
            await screen.wait {
                if case .failed = screen.manager.controller.state.opening {
                    screen.manager.controller.submit(.loadRequested(.older))
                }
                // Shown as a whole: an apply may wait for sizes.
                return screen.manager.controller.state.opening == .shown
                    && (!screen.messages.isEmpty || engine.truth.withLock { $0.messages.isEmpty })
            }
            let expected = engine.truth.withLock { $0.ordered }.map {
                Row(uuid: $0.uuid, content: $0.content, isFailed: false)
            }
            let shown = screen.messages.map {
                Row(uuid: $0.uuid, content: $0.content, isFailed: $0.state.isFailed)
            }
            #expect(shown.filter { !$0.isFailed } == expected)
            // What is beyond the truth was refused, each once, and stands after it.
            let refused = shown.dropFirst(expected.count)
            #expect(refused.allSatisfy { $0.isFailed })
            #expect(Set(refused.map(\.uuid)).isDisjoint(with: expected.map(\.uuid)))
        }
        #expect(witness.faults.isEmpty, "\(witness.faults.prefix(3))")
        #expect(witness.applyCount > 2)
    }

    /// One thing that happens: to the engine, to the user, or on the way between them.
    private func act(
        _ step: Int, _ manager: DataManager, _ engine: RandomEngine, _ generator: inout SeededGenerator
    ) -> Task<Void, Never>? {
        let choice = Int.random(in: 0..<20, using: &generator)
        let target = engine.truth.withLock { $0.messages.keys.sorted() }.randomElement(using: &generator)
        switch choice {
        case 0..<3:
            engine.truth.withLock { truth in
                _ = truth.add(
                    Message(
                        id: MessageID(0), session: withBen, sender: ben, uuid: "b\(step)",
                        position: MessagePosition(0), timeMilliseconds: Int64(step),
                        content: .text("from ben \(step)")))
            }
        case 3..<5:
            guard manager.life == .open else { break }
            return Task { await attempt { try await manager.send(.text("from ada \(step)")) } }
        case 5:
            guard let failed = manager.controller.snapshot.messages.first(where: \.state.isFailed) else {
                break
            }
            return Task { await attempt { try await manager.resend(message: failed) } }
        case 6..<9:
            if let target { change(target, step, engine, &generator) }
        case 9:
            guard let target else { break }
            engine.truth.withLock { truth in
                guard let gone = truth.messages.removeValue(forKey: target) else { return }
                truth.deleted.insert(target)
                truth.untold.append(.deleted([gone.id]))
            }
        case 10: manager.reload()
        case 11:
            if manager.life == .open { manager.close() } else { manager.open() }
        default: _ = tellOne(manager, engine, &generator)
        }
        return nil
    }

    private func change(
        _ target: String, _ step: Int, _ engine: RandomEngine, _ generator: inout SeededGenerator
    ) {
        let kind = Int.random(in: 0..<4, using: &generator)
        engine.truth.withLock { truth in
            guard let message = truth.messages[target], case .text = message.content else { return }
            switch kind {
            case 0: truth.change(target, .revoke(target: target)) { $0.content = .revoked }
            case 1:
                truth.messages[target]?.content = .erased
                truth.messages[target]?.revision += 1
                truth.untold.append(.burned(uuid: target))
            default:
                let edit = EditContent(target: target, change: .replace("edited \(step)"))
                truth.change(target, .edit(edit)) {
                    $0.content = .text("edited \(step)")
                    $0.isEdited = true
                }
            }
        }
    }

    private func tellOne(
        _ manager: DataManager, _ engine: RandomEngine, _ generator: inout SeededGenerator
    ) -> Bool {
        let event = engine.truth.withLock { truth -> SessionEvent? in
            guard let index = truth.untold.indices.randomElement(using: &generator) else { return nil }
            return truth.untold.remove(at: index)
        }
        guard let event else { return false }
        manager.take(event)
        return true
    }
}

@MainActor private func attempt(_ call: () async throws -> Message) async {
    do { _ = try await call() } catch { return }
}
