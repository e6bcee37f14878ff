public import Foundation
internal import GTKKit

/// A sound that can be played; where the system cannot, it says so.
public final class PlatformSound {
    private let sound: MediaSound

    /// Makes a sound of the bytes of a file, such as Ogg, MP3 or WAV; nil when that is not possible.
    public init?(_ data: Data) {
        guard let sound = MediaSound(data) else { return nil }
        self.sound = sound
    }

    /// Whether it can be played now.
    public var isPrepared: Bool { sound.isPrepared }
    /// Whether it was played to its end.
    public var isEnded: Bool { sound.isEnded }
    /// Whether it cannot be played here.
    public var isFailed: Bool { sound.isFailed }
    /// How much of it was played, from 0 to 1.
    public var progress: Double {
        sound.durationSeconds > 0 ? min(1, max(0, sound.seconds / sound.durationSeconds)) : 0
    }

    /// Plays on from where it is.
    public func play() { sound.play() }
    /// Stops where it is.
    public func pause() { sound.pause() }
}
