import Foundation
import RivuletUI

/// Fetches pictures and keeps the last ones; decoding happens off the main thread.
final class ImageStore: MessageImageLoader {
    /// How many decoded pictures are kept.
    static let countMax = 64
    /// How many pixels they have together, of four bytes each.
    static let pixelCountMax = 32_000_000
    /// How many are fetched at once.
    static let loadCountMax = 4
    /// How many wait for that.
    static let waitingCountMax = 64
    /// The largest file that is fetched.
    nonisolated static let byteCountMax = 20 * 1_024 * 1_024

    /// The user's own files that may be read; an address in somebody's message never opens a file.
    private var ownFiles: Set<String> = []
    private var images: [String: PlatformImage] = [:]
    private var order: [String] = []
    private var pixelCount = 0
    /// Pictures on their way, so that two rows with one address wait for the same.
    private var underWay: [String: Task<PlatformImage?, Never>] = [:]
    private var loadCount = 0
    /// Those that wait for their turn, the newest last: it is the one that is looked at.
    private var waiting: [CheckedContinuation<Bool, Never>] = []

    /// Lets a file be shown that the user chose to send.
    func allow(_ file: URL) { ownFiles.insert(file.absoluteString) }

    func cachedImage(at address: String) -> PlatformImage? { images[address] }

    func image(at address: String, fitting size: CGSize) async -> PlatformImage? {
        if let known = images[address] { return known }
        if address.hasPrefix("file:"), !ownFiles.contains(address) { return nil }
        if let other = underWay[address] { return await other.value }
        let task = Task { [weak self] () -> PlatformImage? in
            guard let self, await self.waitForTurn() else { return nil }
            let found = await Self.load(address, sideMax: Int(2 * max(size.width, size.height)))
            self.giveTurn()
            return found
        }
        underWay[address] = task
        let found = await task.value
        underWay[address] = nil
        if let found { keep(found, at: address) }
        return found
    }

    private func keep(_ image: PlatformImage, at address: String) {
        guard images[address] == nil else { return }
        images[address] = image
        order.append(address)
        pixelCount += image.pixelCount
        while order.count > 1, order.count > Self.countMax || pixelCount > Self.pixelCountMax {
            pixelCount -= images.removeValue(forKey: order.removeFirst())?.pixelCount ?? 0
        }
    }

    /// Waits until few enough are being fetched; false for one that so many newer ones overtook.
    private func waitForTurn() async -> Bool {
        guard loadCount >= Self.loadCountMax else {
            loadCount += 1
            return true
        }
        if waiting.count >= Self.waitingCountMax { waiting.removeFirst().resume(returning: false) }
        return await withCheckedContinuation { waiting.append($0) }
    }

    private func giveTurn() {
        guard let next = waiting.popLast() else {
            loadCount -= 1
            return
        }
        next.resume(returning: true)
    }

    @concurrent
    private nonisolated static func load(_ address: String, sideMax: Int) async -> PlatformImage? {
        if address.hasPrefix(SamplePicture.scheme) { return SamplePicture.draw(address) }
        if let data = InlinePicture.data(in: address) {
            return PlatformImage(encoded: data, sideMax: sideMax)
        }
        guard let url = URL(string: address) else { return nil }
        if url.isFileURL {
            guard let data = try? Data(contentsOf: url, options: .mappedIfSafe), data.count <= byteCountMax
            else { return nil }
            return PlatformImage(encoded: data, sideMax: sideMax)
        }
        // A picture that cannot be had stays a quiet ground; the row offers it again when it is shown anew.
        guard url.scheme == "https" || url.scheme == "http",
            let data = await BoundedDownload.data(from: url, byteCountMax: byteCountMax)
        else { return nil }
        return PlatformImage(encoded: data, sideMax: sideMax)
    }
}

extension PlatformImage {
    fileprivate nonisolated var pixelCount: Int { Int(size.width * size.height) }
}

/// Landscapes for the demonstration, drawn from the numbers in their address: `sample:SEED`.
nonisolated enum SamplePicture {
    static let scheme = "sample:"
    static let width = 560
    static let height = 340

    static func draw(_ address: String) -> PlatformImage? {
        let seed = UInt64(address.dropFirst(scheme.count)) ?? 1
        let skies: [[(Double, Double, Double)]] = [
            [(246, 211, 101), (253, 160, 133), (143, 211, 244)],
            [(161, 196, 253), (194, 233, 251), (252, 228, 236)],
            [(48, 63, 122), (151, 95, 141), (247, 160, 114)],
            [(132, 196, 164), (196, 226, 204), (240, 244, 224)],
        ]
        let sky = skies[Int(seed % UInt64(skies.count))]
        var pixels = [UInt8](repeating: 255, count: width * height * 4)
        let phase = Double(seed % 17)
        for x in 0..<width {
            let u = Double(x) / Double(width)
            let ridge = 0.66 + 0.07 * sin(u * 7 + phase) + 0.03 * sin(u * 19 + phase * 2)
            let hills = 0.82 + 0.04 * sin(u * 5 + phase * 3) + 0.02 * sin(u * 23 + phase)
            for y in 0..<height {
                let v = Double(y) / Double(height)
                let t = min(1.999, (u * 0.6 + v) / 1.1)
                let from = sky[Int(t)]
                let to = sky[Int(t) + 1]
                let part = t - t.rounded(.down)
                var color = (
                    from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part,
                    from.2 + (to.2 - from.2) * part
                )
                if v > ridge { color = (color.0 * 0.62, color.1 * 0.66, color.2 * 0.78) }
                if v > hills { color = (color.0 * 0.6, color.1 * 0.68, color.2 * 0.66) }
                let index = (y * width + x) * 4
                pixels[index] = UInt8(max(0, min(255, color.0)))
                pixels[index + 1] = UInt8(max(0, min(255, color.1)))
                pixels[index + 2] = UInt8(max(0, min(255, color.2)))
            }
        }
        return PlatformImage(pixels: pixels, width: width, height: height)
    }
}
