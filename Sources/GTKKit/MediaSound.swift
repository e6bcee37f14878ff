internal import CGtk
package import Foundation

/// A sound in memory, played by GTK's media backend where there is one.
///
/// Without a backend, a codec or a device it says that it failed, and nothing is heard.
package final class MediaSound {
    /// A `GtkMediaFile`, owned by this object.
    private let stream: UnsafeMutablePointer<GtkMediaStream>

    /// Where the bytes are: a file in memory, since GTK 4.8 aborts the program when its backend is given a stream.
    private let descriptor: Int32

    /// Makes a sound of a file's bytes; nil when there is no memory for it.
    package init?(_ data: Data) {
        let descriptor = rivulet_memory_file()
        guard descriptor >= 0 else { return nil }
        guard Self.write(data, to: descriptor),
            let file = g_file_new_for_path("/proc/self/fd/\(descriptor)")
        else {
            close(descriptor)
            return nil
        }
        defer { g_object_unref(UnsafeMutableRawPointer(file)) }
        guard let stream = gtk_media_file_new_for_file(file) else {
            close(descriptor)
            return nil
        }
        self.stream = stream
        self.descriptor = descriptor
    }

    isolated deinit {
        gtk_media_stream_pause(stream)
        g_object_unref(UnsafeMutableRawPointer(stream))
        close(descriptor)
    }

    private static func write(_ data: Data, to descriptor: Int32) -> Bool {
        data.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = Foundation.write(
                    descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
                guard count > 0 else { return false }
                done += count
            }
            return true
        }
    }

    /// Whether it is known how long it is, so that it can be played.
    package var isPrepared: Bool { gtk_media_stream_is_prepared(stream) != 0 }
    /// Whether it was played to its end.
    package var isEnded: Bool { gtk_media_stream_get_ended(stream) != 0 }
    /// Whether it cannot be played.
    package var isFailed: Bool { gtk_media_stream_get_error(stream) != nil }
    /// Where it is, in seconds.
    package var seconds: Double { Double(gtk_media_stream_get_timestamp(stream)) / 1_000_000 }
    /// How long it is, in seconds; 0 when unknown.
    package var durationSeconds: Double { Double(gtk_media_stream_get_duration(stream)) / 1_000_000 }

    /// Plays on from where it is.
    package func play() { gtk_media_stream_play(stream) }
    /// Stops where it is.
    package func pause() { gtk_media_stream_pause(stream) }
}
