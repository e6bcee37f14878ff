internal import COpenSSL

/// Why a TLS connection cannot be made or trusted.
public struct TLSError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of fault; an open set whose raw values are stable.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The stable name.
        public let rawValue: String

        /// Makes the code with this name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The certificate is not for the host that was asked for.
        public static let wrongHost = Code(rawValue: "TLS_WRONG_HOST")
        /// The certificate's time is over.
        public static let expired = Code(rawValue: "TLS_EXPIRED")
        /// The certificate's time has not begun.
        public static let notYetValid = Code(rawValue: "TLS_NOT_YET_VALID")
        /// Nobody who is trusted has signed the certificate.
        public static let unknownAuthority = Code(rawValue: "TLS_UNKNOWN_AUTHORITY")
        /// The certificate is not to be trusted for another reason.
        public static let badCertificate = Code(rawValue: "TLS_BAD_CERTIFICATE")
        /// The server's key is none of the pinned ones.
        public static let wrongPin = Code(rawValue: "TLS_WRONG_PIN")
        /// The other side does not speak TLS.
        public static let notTLS = Code(rawValue: "TLS_NOT_TLS")
        /// The sides have no version of TLS in common.
        public static let unsupportedVersion = Code(rawValue: "TLS_UNSUPPORTED_VERSION")
        /// The other side broke off with an alert.
        public static let refusedByPeer = Code(rawValue: "TLS_REFUSED_BY_PEER")
        /// The bytes break the rules of TLS, or were changed on their way.
        public static let brokenProtocol = Code(rawValue: "TLS_BROKEN_PROTOCOL")
        /// The connection ended without TLS's own end, so its last bytes may be missing.
        public static let truncated = Code(rawValue: "TLS_TRUNCATED")
        /// A file of certificates or keys cannot be read or used.
        public static let badFile = Code(rawValue: "TLS_BAD_FILE")
        /// The private key does not belong to the certificate.
        public static let keyMismatch = Code(rawValue: "TLS_KEY_MISMATCH")
        /// The library failed for a reason of its own.
        public static let library = Code(rawValue: "TLS_LIBRARY")
    }

    /// The kind of fault.
    public let code: Code
    /// What happened, for people.
    public let message: String

    /// Makes an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }

    /// Reads what went wrong from the library's queue of errors, and empties it.
    static func last(_ fallback: Code, _ what: String, verifyResult: Int? = nil) -> TLSError {
        let error = ERR_peek_error()
        let reason = tlskit_reason(error)
        let text = reasonText(error)
        ERR_clear_error()
        if reason == tlskit_reason_verify_failed, let verifyResult {
            return certificateError(verifyResult, what)
        }
        let code: Code =
            switch reason {
            case _ where error == 0: fallback
            case tlskit_reason_wrong_version, tlskit_reason_http: .notTLS
            case tlskit_reason_unsupported, tlskit_alert_version: .unsupportedVersion
            case let reason where reason > tlskit_alert_offset && reason < tlskit_alert_offset + 256:
                .refusedByPeer
            default: fallback
            }
        return TLSError(code, text.isEmpty ? what : "\(what): \(text)")
    }

    private static func reasonText(_ error: UInt) -> String {
        guard error != 0 else { return "" }
        if tlskit_is_system_error(error) != 0 {
            return unsafe strerror(tlskit_reason(error)).map { unsafe String(cString: $0) } ?? ""
        }
        return unsafe ERR_reason_error_string(error).map { unsafe String(cString: $0) } ?? "error \(error)"
    }

    private static func certificateError(_ result: Int, _ what: String) -> TLSError {
        let text = unsafe X509_verify_cert_error_string(result).map { unsafe String(cString: $0) } ?? ""
        let code: Code =
            switch Int32(clamping: result) {
            case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: .wrongHost
            case X509_V_ERR_CERT_HAS_EXPIRED: .expired
            case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
            case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
                X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
                X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
                .unknownAuthority
            default: .badCertificate
            }
        return TLSError(code, "\(what): \(text)")
    }
}
