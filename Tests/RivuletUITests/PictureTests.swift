import Foundation
import RivuletTestSupport
import RivuletUI
import Testing

@testable import rivulet_chat

/// Pictures that strangers send: how much of them is fetched and decoded.
@Suite(.serialized) struct PictureTests {
    /// A PNG file that says how large it is, and has nothing in it but a few bytes of its first lines.
    private static func png(width: UInt32, height: UInt32) -> Data {
        func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
            let named = Array(name.utf8) + body
            return bytes(UInt32(body.count)) + named + bytes(checksum(named))
        }
        func bytes(_ number: UInt32) -> [UInt8] {
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
        }
        func checksum(_ data: [UInt8]) -> UInt32 {
            var sum: UInt32 = 0xFFFF_FFFF
            for byte in data {
                sum ^= UInt32(byte)
                for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
            }
            return ~sum
        }
        let head = bytes(width) + bytes(height) + [8, 6, 0, 0, 0]
        return Data(
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", head)
                // An empty stream of zlib.
                + chunk("IDAT", [0x78, 0x9C, 0x03, 0, 0, 0, 0, 1]) + chunk("IEND", []))
    }

    @Test func `a file that claims to have billions of pixels is not decoded`() {
        #expect(PlatformImage(encoded: Self.png(width: 60_000, height: 60_000)) == nil)
        #expect(PlatformImage(encoded: Self.png(width: 2_000_000_000, height: 2_000_000_000)) == nil)
    }

    @Test(arguments: [Data(), Data([0x89]), Data("GIF89a".utf8), Data(repeating: 0xFF, count: 4_096)])
    func `what is no picture gives none`(data: Data) {
        #expect(PlatformImage(encoded: data) == nil)
    }

    @Test func `a picture is decoded no larger than it is shown`() throws {
        let pixels = try #require(
            PlatformImage(pixels: [UInt8](repeating: 200, count: 400 * 100 * 4), width: 400, height: 100))
        #expect(pixels.size.width == 400)
        let file = try #require(Self.photograph(width: 400, height: 100))
        let image = try #require(PlatformImage(encoded: file, sideMax: 80))
        #expect(image.size.width == 80)
        #expect(image.size.height == 20)
        let whole = try #require(PlatformImage(encoded: file))
        #expect(whole.size.width == 400)
    }

    @Test func `only what cameras, screens and phones make is decoded`() throws {
        let drawing = Data(
            "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><rect width='9' height='9'/></svg>"
                .utf8)
        #expect(PlatformImage(encoded: drawing) == nil)
        let bitmap = Self.bitmap(width: 40, height: 10)
        #expect(PlatformImage(encoded: bitmap) == nil)
        let file = try #require(Self.photograph(width: 400, height: 100))
        #expect(PlatformImage(encoded: file) != nil)
        // What is told by its first bytes and is nothing of the kind.
        for start in [
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], [0xFF, 0xD8, 0xFF], Array("GIF89a".utf8),
        ] {
            #expect(PlatformImage(encoded: Data(start) + drawing) == nil)
        }
        #expect(PlatformImage(encoded: Data("RIFF1234WEBP".utf8) + drawing) == nil)
    }

    @Test func `a file of the user's own is not decoded either when it claims to have billions of pixels`() {
        let file = Self.png(width: 60_000, height: 60_000)
        #expect(PlatformImage.shrink(file, sides: [100], byteCountMax: 100_000) == nil)
    }

    /// A JPEG, made of a bitmap as the desktop program makes one of what the user sends.
    private static func photograph(width: Int, height: Int) -> Data? {
        PlatformImage.shrink(
            bitmap(width: width, height: height), sides: [max(width, height)], byteCountMax: 1_000_000)?.data
    }

    /// A bitmap in the simplest format there is (PPM, binary).
    private static func bitmap(width: Int, height: Int) -> Data {
        Data("P6\n\(width) \(height)\n255\n".utf8) + Data(repeating: 120, count: width * height * 3)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a download ends when it is larger than allowed, missing, or not there`() async throws {
        let folder = try TemporaryFolder()
        try Data(repeating: 7, count: 1_000).write(to: URL(filePath: folder.path(of: "small")))
        try Data(repeating: 7, count: 400_000).write(to: URL(filePath: folder.path(of: "large")))
        let server = try Program(
            "/usr/bin/python3",
            ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder.path])
        try await server.waitForLine(containing: "(http:")
        let words = server.lines.first { $0.contains("(http:") }?.split(separator: " ") ?? []
        let port = try #require(words.firstIndex(of: "port").flatMap { Int(words[$0 + 1]) })
        func fetch(_ name: String) async throws -> Data? {
            let url = try #require(URL(string: "http://127.0.0.1:\(port)/\(name)"))
            return await BoundedDownload.data(from: url, byteCountMax: 10_000)
        }
        #expect(try await fetch("small")?.count == 1_000)
        #expect(try await fetch("large") == nil)
        #expect(try await fetch("missing") == nil)
        server.signal(SIGTERM)
        try await server.waitForExit()
        #expect(try await fetch("small") == nil)
    }
}
