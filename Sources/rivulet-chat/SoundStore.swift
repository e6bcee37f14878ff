import Foundation
import RivuletUI

/// Fetches the sounds of voice messages; nothing is kept, since few are heard twice.
final class SoundStore: MessageSoundLoader {
    /// The largest file that is fetched.
    static let byteCountMax = 8 * 1_024 * 1_024

    func sound(at address: String) async -> Data? {
        if address.hasPrefix(SampleSound.scheme) { return await SampleSound.make(address) }
        // An address in somebody's message never opens a file of the user's.
        guard let url = URL(string: address), url.scheme == "https" || url.scheme == "http" else {
            return nil
        }
        return await BoundedDownload.data(from: url, byteCountMax: Self.byteCountMax)
    }
}

/// A short tune for the demonstration, made from the seconds in its address: `sample-sound:SECONDS`.
nonisolated enum SampleSound {
    static let scheme = "sample-sound:"
    private static let rate = 8_000
    private static let notes = [392.0, 440, 523.25, 587.33, 523.25, 440]

    /// A WAV file of one channel with 16 bits.
    @concurrent
    static func make(_ address: String) async -> Data {
        let seconds = min(60, max(1, Int(address.dropFirst(scheme.count)) ?? 1))
        let count = seconds * rate
        var data = Data("RIFF".utf8)
        func add(_ value: Int, bytes: Int) {
            for index in 0..<bytes { data.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
        }
        add(36 + count * 2, bytes: 4)
        data += Data("WAVEfmt ".utf8)
        // The size of this part, PCM, one channel, samples and bytes a second, bytes and bits a sample.
        for (value, bytes) in [(16, 4), (1, 2), (1, 2), (rate, 4), (rate * 2, 4), (2, 2), (16, 2)] {
            add(value, bytes: bytes)
        }
        data += Data("data".utf8)
        add(count * 2, bytes: 4)
        let noteLength = rate / 2
        for index in 0..<count {
            let place = Double(index % noteLength) / Double(noteLength)
            let turn = notes[index / noteLength % notes.count] * 2 * .pi * Double(index) / Double(rate)
            add(Int(5_000 * sin(turn) * min(1, place * 20) * (1 - place)), bytes: 2)
        }
        return data
    }
}
