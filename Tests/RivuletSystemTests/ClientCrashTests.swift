import Foundation
import RivuletTestSupport
import Testing

/// Two people talk while their programs are killed again and again, as by a power cut or an impatient user.
@Suite("Killed clients")
struct ClientCrashTests {
    /// How often a client is killed: a few times at each change, 1,000 times in the soak.
    static let killCount = ProcessInfo.processInfo.environment["RIVULET_SOAK"] == "1" ? 1_000 : 8

    /// What one user has said so far.
    private struct Side {
        let user: Int
        let other: Int
        let token: String
        /// The next number to say.
        var next = 1

        func text(_ number: Int) -> String { "\(user) says \(number)" }
    }

    @Test(arguments: [20_261_130 as UInt64])
    func `killing either client at random moments loses and doubles nothing`(seed: UInt64) async throws {
        var random = SplitMix(state: seed)
        let deployment = try await Deployment()
        var sides = [
            Side(user: 7, other: 8, token: try await deployment.token(for: 7)),
            Side(user: 8, other: 7, token: try await deployment.token(for: 8)),
        ]
        for _ in 0..<Self.killCount {
            let victim = Int.random(in: 0...1, using: &random)
            try await talk(&sides, killing: victim, after: random.next() % 500_000, in: deployment)
        }
        for index in sides.indices { try await sayLast(&sides[index], in: deployment) }
        for side in sides {
            let said = try await texts(of: side, isOwn: true, in: deployment)
            #expect(said == (1..<side.next).map { side.text($0) }, "what user \(side.user) said")
        }
        for (side, author) in [(sides[0], sides[1]), (sides[1], sides[0])] {
            let heard = try await hear(author.text(author.next - 1), side, in: deployment)
            #expect(heard == (1..<author.next).map { author.text($0) }, "what user \(side.user) heard")
        }
    }

    /// Both talk; one is killed in the middle of it, the other one says what it has to say.
    private func talk(
        _ sides: inout [Side], killing victim: Int, after microseconds: UInt64, in deployment: Deployment
    ) async throws {
        let programs = try sides.map { side in
            try deployment.client("chat", user: side.user, token: side.token, ["--with", "\(side.other)"])
        }
        for (side, program) in zip(sides, programs) {
            try program.type((side.next..<side.next + 20).map { side.text($0) + "\n" }.joined())
        }
        // The moment is the point of the test: nothing depends on where it falls.
        try await Task.sleep(for: .microseconds(Int64(microseconds)))
        programs[victim].signal(SIGKILL)
        try await programs[victim].waitForExit()
        try programs[1 - victim].closeInput()
        #expect(
            try await programs[1 - victim].waitForExit(within: .seconds(60)) == 0,
            "\(programs[1 - victim].output.suffix(500))")
        sides[1 - victim].next += 20
        // What the dead program's store has not, was never said; the next one says it.
        let said = try await texts(of: sides[victim], isOwn: true, in: deployment)
        let side = sides[victim]
        #expect(said == (1..<(said.count + 1)).map { side.text($0) }, "the store of the killed program")
        sides[victim].next = said.count + 1
    }

    /// Says one thing more, behind everything that still waits, until the server has it.
    private func sayLast(_ side: inout Side, in deployment: Deployment) async throws {
        let program = try deployment.client(
            "send", user: side.user, token: side.token,
            ["--to", "\(side.other)", "--timeout", "60s", side.text(side.next)])
        #expect(try await program.waitForExit(within: .seconds(90)) == 0, "\(program.output)")
        side.next += 1
    }

    /// Connects until a text is there, and gives everything that the other one said.
    private func hear(_ last: String, _ side: Side, in deployment: Deployment) async throws -> [String] {
        for _ in 0..<30 {
            let heard = try await texts(of: side, isOwn: false, in: deployment)
            if heard.last == last { return heard }
            let program = try deployment.client(
                "tail", user: side.user, token: side.token, ["--timeout", "2s"])
            try await program.waitForExit(within: .seconds(60))
        }
        return try await texts(of: side, isOwn: false, in: deployment)
    }

    private func texts(of side: Side, isOwn: Bool, in deployment: Deployment) async throws -> [String] {
        let program = try deployment.client(
            "history", user: side.user, token: side.token,
            ["--with", "\(side.other)", "--json", "--limit", "1000000"])
        let status = try await program.waitForExit(within: .seconds(60))
        // A program that is killed very early has not even made its store.
        if status != 0, program.output.contains("there is no store") { return [] }
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
