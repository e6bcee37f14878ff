import Foundation
import RivuletTestSupport
import Testing

/// A session on a display, driven by pointer and keys, as `rivulet-ui-probe drive` tells of it.
///
/// Of its 60 messages number 57 (the 57th, counted from 1) is liked by two, and number 59 was not sent.
@Suite(.serialized) struct DriveTests {
    private let display: VirtualDisplay
    private let probe: Program
    private let window: String

    init() async throws {
        try await self.init([])
    }

    private init(_ arguments: [String], environment: [String: String] = [:]) async throws {
        display = try await VirtualDisplay()
        probe = try Program(
            "rivulet-ui-probe", ["drive"] + arguments,
            environment: display.environment.merging(environment) { $1 })
        try await probe.waitForLine(containing: "ready")
        let found = try await display.xdotool("search", "--sync", "--onlyvisible", "--name", "^drive$")
        window = String(found.split(separator: "\n").last ?? "")
        try await display.xdotool("windowfocus", "--sync", window)
        // The keyboard is in the field under the flow.
        try await point(300, 570)
        try await display.xdotool("click", "1")
        try await wait(["inside": "false"])
    }

    /// Says a wish and answers what it brought.
    @discardableResult
    private func ask(_ wish: String) async throws -> [String] {
        let before = probe.lines.count
        let count = probe.lines.count { $0 == "ok" }
        try probe.type(wish + "\n")
        try await probe.wait("to answer '\(wish)'") { output in
            output.split(separator: "\n").count { $0 == "ok" } > count
                && output.hasSuffix("\n")
        }
        return Array(probe.lines.dropFirst(before)).filter { $0 != "ok" }
    }

    private func state() async throws -> [String: String] {
        let line = try await ask("state").first { $0.hasPrefix("state ") } ?? ""
        var values: [String: String] = [:]
        for part in line.split(separator: " ") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if pair.count == 2 { values[String(pair[0])] = String(pair[1]) }
        }
        values["selected"] = line.components(separatedBy: "selected='").last.map { String($0.dropLast()) }
        return values
    }

    /// Waits until the state has these values.
    private func wait(_ wanted: [String: String]) async throws {
        let end = ContinuousClock.now.advanced(by: .seconds(10))
        var last: [String: String] = [:]
        while ContinuousClock.now < end {
            last = try await state()
            if wanted.allSatisfy({ last[$0.key] == $0.value }) { return }
        }
        throw Program.Failure(description: "waited for \(wanted), and it is \(last)")
    }

    private func place(_ id: Int, _ component: String) async throws -> (
        x: Int, y: Int, width: Int, height: Int
    ) {
        let line = try await ask("place \(id) \(component)").first { $0.hasPrefix("place ") } ?? ""
        let numbers = line.split(separator: " ").compactMap { Int($0) }
        guard numbers.count == 4 else { throw Program.Failure(description: "\(component) of \(id): \(line)") }
        return (numbers[0], numbers[1], numbers[2], numbers[3])
    }

    private func waitForPlace(of id: Int) async throws {
        let end = ContinuousClock.now.advanced(by: .seconds(10))
        while ContinuousClock.now < end {
            if try await ask("place \(id) content") != ["place none"] { return }
        }
        throw Program.Failure(description: "message \(id) does not come into view")
    }

    private func click(_ id: Int, _ component: String, button: Int = 1, times: Int = 1) async throws {
        let place = try await place(id, component)
        try await point(place.x + min(10, place.width / 2), place.y + place.height / 2)
        try await display.xdotool("click", "--repeat", "\(times)", "--delay", "40", "\(button)")
    }

    private func point(_ x: Int, _ y: Int) async throws {
        try await display.xdotool("mousemove", "--window", window, "\(x)", "\(y)")
    }

    private func end() async throws {
        try probe.closeInput()
        #expect(try await probe.waitForExit(within: .seconds(20)) == 0)
        #expect(probe.lines.contains("warnings 0"), "\(probe.lines.suffix(6))")
    }

    @Test(.timeLimit(.minutes(2)))
    func `gestures on every component reach the host, who may consume them`() async throws {
        _ = try await ask("scroll 0")
        try await click(57, "content")
        try await probe.waitForLine(containing: "event tap content 57")
        try await click(57, "footer")
        try await probe.waitForLine(containing: "event tap footer 57")
        try await probe.waitForLine(containing: "toggled 👍 57")
        try await click(59, "accessory")
        try await probe.waitForLine(containing: "event tap accessory 59")
        try await click(57, "content", button: 3)
        try await probe.waitForLine(containing: "event secondaryClick content 57")
        // Nobody consumed it, so the menu was asked for.
        try await probe.waitForLine(containing: "menu copy,reply,forward,delete 57")
        try await display.xdotool("key", "Escape")
        let run = try await firstOfRun()
        for component in ["avatar", "header"] {
            try await click(run, component)
            try await probe.waitForLine(containing: "event tap \(component) \(run)")
        }
        try await probe.waitForLine(containing: "reaction showSender \(run)")

        try await ask("consume on")
        let before = probe.lines.count
        for (component, message) in [("avatar", run), ("footer", 57), ("content", 57)] {
            try await click(message, component)
        }
        try await click(57, "content", button: 3)
        try await click(57, "content", times: 2)
        try await probe.wait("for the double click") { $0.contains("event doubleTap content 57") }
        let after = try await ask("settle") + probe.lines.dropFirst(before)
        #expect(after.contains("event secondaryClick content 57"))
        #expect(
            after.filter { $0.hasPrefix("menu") || $0.hasPrefix("toggled") || $0.hasPrefix("reaction") } == []
        )
        try await end()
    }

    /// A message of somebody else in view with avatar and name.
    private func firstOfRun() async throws -> Int {
        for id in (40...57).reversed() {
            let line = try await ask("place \(id) header").first { $0.hasPrefix("place ") } ?? ""
            let numbers = line.split(separator: " ").compactMap { Int($0) }
            if numbers.count == 4, numbers[1] > 10 { return id }
        }
        throw Program.Failure(description: "no name is in view")
    }

    @Test(.timeLimit(.minutes(2)))
    func `a host shows a menu of its own instead of the system's`() async throws {
        try await ask("menu on")
        try await click(57, "content", button: 3)
        try await probe.waitForLine(containing: "menu copy,reply,forward,delete 57")
        #expect(try await state()["menu"] == "false")
        try await ask("menu off")
        try await click(57, "content", button: 3)
        try await probe.wait("for the second menu") {
            $0.components(separatedBy: "menu copy,reply").count == 3
        }
        try await wait(["menu": "true"])
        try await display.xdotool("key", "--delay", "60", "Down", "Down", "Return")
        try await probe.waitForLine(containing: "performed forward 57")
        try await end()
    }

    @Test(.timeLimit(.minutes(2)))
    func `wheel, pages, space, home and end scroll, and the day is shown meanwhile`() async throws {
        let start = try await state()
        #expect(start["following"] == "true" && start["jump"] == "false" && start["day"] == "false")
        try await point(300, 200)
        try await display.xdotool("click", "--repeat", "3", "4")
        try await wait(["following": "false", "jump": "true", "day": "true"])
        try await ask("settle")
        let up = try await distance()
        #expect(up > 50)
        try await display.xdotool("click", "5")
        try await waitForDistance { $0 < up }
        // Keys need the keyboard: Tab leads into the list.
        try await display.xdotool("key", "Tab")
        try await ask("settle")
        let wheel = try await distance()
        try await display.xdotool("key", "Page_Up")
        try await waitForDistance { $0 >= wheel + 450 }
        let page = try await distance()
        try await display.xdotool("key", "space")
        try await waitForDistance { $0 <= page - 450 }
        try await display.xdotool("key", "Page_Up")
        try await waitForDistance { $0 >= page }
        try await display.xdotool("key", "Page_Down")
        try await waitForDistance { $0 < page }
        try await display.xdotool("key", "End")
        try await wait(["following": "true", "jump": "false"])
        try await display.xdotool("key", "Home")
        try await waitForDistance { $0 > 1_000 }
        // The first page had half of the messages; the rest came by itself.
        try await wait(["older": "atEnd", "pages": "2"])
        try await end()
    }

    /// How far the reader is from the bottom, which pages that come in above do not change.
    private func distance() async throws -> Int {
        let now = try await state()
        return (Int(now["end"] ?? "") ?? 0) - (Int(now["offset"] ?? "") ?? 0)
    }

    private func waitForDistance(_ isRight: (Int) -> Bool) async throws {
        let end = ContinuousClock.now.advanced(by: .seconds(10))
        var last = 0
        while ContinuousClock.now < end {
            last = try await distance()
            if isRight(last) { return }
        }
        throw Program.Failure(description: "the reader stays \(last) points from the bottom")
    }

    @Test(.timeLimit(.minutes(2)))
    func `a reader at the bottom follows, one further up sees the count on a button that leads down`()
        async throws
    {
        try await ask("arrive 3")
        try await wait(["messages": "63", "following": "true", "new": "0", "jump": "false"])
        try await ask("settle")
        let bottom = try await state()
        #expect(bottom["offset"] == bottom["end"])
        try await ask("scroll -400")
        try await wait(["jump": "true", "following": "false"])
        try await ask("settle")
        try await ask("mark")
        try await ask("arrive 7")
        try await wait(["new": "7", "following": "false"])
        #expect(try await ask("differ") == ["same pixels"])
        // The button floats in the corner.
        try await point(700 - 40, 540 - 34)
        try await display.xdotool("click", "1")
        try await wait(["new": "0", "following": "true", "jump": "false"])
        try await ask("settle")
        let end = try await state()
        #expect(end["offset"] == end["end"])
        try await self.end()
    }

    @Test(.timeLimit(.minutes(2)))
    func `a message that was jumped to is highlighted for a moment, also one that must be fetched`()
        async throws
    {
        try await ask("jump 12")
        try await wait(["following": "false", "jump": "true"])
        try await waitForPlace(of: 12)
        // It stands where it will stay, and the highlight has not begun to fade.
        try await ask("settle")
        try await ask("mark")
        let end = ContinuousClock.now.advanced(by: .seconds(10))
        var isOther = false
        while !isOther, ContinuousClock.now < end { isOther = try await ask("differ") == ["other pixels"] }
        #expect(isOther, "the highlight stays")
        try await self.end()
    }

    @Test(.timeLimit(.minutes(2)))
    func `text is selected with the pointer and copied; without a selection a row's text is`() async throws {
        let place = try await place(57, "content")
        // Over the word "Liked": two clicks select it.
        try await point(place.x + 20, place.y + 18)
        try await display.xdotool("click", "--repeat", "2", "--delay", "40", "1")
        try await wait(["selected": "Liked"])
        try await display.xdotool("key", "ctrl+c")
        try await paste("Liked")
        // A press beside it ends the selection, and a drag selects from letter to letter.
        try await point(place.x + 70, place.y + 18)
        try await display.xdotool("click", "1")
        try await wait(["selected": ""])
        try await point(place.x + 13, place.y + 18)
        try await display.xdotool("mousedown", "1")
        for step in 1...6 { try await point(place.x + 13 + 10 * step, place.y + 18) }
        try await display.xdotool("mouseup", "1")
        let end = ContinuousClock.now.advanced(by: .seconds(10))
        var selected = ""
        while selected.count < 6, ContinuousClock.now < end { selected = try await state()["selected"] ?? "" }
        #expect(selected.hasPrefix("Liked") && (6..<30).contains(selected.count), "\(selected)")
        try await display.xdotool("key", "ctrl+c")
        try await paste(selected)
        // The selection of another row ends this one.
        let other = try await self.place(60, "content")
        try await point(other.x + 20, other.y + 18)
        try await display.xdotool("click", "--repeat", "2", "--delay", "40", "1")
        try await wait(["selected": "Message"])
        try await self.end()
    }

    /// Pastes into the field, and looks at what is there; then the list has the keyboard again.
    private func paste(_ wanted: String) async throws {
        try await point(300, 570)
        try await display.xdotool("click", "1")
        try await display.xdotool("key", "--delay", "30", "ctrl+a", "ctrl+v")
        let end = ContinuousClock.now.advanced(by: .seconds(10))
        var found: [String] = []
        while ContinuousClock.now < end {
            found = try await ask("field")
            if found == ["field '\(wanted)'"] { return }
        }
        throw Program.Failure(description: "pasted \(found) instead of '\(wanted)'")
    }

    @Test(.timeLimit(.minutes(2)))
    func `several messages are chosen by pointer and keys`() async throws {
        try await ask("select 57")
        try await wait(["choice": "57"])
        try await click(60, "content")
        try await wait(["choice": "57,60"])
        // What was not sent cannot be chosen.
        try await click(59, "content")
        try await click(58, "content")
        try await wait(["choice": "57,58,60"])
        #expect(!probe.lines.contains { $0.hasPrefix("event tap") })
        try await display.xdotool("key", "Tab", "space")
        try await wait(["choice": "57,58"])
        try await display.xdotool("key", "--delay", "40", "Up", "Up", "Return")
        try await wait(["choice": "57"])
        try await display.xdotool("key", "Escape")
        try await wait(["choice": "off"])
        try await end()
    }

    @Test(.timeLimit(.minutes(2)))
    func `times are shown by a key for all rows and by the pointer for one`() async throws {
        try await point(5, 5)
        try await display.xdotool("key", "Tab")
        try await ask("settle")
        try await ask("mark")
        try await display.xdotool("key", "ctrl+t")
        try await wait(["times": "true"])
        #expect(try await ask("differ") == ["other pixels"])
        try await display.xdotool("key", "ctrl+t")
        try await wait(["times": "false"])
        #expect(try await ask("differ") == ["same pixels"])
        let place = try await place(57, "content")
        try await point(place.x + 4, place.y + 4)
        let end = ContinuousClock.now.advanced(by: .seconds(10))
        var isOther = false
        while !isOther, ContinuousClock.now < end { isOther = try await ask("differ") == ["other pixels"] }
        #expect(isOther, "no time beside the row under the pointer")
        try await self.end()
    }

    @Test(.timeLimit(.minutes(2)))
    func `tab stops once at the newest row, arrows go from row to row, and tab leaves`() async throws {
        try await display.xdotool("key", "Tab")
        try await wait(["focus": "60", "inside": "true"])
        try await display.xdotool("key", "--delay", "40", "Up", "Up")
        try await wait(["focus": "58"])
        try await display.xdotool("key", "Down")
        try await wait(["focus": "59"])
        try await display.xdotool("key", "Tab")
        try await wait(["inside": "false", "focus": "0"])
        try await display.xdotool("type", "hello")
        #expect(try await ask("field") == ["field 'hello'"])
        try await display.xdotool("key", "shift+Tab")
        try await wait(["inside": "true"])
        // Where the last row in view is passed, the list scrolls.
        try await display.xdotool("key", "--repeat", "40", "--delay", "10", "Up")
        try await wait(["following": "false", "inside": "true"])
        try await end()
    }

    @Test(.timeLimit(.minutes(2)))
    func `the session itself answers, copies, sends again and deletes`() async throws {
        try await click(57, "content", button: 3)
        try await wait(["menu": "true"])
        try await display.xdotool("key", "--delay", "60", "Down", "Return")
        try await wait(["reply": "memory-57"])
        try await click(59, "accessory")
        try await wait(["resends": "1"])
        try await click(57, "content", button: 3)
        try await wait(["menu": "true"])
        try await display.xdotool("key", "--delay", "60", "Up", "Return")
        try await wait(["messages": "59"])
        try await end()
    }

    @Test(.timeLimit(.minutes(2)))
    func `a conversation says that it is empty, and that it cannot be read, with a retry`() async throws {
        let empty = try await Self(["0"])
        try await empty.wait(["status": "true", "opening": "shown", "jump": "false"])
        try await empty.ask("arrive 1")
        try await empty.wait(["status": "false", "messages": "1"])
        try await empty.end()

        let broken = try await Self(["60", "broken"])
        try await broken.wait(["status": "true", "opening": "failed"])
        let pages = try await broken.state()["pages"] ?? ""
        try await broken.ask("broken off")
        // By keyboard: Tab leads to the button.
        try await broken.display.xdotool("key", "--delay", "60", "Tab", "Tab", "Return")
        try await broken.wait(["status": "false", "opening": "shown"])
        #expect(try await broken.state()["pages"] != pages)
        // An older page that fails is asked for again by a click on what stands in its place.
        try await broken.ask("broken on")
        try await broken.ask("top")
        try await broken.wait(["older": "failed", "offset": "0"])
        try await broken.ask("broken off")
        try await broken.point(350, 24)
        try await broken.display.xdotool("click", "1")
        try await broken.wait(["older": "atEnd"])
        try await broken.end()
        try await end()
    }

    @Test(.timeLimit(.minutes(2)))
    func `where the desktop wants no motion nothing glides`() async throws {
        let moving = try await ask("glide").first ?? ""
        #expect(Int(moving.split(separator: " ").dropFirst(2).first ?? "") ?? 0 > 0, "\(moving)")
        try await end()
        let folder = try TemporaryFolder()
        let settings = folder.path(of: "gtk-4.0")
        try FileManager.default.createDirectory(atPath: settings, withIntermediateDirectories: true)
        try Data("[Settings]\ngtk-enable-animations=false\n".utf8)
            .write(to: URL(filePath: settings + "/settings.ini"))
        let still = try await Self([], environment: ["XDG_CONFIG_HOME": folder.path])
        #expect(try await still.ask("glide") == ["glided over 0 places"])
        try await still.end()
    }
}
