internal import CUV

/// The loop-side half of a ``TCPStream``.
@safe final class TCPCore: HandleCore {
    var onOpened: (() -> Void)?
    var onRead: ((UnsafeRawBufferPointer) -> Void)?
    var onEnd: (() -> Void)?
    var onDrained: (() -> Void)?
    var onClosed: ((CloseReason) -> Void)?
    private(set) var pendingWriteByteCount = 0
    private let loop: EventLoop
    private var isReading = false

    init(loop: EventLoop) throws(UVError) {
        self.loop = loop
        try unsafe super.init(UV_TCP, operation: "create socket") { memory in
            unsafe uv_tcp_init(loop.raw, memory.assumingMemoryBound(to: uv_tcp_t.self))
        }
    }

    /// Takes over an accepted descriptor; closes it on failure.
    func open(descriptor: Int32) throws(UVError) {
        let result = unsafe uv_tcp_open(tcp, descriptor)
        guard result == 0 else {
            uvkit_close_descriptor(descriptor)
            close(.failed(UVError(result, "accept")))
            throw UVError(result, "accept")
        }
    }

    private var tcp: UnsafeMutablePointer<uv_tcp_t> {
        unsafe memory.assumingMemoryBound(to: uv_tcp_t.self)
    }

    private var stream: UnsafeMutablePointer<uv_stream_t> {
        unsafe memory.assumingMemoryBound(to: uv_stream_t.self)
    }

    override func didClose(_ reason: CloseReason) {
        let closed = onClosed
        onOpened = nil
        unsafe onRead = nil
        onEnd = nil
        onDrained = nil
        onClosed = nil
        closed?(reason)
    }

    // MARK: Connecting

    func connect(to address: SocketAddress) {
        let request = UnsafeMutablePointer<uv_connect_t>.allocate(capacity: 1)
        let result: Int32
        do throws(UVError) {
            var storage = try address.storage()
            unsafe request.pointee.data = Unmanaged.passUnretained(self).toOpaque()
            result = unsafe withUnsafePointer(to: &storage) { storage in
                // libuv copies the address. The request is freed in its callback, which always comes before the
                // close callback that releases `self`.
                unsafe uv_tcp_connect(request, tcp, uvkit_address(storage)) { request, status in
                    guard let request = unsafe request else { return }
                    let core = unsafe TCPCore.from(data: request.pointee.data)
                    unsafe request.deallocate()
                    core?.connected(status)
                }
            }
        } catch {
            unsafe request.deallocate()
            return close(.failed(error))
        }
        guard result != 0 else { return }
        unsafe request.deallocate()
        close(.failed(UVError(result, "connect to \(address)")))
    }

    private func connected(_ status: Int32) {
        guard !isClosing else { return }
        guard status == 0 else { return close(.failed(UVError(status, "connect"))) }
        onOpened?()
    }

    // MARK: Reading

    func resumeReading() {
        guard !isClosing, !isReading else { return }
        let result = unsafe uv_read_start(stream, TCPCore.allocate, TCPCore.onReadable)
        // While connecting there is nothing to read yet: the caller asks again when opened.
        guard result == 0 else {
            if result != UV_ENOTCONN.rawValue { close(.failed(UVError(result, "read"))) }
            return
        }
        isReading = true
    }

    func pauseReading() {
        guard !isClosing, isReading else { return }
        isReading = false
        _ = unsafe uv_read_stop(stream)
    }

    private static let allocate: uv_alloc_cb = { handle, _, buffer in
        guard let handle = unsafe handle, let core = unsafe TCPCore.from(data: uv_handle_get_data(handle))
        else {
            return
        }
        // One buffer for all streams of a loop: libuv reads into it and calls back before it asks for the next.
        let memory = unsafe core.loop.readBuffer
        unsafe buffer?.pointee = unsafe uv_buf_init(
            memory.baseAddress?.assumingMemoryBound(to: CChar.self), UInt32(memory.count))
    }

    private static let onReadable: uv_read_cb = { stream, count, _ in
        guard let stream = unsafe stream, let core = unsafe TCPCore.from(data: stream.pointee.data) else {
            return
        }
        core.received(count)
    }

    private func received(_ count: Int) {
        guard !isClosing, count != 0 else { return }
        guard count < 0 else {
            // libuv wrote `count` bytes, at most the buffer's size, at the start of the loop's buffer.
            unsafe onRead?(UnsafeRawBufferPointer(rebasing: loop.readBuffer[..<count]))
            return
        }
        guard count == Int(UV_EOF.rawValue) else {
            return close(.failed(UVError(Int32(clamping: count), "read")))
        }
        isReading = false
        guard let onEnd else { return close(.endOfStream) }
        _ = unsafe uv_read_stop(stream)
        onEnd()
    }

    // MARK: Writing

    func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !isClosing else { return false }
        var rest = unsafe bytes
        if pendingWriteByteCount == 0, unsafe !rest.isEmpty {
            var buffer = unsafe TCPCore.buffer(rest)
            let result = unsafe uv_try_write(stream, &buffer, 1)
            if result >= 0 {
                // libuv never reports more than it was given.
                unsafe rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(Int(result)))
            } else if result != UV_EAGAIN.rawValue {
                close(.failed(UVError(result, "write")))
                return false
            }
        }
        guard unsafe !rest.isEmpty else { return true }
        return unsafe queue(rest)
    }

    /// Copies bytes into a request that libuv finishes later.
    private func queue(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let request = unsafe WriteRequest.make(copying: bytes)
        var buffer = unsafe TCPCore.buffer(UnsafeRawBufferPointer(request.pointee.bytes))
        let result = unsafe uv_write(WriteRequest.raw(request), stream, &buffer, 1) { request, status in
            guard let request = unsafe request, let stream = unsafe request.pointee.handle else { return }
            let core = unsafe TCPCore.from(data: stream.pointee.data)
            let count = unsafe WriteRequest.free(request)
            core?.wrote(count, status)
        }
        guard result == 0 else {
            _ = unsafe WriteRequest.free(WriteRequest.raw(request))
            close(.failed(UVError(result, "write")))
            return false
        }
        pendingWriteByteCount += bytes.count
        return true
    }

    private func wrote(_ count: Int, _ status: Int32) {
        pendingWriteByteCount -= count
        guard !isClosing else { return }
        guard status == 0 else { return close(.failed(UVError(status, "write"))) }
        if pendingWriteByteCount == 0 { onDrained?() }
    }

    private static func buffer(_ bytes: UnsafeRawBufferPointer) -> uv_buf_t {
        // libuv only reads through this pointer. A write above 4 GiB is cut here and the rest is queued by the caller.
        unsafe uv_buf_init(
            UnsafeMutableRawPointer(mutating: bytes.baseAddress)?.assumingMemoryBound(to: CChar.self),
            UInt32(clamping: bytes.count))
    }

    func shutdown() {
        guard !isClosing else { return }
        let request = UnsafeMutablePointer<uv_shutdown_t>.allocate(capacity: 1)
        let result = unsafe uv_shutdown(request, stream) { request, status in
            guard let request = unsafe request, let stream = unsafe request.pointee.handle else { return }
            let core = unsafe TCPCore.from(data: stream.pointee.data)
            unsafe request.deallocate()
            // ENOTCONN: the other side is gone already, and reading will say so.
            guard status < 0, status != UV_ENOTCONN.rawValue else { return }
            core?.close(.failed(UVError(status, "shut down")))
        }
        // Refused when not connected or already shut down: nothing to end.
        if result != 0 { unsafe request.deallocate() }
    }

    // MARK: Options and names

    func setNoDelay(_ isOn: Bool) throws(UVError) {
        guard !isClosing else { return }
        try UVError.check(unsafe uv_tcp_nodelay(tcp, isOn ? 1 : 0), "set TCP_NODELAY")
    }

    func setKeepAlive(_ delaySeconds: UInt32?) throws(UVError) {
        guard !isClosing else { return }
        try UVError.check(
            unsafe uv_tcp_keepalive(tcp, delaySeconds == nil ? 0 : 1, delaySeconds ?? 0), "set SO_KEEPALIVE")
    }

    func name(_ read: (Int32, UnsafeMutablePointer<sockaddr_storage>?) -> Int32) -> SocketAddress? {
        guard !isClosing else { return nil }
        var descriptor: uv_os_fd_t = -1
        var storage = sockaddr_storage()
        guard unsafe uv_fileno(handle, &descriptor) == 0, unsafe read(descriptor, &storage) == 0 else {
            return nil
        }
        return SocketAddress.read(storage)
    }
}

/// A queued write: libuv's request together with the bytes that it sends.
@safe private struct WriteRequest {
    var request: uv_write_t
    var bytes: UnsafeMutableRawBufferPointer

    static func make(copying bytes: UnsafeRawBufferPointer) -> UnsafeMutablePointer<WriteRequest> {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        unsafe copy.copyMemory(from: bytes)
        let result = UnsafeMutablePointer<WriteRequest>.allocate(capacity: 1)
        unsafe result.initialize(to: WriteRequest(request: uv_write_t(), bytes: copy))
        return unsafe result
    }

    /// The request is the first member, so both have one address.
    static func raw(_ request: UnsafeMutablePointer<WriteRequest>) -> UnsafeMutablePointer<uv_write_t> {
        unsafe UnsafeMutableRawPointer(request).assumingMemoryBound(to: uv_write_t.self)
    }

    /// Frees a request made by ``make(copying:)``, once, and returns its number of bytes.
    static func free(_ request: UnsafeMutablePointer<uv_write_t>) -> Int {
        let whole = unsafe UnsafeMutableRawPointer(request).assumingMemoryBound(to: WriteRequest.self)
        let count = unsafe whole.pointee.bytes.count
        unsafe whole.pointee.bytes.deallocate()
        unsafe whole.deinitialize(count: 1)
        unsafe whole.deallocate()
        return count
    }
}
