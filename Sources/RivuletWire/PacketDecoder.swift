/// Turns a stream of bytes into packets, whatever the pieces in which it comes.
///
/// Append what arrives, then call ``next()`` until it returns nil. A header is judged as soon as its 12 bytes are
/// there, first its length, then its command, then what the length says about the body; a receiver never waits
/// for a body that it is going to refuse (docs/protocol.md, section 2).
///
/// ```swift
/// var decoder = PacketDecoder(role: .client, profile: .current)
/// decoder.append(bytes)
/// while let frame = try decoder.next() {
///     if case .packet(let packet) = frame { handle(packet) }
/// }
/// ```
///
/// A server throws on every malformed frame and is expected to close. A client throws on a malformed length alone
/// and gives every other frame it cannot use as ``DecodedFrame/skipped(_:_:)``. After a throw each further call throws the same
/// error. It holds at most one unfinished frame beyond what was appended since the last nil.
public struct PacketDecoder: Sendable {
    let parser: FrameParser
    var buffer: [UInt8] = []
    /// Where the first unread byte of `buffer` is.
    var offset = 0
    var failure: WireError?

    /// A buffer above this capacity is given back once it is empty, so that an idle connection costs little.
    private static let retainedBytesMax = 512

    /// Makes a decoder at the start of a stream.
    ///
    /// - Parameters:
    ///   - role: Who receives the bytes: this end's own role.
    ///   - profile: The era that both ends speak.
    ///   - registry: The command numbers that the app added.
    ///   - bodyBytesMax: The longest body to accept, in bytes; nil means the role's own limit.
    public init(
        role: Role, profile: Profile, registry: CommandRegistry = CommandRegistry(), bodyBytesMax: Int? = nil
    ) {
        parser = FrameParser(role: role, profile: profile, registry: registry, bodyBytesMax: bodyBytesMax)
    }

    /// Who receives the bytes.
    public var role: Role { parser.role }

    /// The era that both ends speak.
    public var profile: Profile { parser.profile }

    /// The longest body that is accepted, in bytes.
    public var bodyBytesMax: Int { parser.bodyBytesMax }

    /// The number of appended bytes that no frame has used yet.
    public var bufferedByteCount: Int {
        buffer.count - offset
    }

    /// Adds the next bytes of the stream.
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard failure == nil else { return }
        makeRoom()
        // The caller vouches for its buffer; the array copies it.
        unsafe buffer.append(contentsOf: bytes)
    }

    /// Adds the next bytes of the stream.
    public mutating func append(_ bytes: [UInt8]) {
        guard failure == nil else { return }
        makeRoom()
        buffer.append(contentsOf: bytes)
    }

    /// Gives the next frame, or nil when more bytes are needed.
    ///
    /// - Throws: ``WireError``, after which the stream is useless: the connection is to be closed.
    @inlinable
    public mutating func next() throws(WireError) -> DecodedFrame? {
        // Inlined, so that the frame is taken apart where it is made: returned as one optional value in memory, a PING
        // took twice as long.
        let step = try advance()
        switch step.kind {
        case .needMore: return nil
        case .empty: return .packet(Packet(step.header, .empty))
        case .im:
            guard let message = message(of: step.header) else { return try frame(of: step.header) }
            return .packet(Packet(step.header, .im(message)))
        case .other: return try frame(of: step.header)
        }
    }

    /// Moves behind the next frame if it is there as a whole.
    @usableFromInline
    mutating func advance() throws(WireError) -> FrameStep {
        guard buffer.count &- offset >= PacketHeader.byteCount else { return try rest() }
        var position = offset
        do throws(WireError) {
            // A byte has no padding, which is what makes other spans' bytes unsafe.
            let step = unsafe try parser.step(in: buffer.span.bytes, at: &position)
            offset = position
            return step
        } catch {
            throw fail(error)
        }
    }

    /// The body of the message that was just passed; nil when its text is no text.
    @usableFromInline
    func message(of header: PacketHeader) -> IMMessage? {
        unsafe parser.message(in: buffer.span.bytes, endingAt: offset, of: header)
    }

    /// The frame that was just passed.
    @usableFromInline
    mutating func frame(of header: PacketHeader) throws(WireError) -> DecodedFrame {
        do throws(WireError) {
            return unsafe try parser.frame(in: buffer.span.bytes, endingAt: offset, of: header)
        } catch {
            throw fail(error)
        }
    }

    /// What follows when less than a header is left: nothing, or the failure again, which leaves no bytes.
    @inline(never)
    private mutating func rest() throws(WireError) -> FrameStep {
        if let failure { throw failure }
        releaseIfDrained()
        return .needMore
    }

    @inline(never)
    mutating func fail(_ error: WireError) -> WireError {
        failure = error
        buffer = []
        offset = 0
        return error
    }

    /// Tells that the stream has ended; call it after ``next()`` has returned nil.
    ///
    /// - Throws: `need_more_bytes` when the stream ended inside a frame, or the error that ``next()`` threw.
    public func finish() throws(WireError) {
        if let failure { throw failure }
        let count = bufferedByteCount
        guard count > 0 else { return }
        let command = count > 8 ? Command(rawValue: buffer[offset + 8]) : nil
        throw WireError(.needMoreBytes, command: command, offset: count)
    }

    /// Forgets everything that was appended, and any error: for a new connection.
    public mutating func reset() {
        buffer = []
        offset = 0
        failure = nil
    }

    /// Moves the unread bytes to the front once the read ones are the majority, which keeps appending O(1) per byte.
    private mutating func makeRoom() {
        if offset == buffer.count {
            buffer.removeAll(keepingCapacity: true)
            offset = 0
        } else if offset > buffer.count / 2 {
            buffer.removeSubrange(..<offset)
            offset = 0
        }
    }

    mutating func releaseIfDrained() {
        guard offset == buffer.count, buffer.capacity > Self.retainedBytesMax else { return }
        buffer = []
        offset = 0
    }
}
