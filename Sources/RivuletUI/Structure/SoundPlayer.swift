public import Foundation
public import RivuletModel

/// Fetches the bytes of sounds, off the main thread.
public protocol MessageSoundLoader: AnyObject {
    /// The bytes of the sound's file at an address; nil when it cannot be had.
    func sound(at address: String) async -> Data?
}

/// Plays voice messages, one at a time.
///
/// Each list of messages has one; when another one begins to play, it falls silent.
public final class SoundPlayer {
    /// How far a message's sound is.
    public enum Status: Hashable, Sendable {
        /// It is not played.
        case idle
        /// It is fetched.
        case loading
        /// It plays, and so much of it was heard, from 0 to 1.
        case playing(Double)
        /// It rests after so much of it.
        case paused(Double)
        /// It cannot be played.
        case failed
    }

    /// How long a sound may take until it can be played.
    static let patience = Duration.seconds(8)
    /// How often it is looked how far the sound is.
    private static let pause = Duration.milliseconds(50)
    /// The one that is heard.
    private static weak var heard: SoundPlayer?

    /// Where sounds come from.
    public weak var loader: (any MessageSoundLoader)?
    /// Hears that the status of a message is another.
    var onChange: ((MessageID) -> Void)?

    private var message: MessageID?
    private var sound: PlatformSound?
    private var state = Status.idle
    /// The messages whose sounds failed.
    private var failed: Set<MessageID> = []
    private var work: Task<Void, Never>?

    /// Makes a silent player.
    public init() {}

    isolated deinit { work?.cancel() }

    /// How far the sound of a message is.
    public func status(of id: MessageID) -> Status {
        id == message ? state : failed.contains(id) ? .failed : .idle
    }

    /// Whether the sound of a message is heard, or about to be.
    public func isActive(_ id: MessageID) -> Bool {
        switch status(of: id) {
        case .loading, .playing: true
        case .idle, .paused, .failed: false
        }
    }

    /// Plays the sound of a message, or stops it where it is.
    public func toggle(_ message: Message) {
        guard case .audio(let content) = message.content else { return }
        if message.id == self.message, case .playing(let progress) = state {
            work?.cancel()
            sound?.pause()
            return change(to: .paused(progress))
        }
        if message.id == self.message, case .loading = state { return stop() }
        if let other = Self.heard, other !== self { other.stop() }
        Self.heard = self
        if message.id == self.message, case .paused(let progress) = state, let sound {
            return play(sound, from: progress)
        }
        stop()
        failed.remove(message.id)
        self.message = message.id
        change(to: .loading)
        work = Task { [weak self, weak loader] in
            let data = await loader?.sound(at: content.url)
            guard let self, !Task.isCancelled, self.message == message.id else { return }
            guard let data, !data.isEmpty, let sound = PlatformSound(data) else { return self.fail() }
            self.sound = sound
            self.play(sound, from: 0)
        }
    }

    /// Falls silent and forgets how far it was.
    public func stop() {
        work?.cancel()
        sound?.pause()
        sound = nil
        guard message != nil else { return }
        change(to: .idle)
        message = nil
    }

    private func fail() {
        if let message { failed.insert(message) }
        sound = nil
        change(to: .failed)
    }

    private func change(to state: Status) {
        guard state != self.state else { return }
        self.state = state
        if let message { onChange?(message) }
    }

    /// Plays and follows the sound until its end.
    private func play(_ sound: PlatformSound, from progress: Double) {
        sound.play()
        change(to: sound.isPrepared ? .playing(progress) : .loading)
        let end = ContinuousClock.now + Self.patience
        work = Task { [weak self] in
            while !Task.isCancelled {
                guard let self, self.sound === sound else { return }
                if sound.isFailed || !sound.isPrepared && ContinuousClock.now > end { return self.fail() }
                if sound.isEnded { return self.stop() }
                if sound.isPrepared { self.change(to: .playing(sound.progress)) }
                do { try await Task.sleep(for: Self.pause) } catch { return }
            }
        }
    }
}
