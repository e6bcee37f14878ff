internal import CMicroHTTPD
internal import Synchronization

/// One request and its answer.
///
/// While the handler works, the connection is suspended; the first answer resumes it, exactly once, and only then can the
/// library let go of the connection. So its pointer is valid as long as it is kept here.
final class Exchange: Sendable {
    @safe private struct Suspended: @unchecked Sendable {
        // Invariant: resuming is allowed from any thread, and happens once, since it is taken out under the lock.
        let connection: OpaquePointer
    }

    private struct State {
        var request: HTTPRequest
        var response: HTTPResponse?
        var suspended: Suspended?
        var isComplete = false
        var isTooLong = false
        var droppedByteCount = 0
    }

    let descriptor: Int32
    private let state: Mutex<State>

    init(_ request: HTTPRequest, descriptor: Int32) {
        self.descriptor = descriptor
        state = Mutex(State(request: request))
    }

    var request: HTTPRequest { state.withLock { $0.request } }
    var response: HTTPResponse? { state.withLock { $0.response } }
    var isSuspended: Bool { state.withLock { $0.suspended != nil } }
    var isTooLong: Bool { state.withLock { $0.isTooLong } }

    /// Whether the whole request was received.
    var isComplete: Bool {
        get { state.withLock { $0.isComplete } }
        set { state.withLock { $0.isComplete = newValue } }
    }

    /// Adds a piece of the body; false when far more came than is allowed.
    ///
    /// A little too much is read and dropped, since a client sees an answer only after it has sent everything.
    func receive(_ bytes: UnsafeRawBufferPointer, limit: Int) -> Bool {
        state.withLock { state in
            guard !state.isTooLong, bytes.count <= limit - state.request.body.count else {
                state.isTooLong = true
                state.request.body = []
                state.droppedByteCount += bytes.count
                return state.droppedByteCount <= max(limit, 64 * 1024) * 4
            }
            unsafe state.request.body.append(contentsOf: bytes)
            return true
        }
    }

    /// Stops the library from going on with the connection until there is an answer; called on its thread.
    func suspend(_ connection: OpaquePointer) {
        let suspended = unsafe Suspended(connection: connection)
        state.withLock { state in
            state.suspended = suspended
            unsafe MHD_suspend_connection(connection)
        }
    }

    /// Takes the answer; the first one counts.
    func finish(_ response: HTTPResponse) {
        let suspended: Suspended? = state.withLock { state in
            guard state.response == nil else { return nil }
            state.response = response
            defer { state.suspended = nil }
            return state.suspended
        }
        if let suspended { unsafe MHD_resume_connection(suspended.connection) }
    }
}

extension HTTPRequest {
    /// Reads what the library has parsed; nil when something of it is no UTF-8 or a broken escape of the query.
    init?(
        reading connection: OpaquePointer, path: UnsafePointer<CChar>, method: UnsafePointer<CChar>
    ) {
        guard let path = unsafe String(validatingCString: path),
            let method = unsafe String(validatingCString: method)
        else { return nil }
        self.init(method: method, path: path)
        let headers = unsafe Self.values(of: httpkit_headers, connection)
        let arguments = unsafe Self.values(of: httpkit_query, connection)
        guard !headers.isBroken, !arguments.isBroken else { return nil }
        self.headers = headers.pairs
        for (name, value) in arguments.pairs {
            guard let name = PercentEncoding.decode(name.utf8), let value = PercentEncoding.decode(value.utf8)
            else { return nil }
            query.append((name, value))
        }
    }

    private final class Collected {
        var pairs: [(name: String, value: String)] = []
        var isBroken = false
    }

    private static func values(of kind: MHD_ValueKind, _ connection: OpaquePointer) -> Collected {
        let collected = Collected()
        // The iteration ends before this function does, so the reference need not be counted.
        let context = unsafe Unmanaged.passUnretained(collected).toOpaque()
        _ = unsafe MHD_get_connection_values(
            connection, kind,
            { context, _, key, value in
                guard let context = unsafe context else { return httpkit_no }
                let collected = unsafe Unmanaged<Collected>.fromOpaque(context).takeUnretainedValue()
                guard let key = unsafe key.flatMap({ unsafe String(validatingCString: $0) }) else {
                    collected.isBroken = true
                    return httpkit_no
                }
                // A name without "=" has no value.
                let text = unsafe value.map { unsafe String(validatingCString: $0) } ?? ""
                guard let text else {
                    collected.isBroken = true
                    return httpkit_no
                }
                collected.pairs.append((key, text))
                return httpkit_yes
            }, context)
        return collected
    }
}
