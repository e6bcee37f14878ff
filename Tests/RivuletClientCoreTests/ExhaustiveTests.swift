import Testing

@testable import RivuletClientCore

/// The things that can happen to a client, a small alphabet of them.
///
/// Symbols that make no sense at the moment (a commit while none is under way) fall through to the core all the same
/// where they can: it must hold its own.
enum Symbol: CaseIterable {
    case start, stop, background, foreground
    case opened, closed, loginAccepted, loginRefused, kick
    case push, endRound, acknowledge
    case committed, commitFailed
    case send, sendWithUpload, uploaded, uploadFailed, cancel, refuse
    case offline, online
    case deadline, malformed
    // Rarer things, tried in pairs from every beginning.
    case startUnreadable, restored, resolveFailed, token
    case queued, unreadable
    case enterRoom, leaveRoom, sendToRoom, live
    case followGroup, leaveGroup, pushToGroup, endGroupRound

    /// The things of which sequences of three and four are tried.
    static let common = allCases.filter { $0.index < Symbol.startUnreadable.index }

    private var index: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

@Suite("Every short sequence of events")
struct ExhaustiveTests {
    /// Prefixes from which all sequences are tried, so that they reach deep states.
    enum Beginning: CaseIterable {
        case nothing, started, loggingIn, online, sending, written

        var symbols: [Symbol] {
            switch self {
            case .nothing: []
            case .started: [.start]
            case .loggingIn: [.start, .opened]
            case .online: [.start, .opened, .loginAccepted, .endRound]
            case .sending: [.start, .opened, .loginAccepted, .endRound, .send]
            case .written: [.start, .opened, .loginAccepted, .endRound, .send, .committed, .push, .send]
            }
        }
    }

    /// The symbols to try behind a beginning: all of them where sequences are short.
    private static func alphabet(_ beginning: Beginning) -> [Symbol] {
        guard depth(beginning) > 3 else { return Symbol.common }
        let later: Set<Symbol> = [.sendWithUpload, .uploaded, .uploadFailed, .refuse, .offline, .online]
        return Symbol.common.filter { !later.contains($0) }
    }

    /// All sequences of up to this many symbols behind a beginning: the longest where most can happen.
    private static func depth(_ beginning: Beginning) -> Int {
        beginning == .online ? 4 : 3
    }

    @Test(arguments: Beginning.allCases)
    func `keeps every promise`(from beginning: Beginning) async {
        var auditor = Auditor()
        for symbol in beginning.symbols { auditor.play(symbol) }
        var count = 0
        let alphabet = Self.alphabet(beginning)
        for symbol in alphabet {
            // The other tests want their turn, too.
            await Task.yield()
            explore(
                auditor, alphabet, symbol, path: beginning.symbols, depth: Self.depth(beginning),
                count: &count)
        }
        #expect(count == (1...Self.depth(beginning)).reduce(0) { $0 + power(alphabet.count, $1) })
    }

    /// Beginnings that lead to every state of the connection and of the storage, for pairs of everything.
    static let beginningsOfPairs: [[Symbol]] =
        Beginning.allCases.map(\.symbols) + [
            [.startUnreadable], [.startUnreadable, .send], [.startUnreadable, .deadline],
            [.start, .opened, .loginRefused], [.start, .opened, .loginRefused, .deadline],
            [.start, .opened, .loginAccepted, .kick], [.start, .opened, .closed],
            [.start, .opened, .loginAccepted, .queued, .endRound],
            [.start, .opened, .loginAccepted, .endRound, .endGroupRound, .pushToGroup, .committed],
            [.start, .opened, .loginAccepted, .endRound, .endGroupRound, .pushToGroup, .push, .commitFailed],
            [.start, .opened, .loginAccepted, .endRound, .enterRoom, .sendToRoom],
            [.start, .opened, .loginAccepted, .endRound, .sendWithUpload, .committed, .uploaded],
            [.start, .opened, .loginAccepted, .endRound, .leaveGroup],
            [.start, .opened, .loginAccepted, .endRound, .push, .stop],
        ]

    @Test(arguments: beginningsOfPairs.indices)
    func `keeps every promise through every pair of everything`(from number: Int) {
        var auditor = Auditor()
        let beginning = Self.beginningsOfPairs[number]
        for symbol in beginning { auditor.play(symbol) }
        var count = 0
        for symbol in Symbol.allCases {
            explore(auditor, Symbol.allCases, symbol, path: beginning, depth: 2, count: &count)
        }
        #expect(count == Symbol.allCases.count * (Symbol.allCases.count + 1))
    }

    private func power(_ base: Int, _ exponent: Int) -> Int {
        (0..<exponent).reduce(1) { product, _ in product * base }
    }

    private func explore(
        _ auditor: Auditor, _ alphabet: [Symbol], _ symbol: Symbol, path: [Symbol], depth: Int,
        count: inout Int
    ) {
        var next = auditor
        next.play(symbol)
        next.checkSends()
        count += 1
        let path = path + [symbol]
        if !next.faults.isEmpty { Issue.record("\(path): \(next.faults)") }
        guard depth > 1 else { return }
        for symbol in alphabet {
            explore(next, alphabet, symbol, path: path, depth: depth - 1, count: &count)
        }
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `keeps every promise over a long random run`(seed: UInt64) {
        var random = SplitMixGenerator(seed: seed)
        var auditor = Auditor()
        var path: [Symbol] = []
        for _ in 0..<2000 {
            guard let symbol = Symbol.allCases.randomElement(using: &random) else { return }
            path.append(symbol)
            auditor.play(symbol)
            auditor.checkSends()
            guard auditor.faults.isEmpty else {
                Issue.record("\(path.suffix(12)): \(auditor.faults)")
                return
            }
        }
    }
}
