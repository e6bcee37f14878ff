import Foundation
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

    @Test(.timeLimit(.minutes(2)))
    func `assistive technology finds one label and the menu's actions in each row, and can perform them`()
        async throws
    {
        let display = try await VirtualDisplay()
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "accessible.py")
        let client = try Program(
            "/usr/bin/dbus-run-session",
            ["--", "/usr/bin/python3", script.path, Program.folder.appending(path: "rivulet-ui-probe").path],
            environment: display.environment.merging(["GTK_A11Y": "atspi"]) { $1 })
        let status = try await client.waitForExit(within: .seconds(60))
        #expect(status == 0, "\(client.output.suffix(800))")
        let tree = client.lines.filter { $0.hasPrefix("tree ") }.map { String($0.dropFirst(5)) }
        #expect(tree.joined(separator: "\n") == Self.tree)
        // Every row was asked to do the last entry of its menu, and did.
        #expect(client.lines.filter { $0.hasPrefix("performed translate on ") }.count == 8)
        #expect(client.lines.contains("warnings 0"), "\(client.lines.suffix(6))")
    }

    /// One label and the menu's entries a row; nothing of what is inside, and nothing that is not shown.
    private static let tree = """
        application 'Unnamed'
          frame 'probe'
            panel
              scroll pane
                list 'Messages'
                  label 'Jan 5, 2025 01:20'
                  list item 'You, Message number 0, of a common length, 01:20, sent' \
        [copy delete forward reply revoke translate]
                  list item 'You, Message number 1, of a common length, 01:21, sent' \
        [copy delete forward reply revoke translate]
                  list item 'You, Message number 2, of a common length, 01:22, sent' \
        [copy delete forward reply revoke translate]
                  list item 'User 2, [Photo], 01:23' [delete forward reply translate]
                  list item 'User 2, Message number 4, of a common length, 01:24' \
        [copy delete forward reply translate]
                  list item 'User 2, Message 5 is a long one: it wraps over several lines, \
        因为它里面有很多字，也有中文，and a link, https://example.org/5, and some emoji 🙂🎉. It ends here, at last., 01:25' \
        [copy delete forward reply translate]
                  list item 'User 3, Message number 6, of a common length, 01:26' \
        [copy delete forward reply translate]
                  list item 'User 3, Message number 7, of a common length, 01:27' \
        [copy delete forward reply translate]
              alert 'RivuletView'
        """

    @Test(.timeLimit(.minutes(2)))
    func `every row's menu opens and works by keyboard`() async throws {
        let display = try await VirtualDisplay()
        let probe = try Program("rivulet-ui-probe", ["accessible"], environment: display.environment)
        try await probe.waitForLine(containing: "ready")
        let window = try await display.xdotool("search", "--sync", "--onlyvisible", "--name", "^probe$")
        try await display.xdotool("windowfocus", "--sync", String(window.split(separator: "\n").last ?? ""))
        try await display.xdotool("key", "Tab")
        for message in (0..<8).reversed() {
            // The last entry is the host's own; Up reaches it from the top.
            try await display.xdotool("key", "Menu")
            try await display.xdotool("key", "--delay", "60", "Up", "Return")
            try await probe.waitForLine(containing: "performed translate on \(message)")
            try await display.xdotool("key", "Up")
        }
        try probe.closeInput()
        #expect(try await probe.waitForExit(within: .seconds(20)) == 0)
        #expect(probe.lines.contains("warnings 0"), "\(probe.lines.suffix(6))")
    }
}
