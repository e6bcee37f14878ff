public import TLSKit
public import UVKit

/// TLS over a connected TCP stream.
///
/// Until both sides have agreed on keys, written bytes wait here and count as pending. Reading is passed on to the socket,
/// so a reader that pauses slows the sender down as without TLS. A connection that ends without TLS's own end is reported
/// as failed, since its last bytes may be missing. Failures are `UVError`s whose codes are those of `TLSError`.
public final class TLSStream: ByteStream {
    private let stream: TCPStream
    private let session: TLSSession
    private var waiting: [[UInt8]] = []
    private var waitingByteCount = 0
    /// Plain bytes that arrived while nobody wanted to read.
    private var held: [UInt8] = []
    private var isReading = false
    private var isEnding = false
    private var failure: TLSError?

    /// Called when both sides have agreed and the other one is trusted.
    public var onOpened: (() -> Void)?
    /// Called with received bytes, which are valid only inside the call.
    public var onRead: ((UnsafeRawBufferPointer) -> Void)?
    /// Called when all queued bytes were handed to the system after some had to wait.
    public var onDrained: (() -> Void)?
    /// Called once when the stream is closed.
    public var onClosed: ((CloseReason) -> Void)?

    /// Begins TLS as a client over a stream that is open; must be called on the loop.
    ///
    /// - Parameters:
    ///   - host: The name or numeric address that the certificate must be for.
    ///   - port: Told apart from other ports when a session is to be continued.
    ///   - stream: The connection, whose callbacks are taken over.
    ///   - context: The rules.
    ///   - received: What was already read from the stream.
    /// - Throws: `TLSError` for what cannot be the name of a server.
    public convenience init(
        to host: String, port: UInt16, over stream: TCPStream, context: TLSContext, received: [UInt8] = []
    ) throws(TLSError) {
        self.init(over: stream, try TLSSession(to: host, port: port, context: context))
        // In a later turn, so that there is time to set the callbacks.
        stream.loop.atEndOfTurn {
            self.step { () throws(TLSError) in try self.session.advance() }
            received.withUnsafeBytes { self.received($0) }
        }
    }

    /// Waits for a client's TLS on an accepted stream; must be called on the loop.
    public convenience init(accepting stream: TCPStream, context: TLSContext) throws(TLSError) {
        self.init(over: stream, try TLSSession(accepting: context))
    }

    private init(over stream: TCPStream, _ session: TLSSession) {
        self.stream = stream
        self.session = session
        // The stream holds this object through its callbacks and lets go of it when closed.
        stream.onRead = { bytes in self.received(bytes) }
        stream.onDrained = { if self.waiting.isEmpty { self.onDrained?() } }
        stream.onClosed = { reason in self.closed(reason) }
        stream.resumeReading()
    }

    /// Whether both sides have agreed on keys.
    public var isEstablished: Bool { session.isEstablished }

    /// Whether an earlier session was continued.
    public var wasResumed: Bool { session.wasResumed }

    // MARK: Reading

    /// Starts or continues to read.
    public func resumeReading() {
        isReading = true
        stream.resumeReading()
        guard !held.isEmpty else { return }
        stream.loop.atEndOfTurn { self.deliverHeld() }
    }

    /// Stops reading, which in time slows the sender down.
    public func pauseReading() {
        isReading = false
        if session.isEstablished { stream.pauseReading() }
    }

    private func deliverHeld() {
        guard isReading, !held.isEmpty, !isClosing else { return }
        var plain: [UInt8] = []
        swap(&plain, &held)
        plain.withUnsafeBytes { onRead?($0) }
    }

    private func received(_ sealed: UnsafeRawBufferPointer) {
        guard !isClosing, failure == nil, !sealed.isEmpty else { return }
        let wasEstablished = session.isEstablished
        var plain: [UInt8] = []
        step { () throws(TLSError) in plain = try session.receive(sealed) }
        guard failure == nil else { return }
        if !wasEstablished, session.isEstablished { established() }
        if !plain.isEmpty, !isClosing {
            if isReading {
                plain.withUnsafeBytes { onRead?($0) }
            } else {
                held += plain
            }
        }
        if session.isEnded, !isClosing { stream.close() }
    }

    private func established() {
        onOpened?()
        guard !isClosing else { return }
        var written: [[UInt8]] = []
        swap(&written, &waiting)
        waitingByteCount = 0
        for bytes in written { write(bytes) }
        if isEnding { shutdown() }
        if !isReading { stream.pauseReading() }
        if !written.isEmpty, stream.pendingWriteByteCount == 0 { onDrained?() }
    }

    // MARK: Writing

    /// Sends bytes after all earlier ones; they wait while both sides agree on keys.
    @discardableResult
    public func write(_ bytes: [UInt8]) -> Bool {
        guard !isClosing, failure == nil else { return false }
        guard session.isEstablished else {
            waiting.append(bytes)
            waitingByteCount += bytes.count
            return true
        }
        step { () throws(TLSError) in try session.send(bytes) }
        return failure == nil
    }

    /// How many bytes wait for the keys or for the system; those with the system are counted sealed.
    public var pendingWriteByteCount: Int {
        waitingByteCount + stream.pendingWriteByteCount
    }

    /// Ends this half after the queued bytes.
    public func shutdown() {
        guard session.isEstablished else {
            isEnding = true
            return
        }
        session.end()
        stream.write(session.takeSealed())
        stream.shutdown()
    }

    /// Closes the stream at once; queued bytes are lost.
    public func close() {
        guard !isClosing else { return }
        session.end()
        stream.write(session.takeSealed())
        stream.close()
    }

    /// Whether the stream is closed or about to be.
    public var isClosing: Bool { stream.isClosing }

    /// The address of the other end; nil when not connected.
    public var peerAddress: SocketAddress? { stream.peerAddress }

    // MARK: Ending

    /// Does a step of the session, sends what it made, and ends the connection when it failed.
    private func step(_ body: () throws(TLSError) -> Void) {
        do throws(TLSError) {
            try body()
            stream.write(session.takeSealed())
        } catch {
            failure = error
            // An alert that tells the other side why.
            stream.write(session.takeSealed())
            stream.close()
        }
    }

    private func closed(_ reason: CloseReason) {
        let told = onClosed
        onOpened = nil
        onRead = nil
        onDrained = nil
        onClosed = nil
        waiting = []
        held = []
        if let failure {
            told?(.failed(UVError(failure)))
        } else if reason == .endOfStream || reason == .closedHere && session.isEnded {
            told?(
                session.isEnded
                    ? .endOfStream
                    : .failed(
                        UVError(
                            TLSError(
                                .truncated,
                                session.isEstablished
                                    ? "the TLS connection ended without its end"
                                    : "the connection ended inside the TLS handshake"))))
        } else {
            told?(reason)
        }
    }
}

extension UVError {
    init(_ error: TLSError) {
        self.init(code: Code(rawValue: error.code.rawValue), message: error.message, operation: "TLS")
    }
}
