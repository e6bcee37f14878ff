import Foundation
import RivuletTestSupport
import Testing

/// The interface on a real display, looked at from inside by `rivulet-ui-probe`.
@Suite(.serialized) struct ProbeTests {
    private func facts(_ check: String, environment: [String: String] = [:]) async throws -> [String] {
        let display = try await VirtualDisplay()
        let probe = try Program(
            "rivulet-ui-probe", [check], environment: display.environment.merging(environment) { $1 })
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
        // The same in a flow: three kinds of strategies, two widths, three text sizes.
        let flows = facts.filter { $0.hasPrefix("flow ") }
        #expect(flows.count == 18)
        #expect(flows.filter { !$0.hasPrefix("flow same") } == [])
        #expect(facts.contains("warnings 0"), "\(facts.suffix(6))")
    }

    @Test(.timeLimit(.minutes(2)))
    func
        `files, places, pages, cards, records, calls and voices have the room they are drawn in, whatever they say`()
        async throws
    {
        let facts = try await facts("cards")
        let wrong = facts.filter { $0.hasPrefix("differs") }
        #expect(wrong.isEmpty, "\(wrong.prefix(5).joined(separator: "\n"))")
        // 66 contents, 5 widths, 3 text sizes, 2 languages.
        #expect(facts.filter { $0.hasPrefix("same") }.count == 1_980)
        #expect(facts.contains("warnings 0"), "\(facts.suffix(6))")
    }

    @Test(.timeLimit(.minutes(2)))
    func `a voice message is played by its menu, or says that it cannot be`() async throws {
        let facts = try await facts("sound")
        for address in ["tone", "garbage", "nothing"] {
            #expect(facts.contains("\(address) offers play"), "\(facts)")
            #expect(facts.contains("\(address) active true"))
            #expect(
                facts.contains {
                    $0.hasPrefix("\(address) label ") && $0.contains("Voice message, 1 second,")
                })
            #expect(facts.contains { $0.hasPrefix("\(address) over true") }, "\(facts)")
        }
        for address in ["garbage", "nothing"] {
            #expect(facts.contains { $0.hasPrefix("\(address) over") && $0.hasSuffix("then failed") })
            #expect(
                facts.contains {
                    $0.hasPrefix("\(address) says") && $0.contains("This sound cannot be played here")
                }, "\(facts)")
        }
        #expect(facts.contains("warnings 0"), "\(facts.suffix(6))")
    }

    @Test(.timeLimit(.minutes(2)))
    func `no pixel moves under a reader who has scrolled up`() async throws {
        let facts = try await facts("still")
        let moved = facts.filter { $0.hasPrefix("moved") }
        #expect(moved.isEmpty, "\(moved.joined(separator: "\n"))")
        #expect(facts.filter { $0.hasPrefix("still") }.count == 9)
        #expect(facts.contains("reader kept true"))
        #expect(facts.contains("newest 589"), "the newer page did not come")
        #expect(facts.contains("warnings 0"), "\(facts.suffix(6))")
    }

    @Test(.timeLimit(.minutes(2)))
    func `sixty flows that were opened and left are gone`() async throws {
        let facts = try await facts("reopen")
        #expect(facts.contains("left 0 views, 0 flows of 60"), "\(facts)")
        #expect(facts.contains("warnings 0"), "\(facts.suffix(6))")
    }

    @Test(.timeLimit(.minutes(2)))
    func `whatever a hostile peer writes is shown without a warning, and so are views of nonsensical size`()
        async throws
    {
        let facts = try await facts("hostile")
        #expect(facts.filter { $0.hasPrefix("lost") || $0.hasSuffix("lost") } == [])
        #expect(facts.filter { $0.hasPrefix("shown") }.count == 46)
        #expect(facts.contains("odd sizes shown"))
        #expect(facts.contains("reshaped shown"))
        #expect(facts.contains("warnings 0"), "\(facts.suffix(6))")
    }

    @Test(.timeLimit(.minutes(2)))
    func `flings, jumps, resizes and another theme make GTK warn of nothing`() async throws {
        let facts = try await facts("resize")
        #expect(facts.contains("jumped true"), "\(facts.suffix(6))")
        #expect(facts.contains("latest true"))
        #expect(facts.contains("narrow 3 0"))
        #expect(facts.contains("warnings 0"), "\(facts.suffix(6))")
        // Two thousand messages, and no more cells than fit on the largest screen.
        let cells = facts.first { $0.hasPrefix("cells ") }.flatMap { Int($0.dropFirst(6)) } ?? 0
        #expect((1...60).contains(cells), "\(cells) cells")
    }

    /// The numbers of lines such as `contrast light text on window 15.31`.
    private func contrasts(_ facts: [String]) -> [(what: String, ratio: Double)] {
        facts.filter { $0.hasPrefix("contrast ") }.compactMap { line in
            guard let number = line.split(separator: " ").last.flatMap({ Double($0) }) else { return nil }
            return (line, number)
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `everything written stands out from its ground, light and dark`() async throws {
        let facts = try await facts("look")
        #expect(facts.contains("strong false"))
        let found = contrasts(facts)
        #expect(found.count == 22)
        // 4.5 is what WCAG 2.1 asks of text of common size.
        #expect(found.filter { $0.ratio < 4.5 }.map(\.what) == [])
    }

    @Test(.timeLimit(.minutes(2)))
    func `with the desktop's strong contrast quiet text and lines are strong, too`() async throws {
        let folder = try TemporaryFolder()
        let settings = folder.path(of: "gtk-4.0")
        try FileManager.default.createDirectory(atPath: settings, withIntermediateDirectories: true)
        try Data("[Settings]\ngtk-theme-name=HighContrast\n".utf8)
            .write(to: URL(filePath: settings + "/settings.ini"))
        let facts = try await facts("look", environment: ["XDG_CONFIG_HOME": folder.path])
        #expect(facts.contains("strong true"))
        let quiet = contrasts(facts).filter { $0.what.contains("quiet") }
        #expect(quiet.count == 6)
        #expect(quiet.filter { $0.ratio < 7 }.map(\.what) == [])
        let lines = facts.filter { $0.hasPrefix("line ") }.compactMap { line in
            line.split(separator: " ").last.flatMap { Double($0) }
        }
        #expect(lines.count == 2 && lines.allSatisfy { $0 >= 3 }, "\(lines)")
    }

    @Test(.timeLimit(.minutes(2)))
    func `an interface that reads from right to left is mirrored`() async throws {
        let facts = try await facts("direction")
        let own = facts.filter { $0.hasPrefix("bubble own") }
        let others = facts.filter { $0.hasPrefix("bubble other") }
        #expect(!own.isEmpty && own.allSatisfy { $0.hasSuffix("left") }, "\(facts)")
        #expect(!others.isEmpty && others.allSatisfy { $0.hasSuffix("right") }, "\(facts)")
        let avatars = facts.filter { $0.hasPrefix("avatar") }
        #expect(!avatars.isEmpty && avatars.allSatisfy { $0 == "avatar right" }, "\(facts)")
        #expect(facts.contains("arabic fits true"), "\(facts)")
        #expect(facts.contains("jump left"), "\(facts)")
        #expect(facts.contains("warnings 0"), "\(facts.suffix(6))")
    }

    @Test(.timeLimit(.minutes(2)))
    func `a bubble's text can be dragged out of its row`() async throws {
        let display = try await VirtualDisplay()
        let probe = try Program("rivulet-ui-probe", ["drag"], environment: display.environment)
        try await probe.waitForLine(containing: "ready")
        let line = probe.lines.first { $0.hasPrefix("bubble at") } ?? ""
        let numbers = line.split(separator: " ").compactMap { Int($0) }
        try #require(numbers.count == 4, "\(probe.lines)")
        let found = try await display.xdotool("search", "--sync", "--onlyvisible", "--name", "^probe$")
        let window = String(found.split(separator: "\n").last ?? "")
        // Beside the letters, where a drag does not select.
        let (x, y) = (numbers[0] + 5, numbers[1] + numbers[3] / 2)
        try await display.xdotool("mousemove", "--window", window, "\(x)", "\(y)")
        try await display.xdotool("mousedown", "1")
        for step in 1...8 {
            try await display.xdotool("mousemove", "--window", window, "\(x + 20 * step)", "\(y - 30 * step)")
        }
        try await display.xdotool("mouseup", "1")
        try await probe.waitForLine(containing: "dropped text Message number")
        try probe.closeInput()
        #expect(try await probe.waitForExit(within: .seconds(20)) == 0)
        #expect(probe.lines.contains("warnings 0"), "\(probe.lines.suffix(6))")
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
        application 'rivulet-ui-probe'
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
              alert 'New messages'
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
