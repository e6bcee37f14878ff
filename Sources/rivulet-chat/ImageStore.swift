import Foundation
import RivuletUI

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Fetches pictures and keeps the last ones; decoding happens off the main thread.
final class ImageStore: MessageImageLoader {
    /// How many decoded pictures are kept.
    static let countMax = 64
    /// The largest file that is fetched.
    nonisolated static let byteCountMax = 20 * 1_024 * 1_024

    /// The user's own files that may be read; an address in somebody's message never opens a file.
    private var ownFiles: Set<String> = []
    private var images: [String: PlatformImage] = [:]
    private var order: [String] = []

    /// Lets a file be shown that the user chose to send.
    func allow(_ file: URL) { ownFiles.insert(file.absoluteString) }

    func cachedImage(at address: String) -> PlatformImage? { images[address] }

    func image(at address: String, fitting size: CGSize) async -> PlatformImage? {
        if let known = images[address] { return known }
        if address.hasPrefix("file:"), !ownFiles.contains(address) { return nil }
        guard let found = await Self.load(address) else { return nil }
        if images[address] == nil {
            order.append(address)
            if order.count > Self.countMax { images[order.removeFirst()] = nil }
        }
        images[address] = found
        return found
    }

    @concurrent
    private nonisolated static func load(_ address: String) async -> PlatformImage? {
        if address.hasPrefix(SamplePicture.scheme) { return SamplePicture.draw(address) }
        if let data = InlinePicture.data(in: address) { return PlatformImage(encoded: data) }
        guard let url = URL(string: address) else { return nil }
        do {
            if url.isFileURL {
                let data = try Data(contentsOf: url, options: .mappedIfSafe)
                return data.count <= byteCountMax ? PlatformImage(encoded: data) : nil
            }
            guard url.scheme == "https" || url.scheme == "http" else { return nil }
            let (data, _) = try await URLSession.shared.data(from: url)
            return data.count <= byteCountMax ? PlatformImage(encoded: data) : nil
        } catch {
            // A picture that cannot be had stays a quiet ground; the row offers it again when it is shown anew.
            return nil
        }
    }
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
