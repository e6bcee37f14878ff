internal import CUV

extension EventLoop {
    /// Looks a host up without holding the loop; must be called on the loop, and calls back there.
    ///
    /// Both families are returned, in the system's order of preference. A numeric host is answered without a look-up
    /// over the network. Look-ups share libuv's few threads, so many slow ones wait for each other.
    ///
    /// - Parameters:
    ///   - host: A name or a numeric address.
    ///   - port: The port to put into the addresses.
    ///   - completion: Called exactly once, in a later turn.
    public func resolve(
        host: String, port: UInt16, completion: @escaping (Result<[SocketAddress], UVError>) -> Void
    ) {
        preconditionOnLoop()
        let box = ResolveBox(host: host, port: port, completion: completion)
        let request = UnsafeMutablePointer<uv_getaddrinfo_t>.allocate(capacity: 1)
        // The request owns the box until the callback; libuv copies host and hints.
        unsafe request.pointee.data = Unmanaged.passRetained(box).toOpaque()
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = uvkit_socket_type_stream
        unsafe hints.ai_protocol = Int32(IPPROTO_TCP)
        let result = unsafe uv_getaddrinfo(raw, request, ResolveBox.onResolved, host, nil, &hints)
        guard result != 0 else { return }
        unsafe request.deallocate()
        unsafe Unmanaged.passUnretained(box).release()
        atEndOfTurn { box.completion(.failure(UVError(result, "resolve \(host)"))) }
    }
}

private final class ResolveBox {
    let host: String
    let port: UInt16
    let completion: (Result<[SocketAddress], UVError>) -> Void

    init(host: String, port: UInt16, completion: @escaping (Result<[SocketAddress], UVError>) -> Void) {
        self.host = host
        self.port = port
        self.completion = completion
    }

    static let onResolved: uv_getaddrinfo_cb = { request, status, list in
        defer { unsafe uv_freeaddrinfo(list) }
        guard let request = unsafe request, let data = unsafe request.pointee.data else { return }
        // Balances the `passRetained` of `resolve`.
        let box = unsafe Unmanaged<ResolveBox>.fromOpaque(data).takeRetainedValue()
        unsafe request.deallocate()
        guard status == 0 else { return box.completion(.failure(UVError(status, "resolve \(box.host)"))) }
        var addresses: [SocketAddress] = []
        var entry = unsafe list
        while let current = unsafe entry {
            if let address = unsafe current.pointee.ai_addr, let found = unsafe SocketAddress.read(address),
                let withPort = try? SocketAddress(host: found.host, port: box.port),
                !addresses.contains(withPort)
            {
                addresses.append(withPort)
            }
            unsafe entry = current.pointee.ai_next
        }
        box.completion(.success(addresses))
    }
}
