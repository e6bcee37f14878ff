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
}
