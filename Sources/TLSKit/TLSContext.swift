internal import COpenSSL
internal import Synchronization

/// What a client demands of servers.
///
/// The host's name is always verified; there is no option to leave that out.
public struct TLSClientOptions: Hashable, Sendable {
    /// A PEM file with the authorities to trust instead of the system's; nil for the system's.
    public var authorityFile: String?
    /// The keys of which the server must have one, whatever its certificate says; empty for any.
    public var pins: Set<TLSPin>
    /// Whether a second connection to a server may continue the first one's session, which saves a round trip.
    public var resumesSessions: Bool

    /// Makes the options; by default those of a browser.
    public init(authorityFile: String? = nil, pins: Set<TLSPin> = [], resumesSessions: Bool = true) {
        self.authorityFile = authorityFile
        self.pins = pins
        self.resumesSessions = resumesSessions
    }
}

/// What many TLS connections have in common: rules, keys, and the sessions that may be continued.
///
/// TLS 1.2 is the least that is spoken.
@safe public final class TLSContext: @unchecked Sendable {
    // Invariant: `raw` is set up in `init` and not changed afterwards; the library allows making connections from it on any
    // thread. The rest is `Sendable` by itself.
    let raw: OpaquePointer
    /// The keys of which a server must have one.
    let pins: Set<TLSPin>
    let isServer: Bool
    private let tickets = Mutex<[String: TLSTicket]>([:])

    private static let ticketsMax = 256

    /// Makes a client's context.
    ///
    /// - Throws: ``TLSError`` with `badFile` when the authorities cannot be read.
    public init(client options: TLSClientOptions) throws(TLSError) {
        guard let context = unsafe tlskit_context(0) else {
            throw TLSError.last(.library, "cannot set up TLS")
        }
        unsafe raw = context
        pins = options.pins
        isServer = false
        unsafe tlskit_verify_peer(context)
        if let file = options.authorityFile {
            guard unsafe SSL_CTX_load_verify_file(context, file) == 1 else {
                throw Self.fileError("cannot use the authorities in \(file)")
            }
        } else if unsafe SSL_CTX_set_default_verify_paths(context) != 1 {
            throw TLSError.last(.library, "cannot find the system's authorities")
        }
        if options.resumesSessions {
            unsafe tlskit_keep_sessions(context, TLSSession.onNewTicket)
        }
    }

    /// Makes a server's context.
    ///
    /// - Parameters:
    ///   - certificateFile: A PEM file with the certificate and, after it, those of its signers.
    ///   - keyFile: A PEM file with the private key, without a passphrase.
    /// - Throws: ``TLSError`` with `badFile` or `keyMismatch`.
    public init(certificateFile: String, keyFile: String) throws(TLSError) {
        guard let context = unsafe tlskit_context(1) else {
            throw TLSError.last(.library, "cannot set up TLS")
        }
        unsafe raw = context
        pins = []
        isServer = true
        guard unsafe SSL_CTX_use_certificate_chain_file(context, certificateFile) == 1 else {
            throw Self.fileError("cannot use the certificate in \(certificateFile)")
        }
        // The library compares the key with the certificate as soon as it reads it.
        guard unsafe SSL_CTX_use_PrivateKey_file(context, keyFile, SSL_FILETYPE_PEM) == 1 else {
            let reason = tlskit_reason(ERR_peek_last_error())
            guard reason == X509_R_KEY_VALUES_MISMATCH || reason == X509_R_KEY_TYPE_MISMATCH else {
                throw Self.fileError("cannot use the private key in \(keyFile)")
            }
            ERR_clear_error()
            throw TLSError(
                .keyMismatch,
                "the private key in \(keyFile) does not belong to the certificate in \(certificateFile)")
        }
        guard unsafe tlskit_allow_resumption(context) == 1 else {
            throw TLSError.last(.library, "cannot set up TLS")
        }
    }

    deinit {
        unsafe SSL_CTX_free(raw)
    }

    private static func fileError(_ what: String) -> TLSError {
        let error = TLSError.last(.badFile, what)
        return TLSError(.badFile, error.message)
    }

    /// How many sessions could be continued.
    public var ticketCount: Int {
        tickets.withLock { $0.count }
    }

    func keep(_ ticket: TLSTicket, for server: String) {
        tickets.withLock { tickets in
            if tickets.count >= Self.ticketsMax, tickets[server] == nil, let some = tickets.keys.first {
                tickets[some] = nil
            }
            tickets[server] = ticket
        }
    }

    /// The newest session with a server; it is handed out once, since one used twice lets others link the connections.
    func takeTicket(for server: String) -> TLSTicket? {
        tickets.withLock { $0.removeValue(forKey: server) }
    }
}

/// A session of an earlier connection.
@safe final class TLSTicket: @unchecked Sendable {
    // Invariant: the library counts references to sessions atomically, and nobody changes one.
    let raw: OpaquePointer

    /// Takes over a reference.
    init(owning raw: OpaquePointer) {
        unsafe self.raw = raw
    }

    deinit {
        unsafe SSL_SESSION_free(raw)
    }
}
