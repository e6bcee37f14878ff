import Synchronization
import TLSKit

/// The certificate with which the server answers over TLS; it may be read anew while connections go on.
final class ServerCertificate: Sendable {
    private let files: TLSFiles
    private let context: Mutex<TLSContext>

    /// Reads the files.
    ///
    /// - Throws: ``ServerError`` with `badConfiguration`.
    init(_ files: TLSFiles) throws {
        self.files = files
        context = Mutex(try Self.read(files))
    }

    /// What a new connection begins with.
    var current: TLSContext {
        context.withLock { $0 }
    }

    /// Reads the files again; those already connected keep what they began with.
    ///
    /// - Throws: ``ServerError`` with `badConfiguration`; then new connections get the old certificate.
    func reload() throws {
        let made = try Self.read(files)
        context.withLock { $0 = made }
    }

    private static func read(_ files: TLSFiles) throws -> TLSContext {
        do {
            return try TLSContext(certificateFile: files.certificate, keyFile: files.key)
        } catch {
            throw ServerError(.badConfiguration, "\(error)", underlying: error)
        }
    }
}
