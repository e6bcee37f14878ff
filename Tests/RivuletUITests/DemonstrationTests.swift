import Foundation
import RivuletTestSupport
import Testing

/// The demonstration as somebody uses it: a window on a display of the test's own, keys and clicks.
@Suite(.serialized) struct DemonstrationTests {
    private let display: VirtualDisplay
    private let folder: TemporaryFolder

    init() async throws {
        display = try await VirtualDisplay()
        folder = try TemporaryFolder()
    }

    private func start(_ arguments: [String] = []) async throws -> (Program, window: String) {
        let program = try Program(
            "rivulet-chat", ["--demo", "--strict", "--theme", "light"] + arguments,
            environment: display.environment.merging([
                "XDG_DATA_HOME": folder.path, "XDG_CONFIG_HOME": folder.path, "TMPDIR": folder.path,
            ]) { $1 })
        return (program, try await window("周末爬山"))
    }

    private func window(_ name: String) async throws -> String {
        let found = try await display.xdotool("search", "--sync", "--onlyvisible", "--name", "^\(name)$")
        let id = String(found.split(separator: "\n").last ?? "")
        try await display.xdotool("windowfocus", "--sync", id)
        return id
    }

    @Test(.timeLimit(.minutes(2)))
    func `a picture is chosen in the desktop's dialog, whatever its name, and GTK warns of nothing`()
        async throws
    {
        let (program, window) = try await start(["--size", "900x600"])
        let picture = folder.path(of: "a & <b>.ppm")
        try (Data("P6\n40 30\n255\n".utf8) + Data(repeating: 90, count: 40 * 30 * 3))
            .write(to: URL(filePath: picture))
        try await display.xdotool("mousemove", "--window", window, "352", "568", "click", "1")
        _ = try await self.window("Send a Picture")
        try await display.xdotool("type", "--delay", "20", picture)
        try await display.xdotool("key", "--delay", "200", "Return")
        let list = folder.path(of: "recently-used.xbel")
        let end = ContinuousClock.now.advanced(by: .seconds(30))
        while !FileManager.default.fileExists(atPath: list), ContinuousClock.now < end {
            try await display.xdotool("getmouselocation")
        }
        program.signal(SIGTERM)
        // Status 3 would say that GTK warned of something.
        #expect(try await program.waitForExit(within: .seconds(20)) == 0, "\(program.output.suffix(600))")
        let recent = try String(contentsOfFile: list, encoding: .utf8)
        #expect(recent.contains("exec=\"&apos;rivulet-chat %u&apos;\""), "\(recent)")
    }

    /// Types a chord, a text and more keys, one after the other.
    private func press(_ chord: String, _ text: String, _ keys: String...) async throws {
        try await display.xdotool("key", chord)
        if !text.isEmpty { try await display.xdotool("type", "--delay", "20", text) }
        for key in keys { try await display.xdotool("key", "--delay", "120", key) }
    }

    @Test(.timeLimit(.minutes(2)))
    func `conversations are found, begun, entered and deleted by keyboard alone`() async throws {
        let (program, _) = try await start(["--size", "900x600"])
        // By name, then by what was said in it; the title of the window tells where one is.
        try await press("ctrl+k", "release")
        try await pressUntil("Release crew", "Return")
        try await press("ctrl+k", "spare rope")
        // Found messages come after a pause; Return opens the first there is.
        try await pressUntil("周末爬山", "Return")
        // A number leads to any user, a name to a room.
        try await press("ctrl+n", "4711")
        try await pressUntil("User 4711", "Return")
        try await press("ctrl+n", "night")
        try await pressUntil("Live room: Night Radio", "Down", "Return")
        // The last entry of a row's menu deletes it, after the last entry of another menu was chosen, too.
        try await press("ctrl+k", "release")
        try await pressUntil("Release crew", "Return")
        try await press("ctrl+k", "release", "Down")
        try await pressUntil("Rivulet", "Menu", "Up", "Return", "Up", "Return")
        program.signal(SIGTERM)
        #expect(try await program.waitForExit(within: .seconds(20)) == 0, "\(program.output.suffix(600))")
    }

    /// Presses keys again and again until the window has another name.
    private func pressUntil(_ name: String, _ keys: String...) async throws {
        let end = ContinuousClock.now.advanced(by: .seconds(20))
        while ContinuousClock.now < end {
            for key in keys { try await display.xdotool("key", "--delay", "200", key) }
            let found = try await display.xdotool("search", "--onlyvisible", "--name", "^\(name)$")
            if !found.isEmpty { return }
        }
        Issue.record("no window is called \(name)")
    }

    @Test(.timeLimit(.minutes(2)))
    func `in a narrow window the keys bring the list of conversations on the screen first`() async throws {
        let (program, _) = try await start(["--size", "400x600"])
        for (words, name) in [("release", "Release crew"), ("night", "Live room: Night Radio")] {
            var found = ""
            for _ in 0..<10 where found.isEmpty {
                try await press("ctrl+k", "")
                // The list takes the place of the conversation, which takes some frames.
                try await display.xdotool("type", "--delay", "80", words)
                try await display.xdotool("key", "--delay", "200", "Return")
                found = try await display.xdotool("search", "--onlyvisible", "--name", "^\(name)$")
            }
            #expect(!found.isEmpty, "no window is called \(name)")
        }
        try await chooseUntil(#""look" : "dark""#, ["Down", "Down", "Return"])
        program.signal(SIGTERM)
        #expect(try await program.waitForExit(within: .seconds(20)) == 0, "\(program.output.suffix(600))")
    }

    @Test(.timeLimit(.minutes(2)))
    func `what is chosen in the menus is kept in a file, and Quit ends the program`() async throws {
        let (program, _) = try await start(["--size", "900x600"])
        // Dark, the third entry; then the text size, in a menu of its own.
        try await chooseUntil(#""look" : "dark""#, ["Down", "Down", "Return"])
        try await chooseUntil(#""textPercent" : 200"#, ["Up", "Up", "Up", "Up", "Return"], ["Up", "Return"])
        for _ in 0..<6 {
            try await choose(["Up", "Return"])
            if try await hasEnded(program) { break }
        }
        #expect(try await program.waitForExit(within: .seconds(20)) == 0, "\(program.output.suffix(600))")
    }

    /// Opens the program's menu and presses keys in it, and in those that follow it.
    private func choose(_ menus: [String]...) async throws {
        try await choose(menus)
    }

    private func choose(_ menus: [[String]]) async throws {
        try await display.xdotool("key", "ctrl+comma")
        for keys in menus {
            for key in keys { try await display.xdotool("key", "--delay", "150", key) }
        }
    }

    private func hasEnded(_ program: Program) async throws -> Bool {
        do {
            try await program.waitForExit(within: .seconds(3))
            return true
        } catch {
            return false
        }
    }

    /// Makes a choice in the menu until the demonstration's settings have a line: a key that comes while a menu opens or
    /// closes is lost.
    private func chooseUntil(_ line: String, _ menus: [String]...) async throws {
        for _ in 0..<6 {
            try await choose(menus)
            let end = ContinuousClock.now.advanced(by: .seconds(3))
            while ContinuousClock.now < end {
                if try hasSetting(line) { return }
                try await display.xdotool("getmouselocation")
            }
        }
        Issue.record("the settings never had \(line)")
    }

    private func hasSetting(_ line: String) throws -> Bool {
        let folders = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return folders.contains { name in
            let data =
                FileManager.default.contents(atPath: folder.path(of: name) + "/settings.json") ?? Data()
            return name.hasPrefix("rivulet-chat-demo-")
                && String(decoding: data, as: UTF8.self).contains(line)
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `assistive technology finds conversations by one name each, and mutes one`() async throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "accessible-chat.py")
        let client = try Program(
            "/usr/bin/dbus-run-session",
            ["--", "/usr/bin/python3", script.path, Program.folder.appending(path: "rivulet-chat").path],
            environment: display.environment.merging([
                "GTK_A11Y": "atspi", "XDG_DATA_HOME": folder.path, "XDG_CONFIG_HOME": folder.path,
                "TMPDIR": folder.path,
            ]) { $1 })
        let status = try await client.waitForExit(within: .seconds(60))
        #expect(status == 0, "\(client.output.suffix(800))")
        let rows = client.lines.filter { $0.hasPrefix("row ") }
        // Whether the first one, which is open, is read already is a matter of time.
        #expect(
            rows.map {
                $0.replacingOccurrences(
                    of: "conversation.read conversation.unpin", with: "conversation.unpin")
            }
                == [
                    "row 周末爬山 conversation.delete conversation.mute conversation.unpin",
                    "row Live room: Night Radio conversation.leave conversation.pin conversation.unmute",
                    "row 云朵客服 conversation.delete conversation.mute conversation.pin conversation.read",
                ], "\(client.output.suffix(800))")
        #expect(client.lines.filter { $0.hasPrefix("button ") }.count == 4)
        #expect(client.lines.contains("muted True") && client.lines.contains("read True"))
    }
}
