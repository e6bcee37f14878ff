import Foundation

/// Makes an authority and certificates for one test, with the program `openssl`.
public struct CertificateMaker: Sendable {
    /// A certificate and its key.
    public struct Certificate: Sendable, Hashable {
        /// The PEM file of the certificate.
        public let certificateFile: String
        /// The PEM file of the key.
        public let keyFile: String
    }

    /// Why `openssl` did not do it.
    public struct Failure: Error, CustomStringConvertible {
        /// What it printed.
        public let description: String
    }

    private let folder: TemporaryFolder

    /// Makes an authority of its own.
    ///
    /// - Throws: ``Failure`` when `openssl` is missing or fails.
    public init() throws {
        folder = try TemporaryFolder()
        try Self.openssl(
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                folder.path(of: "ca.key"), "-out", authorityFile, "-subj", "/CN=Test authority", "-days", "2",
            ])
    }

    /// The PEM file of the authority.
    public var authorityFile: String { folder.path(of: "ca.pem") }

    /// Makes a certificate.
    ///
    /// - Parameters:
    ///   - names: What it is for, in the form of OpenSSL: `DNS:localhost`, `IP:127.0.0.1`.
    ///   - days: For how many days from now; below 0, it has ended.
    /// - Returns: The files.
    /// - Throws: ``Failure``.
    public func certificate(for names: [String], days: Int = 2) throws -> Certificate {
        let name = UUID().uuidString
        let (key, request) = (folder.path(of: name + ".key"), folder.path(of: name + ".csr"))
        let (extensions, certificate) = (folder.path(of: name + ".ext"), folder.path(of: name + ".pem"))
        try Self.openssl(
            [
                "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
                "-out", request, "-subj", "/CN=Test server",
            ])
        try Data("subjectAltName=\(names.joined(separator: ","))\n".utf8).write(
            to: URL(filePath: extensions))
        try Self.openssl(
            [
                "x509", "-req", "-in", request, "-CA", authorityFile, "-CAkey", folder.path(of: "ca.key"),
                "-set_serial", "\(UInt32.random(in: 1...UInt32.max))", "-days", "\(days)", "-extfile",
                extensions, "-out", certificate,
            ])
        return Certificate(certificateFile: certificate, keyFile: key)
    }

    /// The digest of a certificate's public key, as `openssl` computes it.
    public func keyDigest(of certificate: Certificate) throws -> [UInt8] {
        let (key, der) = (folder.path(of: "pin.key"), folder.path(of: "pin.der"))
        let digest = folder.path(of: "pin.digest")
        try Self.openssl(
            ["x509", "-in", certificate.certificateFile, "-pubkey", "-noout", "-out", key])
        try Self.openssl(["pkey", "-pubin", "-in", key, "-outform", "der", "-out", der])
        try Self.openssl(["dgst", "-sha256", "-binary", "-out", digest, der])
        return [UInt8](try Data(contentsOf: URL(filePath: digest)))
    }

    private static func openssl(_ arguments: [String]) throws {
        let (printed, status) = try runToEnd("/usr/bin/openssl", arguments)
        guard status == 0 else { throw Failure(description: printed) }
    }
}
