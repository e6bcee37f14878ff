import Foundation
import RivuletTestSupport
import Testing

/// People talk in pairs while their programs are killed again and again, as by a power cut or an impatient user.
@Suite("Killed clients")
struct ClientCrashTests {
    /// How many clients are killed: 50 at each change, 1,000 in the soak.
    static let killCount = ProcessInfo.processInfo.environment["RIVULET_SOAK"] == "1" ? 1_000 : 50
    /// How many pairs talk at a time, so that the processors have something to do while programs wait.
    static let pairCount = 5

    @Test(.timeLimit(.minutes(20)), arguments: [20_261_130 as UInt64])
    func `killing both clients at random moments loses and doubles nothing`(seed: UInt64) async throws {
        let deployment = try await Deployment()
        var pairs: [Pair] = []
        for number in 0..<Self.pairCount {
            let users = [2 * number + 7, 2 * number + 8]
            var tokens: [String] = []
            for user in users { tokens.append(try await deployment.token(for: user)) }
            pairs.append(
                Pair(
                    users: users, tokens: tokens, place: deployment.place,
                    random: SplitMix(state: seed &+ UInt64(number))))
        }
        let roundCount = Self.killCount / Self.pairCount / 2
        try await withThrowingTaskGroup(of: Void.self) { group in
            for pair in pairs {
                group.addTask {
                    var pair = pair
                    for round in 1...roundCount { try await pair.talkAndDie(round) }
                    try await pair.finish()
                    try await pair.check(roundCount: roundCount)
                }
            }
            try await group.waitForAll()
        }
    }
}

/// Two users, each with a program of its own.
private struct Pair: Sendable {
    /// When a program is killed: after so many lines of the other one, and some time.
    private struct Moment {
        var lineCount: Int
        var delay: Duration
    }

    static let lineCount = 20

    let users: [Int]
    let tokens: [String]
    let place: ClientPlace
    var random: SplitMix

    private static func text(_ user: Int, _ round: Int, _ number: Int) -> String {
        "\(user) says \(round).\(number)"
    }

    /// Both talk, and each is killed in the middle of it.
    mutating func talkAndDie(_ round: Int) async throws {
        let programs = try users.indices.map { try start($0) }
        for (user, program) in zip(users, programs) {
            try program.type((1...Self.lineCount).map { Self.text(user, round, $0) + "\n" }.joined())
        }
        let moments = users.map { _ in moment() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (program, moment) in zip(programs, moments) {
                group.addTask {
                    // Where the moment falls is the point of the test; nothing depends on it.
                    let patience = ContinuousClock.now + .milliseconds(800)
                    while program.lines.count < moment.lineCount, ContinuousClock.now < patience {
                        try await Task.sleep(for: .milliseconds(2))
                    }
                    try await Task.sleep(for: moment.delay)
                    program.signal(SIGKILL)
                    let status = try await program.waitForExit()
                    #expect(status == 128 + SIGKILL, "it ended by itself: \(program.output.suffix(500))")
                }
            }
            try await group.waitForAll()
        }
    }

    /// Half of the moments fall while a program starts and logs in, half into the conversation.
    private mutating func moment() -> Moment {
        let isEarly = Bool.random(using: &random)
        return Moment(
            lineCount: isEarly ? 0 : Int.random(in: 1...2 * Self.lineCount, using: &random),
            delay: .microseconds(Int64.random(in: 0...(isEarly ? 400_000 : 20_000), using: &random)))
    }

    /// Both say a last thing, behind everything that still waits, and hear that of the other.
    func finish() async throws {
        let programs = try users.indices.map { try start($0) }
        for (user, program) in zip(users, programs) { try program.type("\(user) says the last\n") }
        for (index, program) in programs.enumerated() {
            try await program.waitForLine(
                containing: "\(users[1 - index]) says the last", within: .seconds(60))
        }
        for program in programs {
            try program.closeInput()
            #expect(try await program.waitForExit(within: .seconds(60)) == 0, "\(program.output.suffix(500))")
        }
    }

    /// What one has in the store is what the other heard, in the same order; and of each round it is a beginning.
    ///
    /// What a killed program had not stored yet was never said.
    func check(roundCount: Int) async throws {
        for index in users.indices {
            let (user, other) = (users[index], 1 - index)
            let said = try await texts(index, isOwn: true)
            let heard = try await texts(other, isOwn: false)
            #expect(heard == said, "what user \(user) said, and what user \(users[other]) heard")
            var expected: [String] = []
            for round in 1...roundCount {
                let count = said.count { $0.hasPrefix("\(user) says \(round).") }
                expected += (1...Self.lineCount).prefix(count).map { Self.text(user, round, $0) }
            }
            #expect(said == expected + ["\(user) says the last"], "the store of user \(user)")
        }
    }

    private func start(_ index: Int) throws -> Program {
        try place.client(
            "chat", user: users[index], token: tokens[index], ["--with", "\(users[1 - index])"])
    }

    private func texts(_ index: Int, isOwn: Bool) async throws -> [String] {
        let program = try place.client(
            "history", user: users[index], token: tokens[index],
            ["--with", "\(users[1 - index])", "--json", "--limit", "1000000"])
        let status = try await program.waitForExit(within: .seconds(60))
        #expect(status == 0, "\(program.output.suffix(500))")
        return program.lines.compactMap { line in
            guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                object["own"] as? Bool == isOwn
            else { return nil }
            return object["text"] as? String
        }
    }
}

/// The test's own chance, from its seed.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
