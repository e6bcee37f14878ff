internal import COpenSSL

/// One TLS connection without a socket: sealed bytes go in and out, plain ones come out and go in.
///
/// ```swift
/// let session = try TLSSession(to: "im.example.org", context: context)
/// try session.advance()
/// socket.write(session.takeSealed())           // and again after every call below
/// let plain = try session.receive(sealed)      // as the socket brings it
/// try session.send(plain)                      // once `isEstablished`
/// ```
///
/// After a call has thrown, `takeSealed()` may hold an alert that tells the other side why; the session is over. Not
/// thread-safe.
@safe public final class TLSSession {
    private let raw: OpaquePointer
    private let context: TLSContext
    /// Under which name the session may be continued; nil for a server's.
    private let server: String?
    private var failure: TLSError?
    /// Whether both sides have agreed on keys and this side trusts the other: bytes may be sent.
    public private(set) var isEstablished = false
    /// Whether the other side has said that nothing more comes.
    public private(set) var isEnded = false

    /// The most plain bytes in one record.
    private static let recordBytesMax = 16_384

    /// Makes a client's side.
    ///
    /// - Parameters:
    ///   - host: The name or numeric address that the certificate must be for.
    ///   - port: Told apart from other ports when a session is to be continued.
    ///   - context: The rules.
    /// - Throws: ``TLSError`` with `wrongHost` for what cannot be the name of a server.
    public convenience init(to host: String, port: UInt16 = 0, context: TLSContext) throws(TLSError) {
        var name = host
        if name.hasSuffix(".") { name.removeLast() }
        guard !name.isEmpty, !name.utf8.contains(0) else {
            throw TLSError(.wrongHost, "a server without a name cannot be verified")
        }
        try self.init(context, server: "\(name):\(port)")
        guard unsafe tlskit_expect(raw, name) == 1 else {
            throw TLSError.last(.wrongHost, "'\(name)' cannot be the name of a server")
        }
        if let ticket = context.takeTicket(for: "\(name):\(port)") {
            // When it does not fit any more the library makes a new session.
            _ = unsafe SSL_set_session(raw, ticket.raw)
        }
        unsafe SSL_set_connect_state(raw)
    }

    /// Makes a server's side.
    public convenience init(accepting context: TLSContext) throws(TLSError) {
        try self.init(context, server: nil)
        unsafe SSL_set_accept_state(raw)
    }

    private init(_ context: TLSContext, server: String?) throws(TLSError) {
        guard let made = unsafe SSL_new(context.raw) else {
            throw TLSError.last(.library, "cannot set up TLS")
        }
        unsafe raw = made
        self.context = context
        self.server = server
        guard unsafe tlskit_use_memory(made) == 1 else {
            throw TLSError.last(.library, "cannot set up TLS")
        }
        // Not counted: the library's object ends with this one, so its callbacks never outlive it.
        unsafe tlskit_set_owner(made, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        // Otherwise the library forbids to continue the session of a connection that ended without ceremony.
        if failure == nil { unsafe SSL_set_shutdown(raw, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN) }
        unsafe SSL_free(raw)
    }

    /// Whether an earlier session was continued.
    public var wasResumed: Bool {
        unsafe tlskit_was_resumed(raw) == 1
    }

    /// The agreed version, such as `TLSv1.3`.
    public var version: String {
        unsafe SSL_get_version(raw).map { unsafe String(cString: $0) } ?? ""
    }

    /// Begins or goes on with agreeing on keys.
    public func advance() throws(TLSError) {
        if let failure { throw failure }
        guard !isEstablished else { return }
        ERR_clear_error()
        let result = unsafe SSL_do_handshake(raw)
        guard result != 1 else {
            try checkPin()
            isEstablished = true
            return
        }
        try check(result, "the TLS handshake failed")
    }

    /// Takes sealed bytes and answers the plain ones that they complete.
    public func receive(_ sealed: UnsafeRawBufferPointer) throws(TLSError) -> [UInt8] {
        if let failure { throw failure }
        var rest = unsafe sealed
        while let base = rest.baseAddress, unsafe !rest.isEmpty {
            let count = unsafe BIO_write(SSL_get_rbio(raw), base, Int32(clamping: rest.count))
            guard count > 0 else { throw fail(TLSError.last(.library, "out of memory")) }
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest[Int(count)...])
        }
        try advance()
        guard isEstablished else { return [] }
        return try readPlain()
    }

    /// Seals plain bytes; allowed once the session is established.
    public func send(_ plain: [UInt8]) throws(TLSError) {
        if let failure { throw failure }
        var sent = 0
        while sent < plain.count {
            ERR_clear_error()
            let result = unsafe plain.withUnsafeBytes { bytes in
                let rest = unsafe bytes[sent...].prefix(Self.recordBytesMax)
                return unsafe SSL_write(
                    raw, UnsafeRawBufferPointer(rebasing: rest).baseAddress, Int32(rest.count))
            }
            // A memory buffer takes everything, so a refusal is a failure and never a wait.
            guard result > 0 else { throw fail(TLSError.last(.library, "cannot send over TLS")) }
            sent += Int(result)
        }
    }

    /// Says that nothing more comes from this side.
    public func end() {
        guard isEstablished, failure == nil else { return }
        ERR_clear_error()
        _ = unsafe SSL_shutdown(raw)
        ERR_clear_error()
    }

    /// The sealed bytes that are to be sent, once.
    public func takeSealed() -> [UInt8] {
        let output = unsafe SSL_get_wbio(raw)
        let waiting = unsafe BIO_ctrl_pending(output)
        guard waiting > 0 else { return [] }
        return unsafe [UInt8](unsafeUninitializedCapacity: waiting) { buffer, count in
            // At most as many bytes as there is room for.
            count = max(0, Int(unsafe BIO_read(output, buffer.baseAddress, Int32(clamping: waiting))))
        }
    }

    private func readPlain() throws(TLSError) -> [UInt8] {
        var plain: [UInt8] = []
        var record = [UInt8](repeating: 0, count: Self.recordBytesMax)
        while !isEnded {
            ERR_clear_error()
            let result = unsafe record.withUnsafeMutableBytes { buffer in
                unsafe SSL_read(raw, buffer.baseAddress, Int32(buffer.count))
            }
            guard result > 0 else {
                try check(result, "the TLS connection broke")
                return plain
            }
            plain += record[..<Int(result)]
        }
        return plain
    }

    /// Returns when the library only waits for more bytes, or the other side has ended.
    private func check(_ result: Int32, _ what: String) throws(TLSError) {
        switch unsafe SSL_get_error(raw, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return
        case SSL_ERROR_ZERO_RETURN: isEnded = true
        default:
            let verified = unsafe SSL_get_verify_result(raw)
            throw fail(TLSError.last(.brokenProtocol, what, verifyResult: Int(verified)))
        }
    }

    private func checkPin() throws(TLSError) {
        guard !context.pins.isEmpty else { return }
        var digest = [UInt8](repeating: 0, count: 32)
        // The function writes 32 bytes.
        let isKnown = unsafe digest.withUnsafeMutableBufferPointer { buffer in
            unsafe tlskit_peer_key_digest(raw, buffer.baseAddress) == 1
        }
        guard isKnown, let pin = TLSPin(digest: digest), context.pins.contains(pin) else {
            throw fail(TLSError(.wrongPin, "the server's key is none of the pinned ones"))
        }
    }

    private func fail(_ error: TLSError) -> TLSError {
        failure = error
        return error
    }

    /// Keeps a session that the server offers to continue; 1 takes over the reference.
    static let onNewTicket: @convention(c) (OpaquePointer?, OpaquePointer?) -> Int32 = { ssl, ticket in
        guard let ssl = unsafe ssl, let ticket = unsafe ticket, let owner = unsafe tlskit_owner(ssl) else {
            return 0
        }
        // Called from inside a call to this very object.
        let session = unsafe Unmanaged<TLSSession>.fromOpaque(owner).takeUnretainedValue()
        guard let server = session.server else { return 0 }
        session.context.keep(unsafe TLSTicket(owning: ticket), for: server)
        return 1
    }
}
