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

    /// What a picture may have, told to the loader before it decodes.
    private struct Limits {
        var sideMax: Int32
        var pixelCountMax: Int
    }

    /// Decodes the bytes of a picture's file, upright; nil when they are none, or too many pixels.
    ///
    /// A larger one is made to fit while it is decoded. A file of a few bytes can claim to have any number of pixels,
    /// so the claim is looked at before there is memory for it.
    package convenience init?(encoded data: Data, sideMax: Int, pixelCountMax: Int) {
        guard let format = Self.format(of: data), let loader = gdk_pixbuf_loader_new_with_type(format, nil),
            let upright = Self.decode(
                data, loader, Limits(sideMax: Int32(clamping: sideMax), pixelCountMax: pixelCountMax))
        else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(upright)) }
        guard let pointer = gdk_texture_new_for_pixbuf(upright) else { return nil }
        self.init(pointer)
    }

    /// The format by a file's first bytes, among those that cameras, screens and phones make; nil for others.
    ///
    /// A system may have loaders for many more, drawings that are programs among them. A stranger reaches none of these.
    private static func format(of data: Data) -> String? {
        let formats: [(name: String, start: [UInt8])] = [
            ("png", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), ("jpeg", [0xFF, 0xD8, 0xFF]),
            ("gif", Array("GIF8".utf8)),
        ]
        if data.starts(with: "RIFF".utf8), data.dropFirst(8).starts(with: "WEBP".utf8) { return "webp" }
        return formats.first { data.starts(with: $0.start) }?.name
    }

    /// Decodes a file within limits, upright; the caller releases the picture, and nil is none.
    private static func decode(
        _ data: Data, _ loader: UnsafeMutablePointer<GdkPixbufLoader>, _ limits: Limits
    ) -> OpaquePointer? {
        defer { g_object_unref(UnsafeMutableRawPointer(loader)) }
        var limits = limits
        let isRead = withUnsafeMutablePointer(to: &limits) { limits in
            heed(limits, loader)
            let isWritten = data.withUnsafeBytes { bytes in
                gdk_pixbuf_loader_write(
                    loader, bytes.baseAddress?.assumingMemoryBound(to: guchar.self), gsize(bytes.count), nil)
            }
            // It must be closed in any case.
            return gdk_pixbuf_loader_close(loader, nil) != 0 && isWritten != 0
        }
        guard isRead, let pixels = gdk_pixbuf_loader_get_pixbuf(loader) else { return nil }
        return gdk_pixbuf_apply_embedded_orientation(pixels)
    }

    private static func heed(
        _ limits: UnsafeMutablePointer<Limits>, _ loader: UnsafeMutablePointer<GdkPixbufLoader>
    ) {
        let prepare: @convention(c) (UnsafeMutableRawPointer?, gint, gint, UnsafeMutableRawPointer?) -> Void =
            {
                loader, width, height, data in
                guard let loader = loader?.assumingMemoryBound(to: GdkPixbufLoader.self),
                    let limits = data?.assumingMemoryBound(to: Limits.self).pointee, width > 0, height > 0
                else { return }
                // A size of nothing makes the loader give up.
                guard Int(width) * Int(height) <= limits.pixelCountMax else {
                    return gdk_pixbuf_loader_set_size(loader, 0, 0)
                }
                let factor = Double(limits.sideMax) / Double(max(width, height))
                guard factor < 1 else { return }
                gdk_pixbuf_loader_set_size(
                    loader, max(1, gint(Double(width) * factor)), max(1, gint(Double(height) * factor)))
            }
        g_signal_connect_data(
            loader, "size-prepared", unsafeBitCast(prepare, to: GCallback.self), limits, nil,
            GConnectFlags(rawValue: 0))
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

    /// Makes a picture of pixels as Cairo draws them on machines that put the least byte first.
    convenience init?(premultipliedBGRA pixels: UnsafeRawBufferPointer, width: Int, height: Int, stride: Int)
    {
        guard width > 0, height > 0, stride >= width * 4, pixels.count == stride * height else { return nil }
        let bytes = g_bytes_new(pixels.baseAddress, gsize(pixels.count))
        defer { g_bytes_unref(bytes) }
        guard
            let pointer = gdk_memory_texture_new(
                Int32(width), Int32(height), GDK_MEMORY_B8G8R8A8_PREMULTIPLIED, bytes, gsize(stride))
        else { return nil }
        self.init(pointer)
    }

    /// A picture made small enough to travel, as the bytes of a JPEG.
    package struct Small: Sendable {
        package var data: Data
        package var width: Int
        package var height: Int
    }

    /// A user's own picture may have so many pixels, more than any camera's.
    private static let ownPixelCountMax = 300_000_000

    /// Makes a picture small: at most so many pixels along a side, and so many bytes; nil when that cannot be done.
    ///
    /// Nothing of the file but its pixels is kept, neither the place nor the time of a photograph. It may have any format
    /// that the system can read, since the user chose it.
    package static func shrink(_ data: Data, sides: [Int], byteCountMax: Int) -> Small? {
        guard let loader = gdk_pixbuf_loader_new(),
            let upright = decode(data, loader, Limits(sideMax: .max, pixelCountMax: Self.ownPixelCountMax))
        else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(upright)) }
        for side in sides {
            for quality in ["80", "60"] {
                if let small = write(upright, side: side, quality: quality), small.data.count <= byteCountMax
                {
                    return small
                }
            }
        }
        return nil
    }

    private static func write(_ pixels: OpaquePointer, side: Int, quality: String) -> Small? {
        let (width, height) = (
            Int(gdk_pixbuf_get_width(pixels)), Int(gdk_pixbuf_get_height(pixels))
        )
        let factor = min(1, Double(side) / Double(max(1, width, height)))
        let (wide, high) = (
            max(1, Int(Double(width) * factor)), max(1, Int(Double(height) * factor))
        )
        guard let scaled = gdk_pixbuf_scale_simple(pixels, Int32(wide), Int32(high), GDK_INTERP_BILINEAR)
        else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(scaled)) }
        var buffer: UnsafeMutablePointer<gchar>?
        var count: gsize = 0
        let isWritten = "quality".withCString { key in
            quality.withCString { value in
                var keys: [UnsafeMutablePointer<gchar>?] = [UnsafeMutablePointer(mutating: key), nil]
                var values: [UnsafeMutablePointer<gchar>?] = [UnsafeMutablePointer(mutating: value), nil]
                return gdk_pixbuf_save_to_bufferv(scaled, &buffer, &count, "jpeg", &keys, &values, nil)
            }
        }
        defer { g_free(buffer) }
        guard isWritten != 0, let buffer else { return nil }
        return Small(data: Data(bytes: buffer, count: Int(count)), width: wide, height: high)
    }
}
