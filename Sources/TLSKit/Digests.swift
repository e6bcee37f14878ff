internal import COpenSSL

/// The SHA-256 digest of some bytes, as OpenSSL computes it.
public struct SHA256Digest: Hashable, Sendable {
    /// The 32 bytes of the digest.
    public let bytes: [UInt8]

    /// Digests the bytes.
    public init(of input: [UInt8]) {
        bytes = unsafe input.withUnsafeBytes { input in
            unsafe [UInt8](unsafeUninitializedCapacity: 32) { output, count in
                // The function writes 32 bytes; it fails only without memory, and then nothing is promised.
                let isMade = unsafe tlskit_sha256(input.baseAddress, input.count, output.baseAddress)
                if isMade != 1 { unsafe output.initialize(repeating: 0) }
                count = 32
            }
        }
    }
}

/// A server's public key by its digest: the SHA-256 of its SubjectPublicKeyInfo.
///
/// A certificate renewed with the same key keeps its pin. With OpenSSL:
/// `openssl x509 -in cert.pem -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64`.
public struct TLSPin: Hashable, Sendable {
    /// The 32 bytes of the digest.
    public let digest: [UInt8]

    /// Makes a pin; nil when there are not 32 bytes.
    public init?(digest: [UInt8]) {
        guard digest.count == 32 else { return nil }
        self.digest = digest
    }

    /// Reads base64 or hexadecimal digits, with or without `sha256/` before them; nil for anything else.
    public init?(_ text: String) {
        var text = text[...]
        for prefix in ["sha256/", "sha256//"].reversed() where text.hasPrefix(prefix) {
            text = text.dropFirst(prefix.count)
            break
        }
        let digits = Array(text.utf8)
        guard let digest = digits.count == 64 ? Self.hexadecimal(digits) : Self.base64(digits) else {
            return nil
        }
        self.init(digest: digest)
    }

    private static func hexadecimal(_ digits: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count - 1, by: 2) {
            guard let pair = String(validating: digits[index...index + 1], as: UTF8.self),
                !pair.hasPrefix("+"), !pair.hasPrefix("-"), let byte = UInt8(pair, radix: 16)
            else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    private static func base64(_ digits: [UInt8]) -> [UInt8]? {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        guard digits.count == 44, digits.last == UInt8(ascii: "=") else { return nil }
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        for (index, digit) in digits.dropLast().enumerated() {
            guard let value = alphabet.firstIndex(of: digit) else { return nil }
            bits = bits << 6 | UInt32(value)
            if index % 4 != 0 { bytes.append(UInt8(truncatingIfNeeded: bits >> (6 - UInt32(index % 4) * 2))) }
        }
        return bytes
    }
}
