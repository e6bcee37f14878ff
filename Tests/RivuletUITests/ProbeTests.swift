import RivuletTestSupport
import Testing

/// The interface on a real display, looked at from inside by `rivulet-ui-probe`.
@Suite(.serialized) struct ProbeTests {
    private func facts(_ check: String) async throws -> [String] {
        let display = try await VirtualDisplay()
        let probe = try Program("rivulet-ui-probe", [check], environment: display.environment)
        let status = try await probe.waitForExit(within: .seconds(100))
        #expect(status == 0, "\(probe.output.suffix(800))")
        return probe.lines
    }

    @Test(.timeLimit(.minutes(2)))
    func `what is measured is as high as what is drawn, for hard texts at five widths and three text sizes`()
        async throws
    {
        let facts = try await facts("measure")
        let wrong = facts.filter { $0.hasPrefix("differs") }
        #expect(wrong.isEmpty, "\(wrong.prefix(5).joined(separator: "\n"))")
        // 13 texts, 3 strategies, 5 widths, 3 text sizes.
        #expect(facts.filter { $0.hasPrefix("same") }.count == 585)
        #expect(facts.contains("warnings 0"), "\(facts.suffix(6))")
    }

    @Test(.timeLimit(.minutes(2)))
    func `no pixel moves under a reader who has scrolled up`() async throws {
        let facts = try await facts("still")
        let moved = facts.filter { $0.hasPrefix("moved") }
        #expect(moved.isEmpty, "\(moved.joined(separator: "\n"))")
        #expect(facts.filter { $0.hasPrefix("still") }.count == 6)
        #expect(facts.contains("warnings 0"), "\(facts.suffix(6))")
    }

    @Test(.timeLimit(.minutes(2)))
    func `sixty flows that were opened and left are gone`() async throws {
        let facts = try await facts("reopen")
        #expect(facts.contains("left 0 views, 0 flows of 60"), "\(facts)")
        #expect(facts.contains("warnings 0"), "\(facts.suffix(6))")
    }

    @Test(.timeLimit(.minutes(2)))
    func `flings, jumps, resizes and another theme make GTK warn of nothing`() async throws {
        let facts = try await facts("resize")
        #expect(facts.contains("jumped true"), "\(facts.suffix(6))")
        #expect(facts.contains("latest true"))
        #expect(facts.contains("warnings 0"), "\(facts.suffix(6))")
        // Two thousand messages, and no more cells than fit on the largest screen.
        let cells = facts.first { $0.hasPrefix("cells ") }.flatMap { Int($0.dropFirst(6)) } ?? 0
        #expect((1...60).contains(cells), "\(cells) cells")
    }
}
