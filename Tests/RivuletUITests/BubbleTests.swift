import Foundation
import RivuletFlow
import RivuletModel
import Testing

@testable import RivuletUI
@testable import rivulet_chat

@Suite struct BubbleTests {
    @Test(arguments: [
        (0, "0:00"), (14, "0:14"), (75, "1:15"), (3_600, "1:00:00"), (-9, "0:00"), (.max, "99:59:59"),
        (.min, "0:00"),
    ])
    func `a length is written as a clock shows it, whatever a message claims`(seconds: Int, words: String) {
        #expect(AudioMeasures.clock(seconds) == words)
    }

    @Test(
        arguments: [
            (-1, nil), (0, nil), (1, "1 byte"), (999, "999 bytes"), (1_000, "1.0 kB"), (1_234_567, "1.2 MB"),
            (999_999, "1.0 MB"), (45_000_000, "45 MB"), (.max, "9.2 EB"),
        ] as [(Int, String?)])
    func `a size is written for people`(bytes: Int, words: String?) {
        #expect(CardFace.size(bytes, .english) == words)
    }

    @Test func `a stranger's words stay on one line and turn nothing around`() {
        #expect(CardFace.line("a\nb\u{2028}c", else: "x") == "a b c")
        #expect(CardFace.line("\u{202E}gpj.exe\u{2066}", else: "x") == "gpj.exe")
        #expect(CardFace.line(" \u{200F}\n\t", else: "nothing") == "nothing")
        #expect(
            CardFace.line(String(repeating: "é", count: 5_000), else: "x").count == CardFace.characterCountMax
        )
    }

    @Test func `a place that is none on earth has no degrees`() {
        #expect(CardFace.degrees(LocationContent(latitude: .nan, longitude: 0)) == "")
        #expect(CardFace.degrees(LocationContent(latitude: 0, longitude: .infinity)) == "")
        #expect(
            CardFace.degrees(LocationContent(latitude: -33.8568, longitude: 151.2153))
                == "33.8568° S, 151.2153° E")
    }

    @Test func `the bars of a message are always the same, and those of another are others`() {
        #expect(AudioMeasures.bars(for: "a") == AudioMeasures.bars(for: "a"))
        #expect(AudioMeasures.bars(for: "a") != AudioMeasures.bars(for: "b"))
        #expect(AudioMeasures.bars(for: "").allSatisfy { (0...1).contains($0) })
    }

    @Test func `the demonstration's sound is as long as its file says`() async {
        let data = await SampleSound.make("sample-sound:2")
        #expect(data.count == 44 + 2 * 8_000 * 2)
        #expect(data.prefix(4) == Data("RIFF".utf8))
        #expect(await SampleSound.make("sample-sound:-7").count == 44 + 16_000)
    }

    @MainActor
    @Test func `an address in somebody's message opens no file`() async throws {
        let folder = try FileManager.default.url(
            for: .itemReplacementDirectory, in: .userDomainMask, appropriateFor: URL(filePath: "/tmp"),
            create: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "secret.wav")
        try Data("RIFF".utf8).write(to: file)
        #expect(await SoundStore().sound(at: file.absoluteString) == nil)
        #expect(await SoundStore().sound(at: file.path) == nil)
    }
}
