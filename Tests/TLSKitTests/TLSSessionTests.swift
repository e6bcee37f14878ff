import Foundation
import RivuletTestSupport
import TLSKit
import Testing

/// Two sides in memory, and what goes between them.
struct Pair {
    let client: TLSSession
    let server: TLSSession
    /// What each side received in the clear.
    var clientReceived: [UInt8] = []
    var serverReceived: [UInt8] = []

    init(host: String = "localhost", _ client: TLSContext, _ server: TLSContext) throws {
        self.client = try TLSSession(to: host, port: 1, context: client)
        self.server = try TLSSession(accepting: server)
        try self.client.advance()
    }

    /// Carries bytes to and fro, in pieces of this size, until nothing more comes.
    mutating func carry(pieces: Int = .max) throws {
        while true {
            let (up, down) = (client.takeSealed(), server.takeSealed())
            guard !up.isEmpty || !down.isEmpty else { return }
            try Self.each(up, pieces) { serverReceived += try server.receive($0) }
            try Self.each(down, pieces) { clientReceived += try client.receive($0) }
        }
    }

    static func each(
        _ bytes: [UInt8], _ size: Int, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(size))
            rest = rest.dropFirst(piece.count)
            try piece.withUnsafeBytes(body)
        }
    }
}

extension TLSSession {
    func send(_ text: String) throws {
        try send(Array(text.utf8))
    }
}

@Suite(.timeLimit(.minutes(2))) struct TLSSessionTests {
    let authority: CertificateMaker

    init() throws {
        authority = try CertificateMaker()
    }

    private func server(_ names: [String] = ["DNS:localhost", "IP:127.0.0.1"], days: Int = 2) throws
        -> TLSContext
    {
        let made = try authority.certificate(for: names, days: days)
        return try TLSContext(certificateFile: made.certificateFile, keyFile: made.keyFile)
    }

    private func client(pins: Set<TLSPin> = [], authorityFile: String? = nil) throws -> TLSContext {
        try TLSContext(
            client: TLSClientOptions(authorityFile: authorityFile ?? authority.authorityFile, pins: pins))
    }

    /// The error with which a client ends that meets this server.
    private func clientError(
        _ client: TLSContext, _ server: TLSContext, host: String = "localhost"
    ) throws -> TLSError? {
        var pair = try Pair(host: host, client, server)
        do {
            try pair.carry()
            return nil
        } catch let error as TLSError {
            #expect(!pair.client.isEstablished)
            return error
        }
    }

    @Test(arguments: [1, 7, 1000, .max])
    func `both sides agree and bytes pass both ways, however they are split`(pieces: Int) throws {
        var pair = try Pair(try client(), try server())
        try pair.carry(pieces: pieces)
        #expect(pair.client.isEstablished)
        #expect(pair.server.isEstablished)
        #expect(pair.client.version == "TLSv1.3")
        let long = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try pair.client.send(long)
        try pair.server.send("answer")
        try pair.carry(pieces: pieces)
        #expect(pair.serverReceived == long)
        #expect(pair.clientReceived == Array("answer".utf8))
        pair.client.end()
        try pair.carry(pieces: pieces)
        #expect(pair.server.isEnded)
    }

    @Test(arguments: ["localhost", "127.0.0.1", "LOCALHOST", "localhost."])
    func `a certificate is good for the names in it`(host: String) throws {
        #expect(try clientError(try client(), try server(), host: host) == nil)
    }

    @Test func `a wildcard stands for one whole label`() throws {
        let server = try server(["DNS:*.example.org"])
        #expect(try clientError(try client(), server, host: "im.example.org") == nil)
        #expect(try clientError(try client(), server, host: "a.im.example.org")?.code == .wrongHost)
        #expect(try clientError(try client(), server, host: "example.org")?.code == .wrongHost)
    }

    @Test(arguments: ["example.org", "127.0.0.2", "::1", "localhost.example.org", "ocalhost"])
    func `a certificate for another host is refused`(host: String) throws {
        #expect(try clientError(try client(), try server(), host: host)?.code == .wrongHost)
    }

    @Test(arguments: ["", ".", "a\u{0}b"])
    func `a server without a proper name is not even tried`(host: String) throws {
        let context = try client()
        #expect(throws: TLSError.self) { try TLSSession(to: host, context: context) }
    }

    @Test func `a certificate past its time is refused`() throws {
        #expect(try clientError(try client(), try server(days: -1))?.code == .expired)
    }

    @Test func `a certificate of an unknown authority is refused`() throws {
        let other = try CertificateMaker()
        let error = try clientError(try client(authorityFile: other.authorityFile), try server())
        #expect(error?.code == .unknownAuthority)
        // The system's authorities do not know the test's either.
        let system = try TLSContext(client: TLSClientOptions())
        #expect(try clientError(system, try server())?.code == .unknownAuthority)
    }

    @Test func `the server learns that its certificate was refused`() throws {
        var pair = try Pair(host: "example.org", try client(), try server())
        #expect(throws: TLSError.self) { try pair.carry() }
        let alert = pair.client.takeSealed()
        #expect(!alert.isEmpty)
        #expect {
            try alert.withUnsafeBytes { _ = try pair.server.receive($0) }
        } throws: { ($0 as? TLSError)?.code == .refusedByPeer }
    }

    @Test func `only a pinned key is trusted when there are pins`() throws {
        let made = try authority.certificate(for: ["DNS:localhost"])
        let server = try TLSContext(certificateFile: made.certificateFile, keyFile: made.keyFile)
        let right = try #require(TLSPin(digest: try authority.keyDigest(of: made)))
        let wrong = try #require(TLSPin(digest: [UInt8](repeating: 7, count: 32)))
        #expect(try clientError(try client(pins: [right]), server) == nil)
        #expect(try clientError(try client(pins: [wrong, right]), server) == nil)
        #expect(try clientError(try client(pins: [wrong]), server)?.code == .wrongPin)
        // A pin does not replace the other checks.
        #expect(try clientError(try client(pins: [right]), server, host: "example.org")?.code == .wrongHost)
    }

    @Test func `a second connection continues the first one's session, and its pin is checked again`() throws
    {
        let made = try authority.certificate(for: ["DNS:localhost"])
        let server = try TLSContext(certificateFile: made.certificateFile, keyFile: made.keyFile)
        let pin = try #require(TLSPin(digest: try authority.keyDigest(of: made)))
        let client = try client(pins: [pin])
        var first = try Pair(client, server)
        try first.carry()
        #expect(!first.client.wasResumed)
        #expect(client.ticketCount == 1)
        for _ in 0..<3 {
            var next = try Pair(client, server)
            try next.carry()
            try next.client.send("hello")
            try next.carry()
            #expect(next.client.wasResumed)
            #expect(next.server.wasResumed)
            #expect(next.serverReceived == Array("hello".utf8))
        }
        // Another name is another server: its certificate is looked at anew.
        #expect(try clientError(client, server, host: "example.org")?.code == .wrongHost)
        // A server that does not know the session any more makes a new one.
        let restarted = try TLSContext(certificateFile: made.certificateFile, keyFile: made.keyFile)
        var again = try Pair(client, restarted)
        try again.carry()
        #expect(again.client.isEstablished)
        #expect(!again.client.wasResumed)
    }

    @Test func `a client that does not want to be known again keeps no session`() throws {
        let context = try TLSContext(
            client: TLSClientOptions(authorityFile: authority.authorityFile, resumesSessions: false))
        var pair = try Pair(context, try server())
        try pair.carry()
        #expect(context.ticketCount == 0)
    }

    @Test func `a handshake torn at any byte establishes nothing`() throws {
        let (clientContext, serverContext) = (try client(), try server())
        let whole = try Pair(clientContext, serverContext)
        let hello = whole.client.takeSealed()
        try hello.withUnsafeBytes { _ = try whole.server.receive($0) }
        let answer = whole.server.takeSealed()
        for count in stride(from: 0, to: answer.count, by: 13) {
            let client = try TLSSession(to: "localhost", context: clientContext)
            try client.advance()
            _ = client.takeSealed()
            // The answer belongs to another hello, so whatever of it is complete is also wrong.
            do {
                try Array(answer.prefix(count)).withUnsafeBytes { _ = try client.receive($0) }
            } catch {
                #expect(error is TLSError)
            }
            #expect(!client.isEstablished)
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `garbage is refused by both sides`(seed: UInt64) throws {
        var state = seed
        let garbage = (0..<300).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
        let sides = [
            try TLSSession(to: "localhost", context: try client()),
            try TLSSession(accepting: try server()),
        ]
        for side in sides {
            try side.advance()
            #expect(throws: TLSError.self) { try garbage.withUnsafeBytes { _ = try side.receive($0) } }
            #expect(throws: TLSError.self) { try side.advance() }
            #expect(throws: TLSError.self) { try side.send("x") }
        }
    }

    @Test(arguments: ["GET / HTTP/1.1\r\n\r\n", "\0\0\0\u{1}\0\0\0\u{1}\u{0f}\u{2}\0\0"])
    func `a client without TLS is told apart`(text: String) throws {
        let server = try TLSSession(accepting: try server())
        #expect {
            try Array(text.utf8).withUnsafeBytes { _ = try server.receive($0) }
        } throws: { ($0 as? TLSError)?.code == .notTLS || ($0 as? TLSError)?.code == .brokenProtocol }
    }

    @Test func `a changed byte is noticed`() throws {
        var pair = try Pair(try client(), try server())
        try pair.carry()
        try pair.client.send("hello")
        var sealed = pair.client.takeSealed()
        sealed[sealed.count - 1] ^= 1
        #expect {
            try sealed.withUnsafeBytes { _ = try pair.server.receive($0) }
        } throws: { ($0 as? TLSError)?.code == .brokenProtocol }
    }

    @Test func `a file that cannot be used is named`() throws {
        let made = try authority.certificate(for: ["DNS:localhost"])
        let other = try authority.certificate(for: ["DNS:localhost"])
        func code(_ certificate: String, _ key: String) -> TLSError? {
            do {
                _ = try TLSContext(certificateFile: certificate, keyFile: key)
                return nil
            } catch { return error }
        }
        #expect(code("/nowhere/cert.pem", made.keyFile)?.code == .badFile)
        #expect(code("/nowhere/cert.pem", made.keyFile)?.message.contains("/nowhere/cert.pem") == true)
        #expect(code(made.certificateFile, "/nowhere/key.pem")?.code == .badFile)
        #expect(code(made.keyFile, made.keyFile)?.code == .badFile)
        #expect(code(made.certificateFile, other.keyFile)?.code == .keyMismatch)
        #expect(throws: TLSError.self) {
            try TLSContext(client: TLSClientOptions(authorityFile: "/nowhere/ca.pem"))
        }
    }

    @Test func `a key with a passphrase is refused instead of asking for it`() throws {
        let made = try authority.certificate(for: ["DNS:localhost"])
        let folder = try TemporaryFolder()
        let locked = folder.path(of: "locked.key")
        _ = try runToEnd(
            "/usr/bin/openssl",
            ["pkcs8", "-topk8", "-in", made.keyFile, "-out", locked, "-passout", "pass:secret"])
        #expect {
            try TLSContext(certificateFile: made.certificateFile, keyFile: locked)
        } throws: { ($0 as? TLSError)?.code == .badFile }
    }
}

@Suite struct TLSPinTests {
    @Test func `a pin is read from base64 and from hexadecimal digits`() throws {
        let digest = (0..<32).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 5) }
        let base64 = Data(digest).base64EncodedString()
        let hexadecimal = digest.map { String(format: "%02x", $0) }.joined()
        for text in [base64, hexadecimal, hexadecimal.uppercased(), "sha256/" + base64, "sha256//" + base64] {
            #expect(TLSPin(text)?.digest == digest, "\(text)")
        }
    }

    @Test(arguments: [
        "", "sha256/", "=", String(repeating: "=", count: 44), String(repeating: "A", count: 44),
        String(repeating: "g", count: 64), String(repeating: "+1", count: 32),
        String(repeating: "A", count: 43), String(repeating: "é", count: 22),
    ])
    func `what is no digest is no pin`(text: String) {
        #expect(TLSPin(text) == nil)
    }

    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ])
    func `digests are those of FIPS 180`(text: String, expected: String) {
        let digest = SHA256Digest(of: Array(text.utf8)).bytes
        #expect(digest.map { String(format: "%02x", $0) }.joined() == expected)
    }
}
