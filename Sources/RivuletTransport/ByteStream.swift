public import UVKit

/// A connected stream of bytes on an event loop: plain TCP, or TLS over it.
///
/// The callbacks are those of `TCPStream`: called on the loop, ``onClosed`` exactly once, and released after it.
public protocol ByteStream: AnyObject {
    /// Called with received bytes, which are valid only inside the call.
    var onRead: ((UnsafeRawBufferPointer) -> Void)? { get set }
    /// Called when all queued bytes were handed to the system after some had to wait.
    var onDrained: (() -> Void)? { get set }
    /// Called once when the stream is closed.
    var onClosed: ((CloseReason) -> Void)? { get set }
    /// Starts or continues to read.
    func resumeReading()
    /// Stops reading, which in time slows the sender down.
    func pauseReading()
    /// Sends bytes after all earlier ones; false when the stream is closing and they were dropped.
    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool
    /// How many written bytes the system has not taken yet.
    var pendingWriteByteCount: Int { get }
    /// Ends this half after the queued bytes; the other side can still send.
    func shutdown()
    /// Closes the stream at once; queued bytes are lost.
    func close()
    /// Whether the stream is closed or about to be.
    var isClosing: Bool { get }
    /// The address of the other end; nil when not connected.
    var peerAddress: SocketAddress? { get }
}

extension TCPStream: ByteStream {}
