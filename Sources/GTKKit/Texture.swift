internal import CGtk
package import Foundation

/// A picture in memory, immutable and therefore good on every thread.
package nonisolated final class Texture: @unchecked Sendable {
    // Invariant: a GdkTexture never changes after it was made, and its reference count is atomic (docs.gtk.org, GdkTexture).
    let pointer: OpaquePointer

    /// The width in pixels.
    package let width: Int
    /// The height in pixels.
    package let height: Int

    private init(_ pointer: OpaquePointer) {
        self.pointer = pointer
        width = Int(gdk_texture_get_width(pointer))
        height = Int(gdk_texture_get_height(pointer))
    }

    deinit {
        g_object_unref(UnsafeMutableRawPointer(pointer))
    }

    /// Decodes a PNG, JPEG or TIFF file's bytes; nil when they are none of these.
    package convenience init?(encoded data: Data) {
        let bytes = data.withUnsafeBytes { g_bytes_new($0.baseAddress, gsize($0.count)) }
        defer { g_bytes_unref(bytes) }
        var error: UnsafeMutablePointer<GError>?
        guard let pointer = gdk_texture_new_from_bytes(bytes, &error) else {
            if let error { g_error_free(error) }
            return nil
        }
        self.init(pointer)
    }

    /// Makes a picture of pixels: red, green, blue and opacity, a byte each, row by row.
    package convenience init?(pixels: [UInt8], width: Int, height: Int) {
        guard width > 0, height > 0, pixels.count == width * height * 4 else { return nil }
        let bytes = pixels.withUnsafeBytes { g_bytes_new($0.baseAddress, gsize($0.count)) }
        defer { g_bytes_unref(bytes) }
        guard
            let pointer = gdk_memory_texture_new(
                Int32(width), Int32(height), GDK_MEMORY_R8G8B8A8, bytes, gsize(width * 4))
        else { return nil }
        self.init(pointer)
    }
}
