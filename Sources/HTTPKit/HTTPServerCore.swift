internal import CMicroHTTPD
internal import Dispatch
internal import Synchronization

/// What the library's callbacks share: the connections with their deadlines, and the requests under way.
///
/// The daemon holds one reference to it from its start until it has stopped.
final class HTTPServerCore: Sendable {
    @safe private struct Daemon: @unchecked Sendable {
        // Invariant: the library's functions that take it here may be called from any thread, and it is ended once.
        let pointer: OpaquePointer
    }

    private struct State {
        var daemon: Daemon?
        var isStopping = false
        var exchanges: [ObjectIdentifier: Exchange] = [:]
        /// When each connection is broken off; nil while its request is being handled.
        var deadlines: [Int32: DispatchTime?] = [:]
        var sweep: (any DispatchSourceTimer)?
    }

    let limits: HTTPLimits
    private let handler: HTTPServer.Handler
    private let state = Mutex(State())

    init(limits: HTTPLimits, handler: @escaping HTTPServer.Handler) {
        self.limits = limits
        self.handler = handler
    }

    var pendingRequestCount: Int {
        state.withLock { $0.exchanges.count }
    }

    /// Takes the descriptor over; false when the library does not start, and then it is the caller's again.
    func start(on descriptor: Int32) -> Bool {
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        let started = unsafe httpkit_start(
            descriptor, context, HTTPServerCore.onAccess, HTTPServerCore.onCompleted,
            HTTPServerCore.onConnection,
            UInt32(clamping: limits.connectionsMax), UInt32(clamping: limits.connectionsPerAddressMax),
            UInt32(clamping: limits.idleSeconds), max(4096, limits.headerBytesMax))
        guard let started = unsafe started else {
            unsafe Unmanaged<HTTPServerCore>.fromOpaque(context).release()
            return false
        }
        let daemon = unsafe Daemon(pointer: started)
        state.withLock { state in
            state.daemon = daemon
            let sweep = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "rivulet.http.deadlines"))
            sweep.setEventHandler { [weak self] in self?.breakOffLate() }
            sweep.schedule(deadline: .now() + .seconds(1), repeating: .seconds(1))
            sweep.activate()
            state.sweep = sweep
        }
        return true
    }

    func stop() {
        let (daemon, exchanges) = state.withLock { state in
            state.isStopping = true
            state.sweep?.cancel()
            state.sweep = nil
            defer { state.daemon = nil }
            return (state.daemon, Array(state.exchanges.values))
        }
        guard let daemon else { return }
        // The library ends the process when it is stopped with a suspended connection: every one must be resumed, and
        // from here on none is suspended.
        for exchange in exchanges { exchange.finish(.text("the server stops\n", status: 503)) }
        unsafe MHD_stop_daemon(daemon.pointer)
        // Balances the `passRetained` of `start`; no callback is running or will come.
        unsafe Unmanaged.passUnretained(self).release()
    }

    // MARK: Connections

    private func connectionStarted(_ descriptor: Int32) {
        let deadline = DispatchTime.now() + .seconds(limits.transferSeconds)
        state.withLock { $0.deadlines[descriptor] = deadline }
    }

    /// Called before the descriptor is closed, so that nobody breaks off another one of the same number.
    private func connectionEnded(_ descriptor: Int32) {
        state.withLock { _ = $0.deadlines.removeValue(forKey: descriptor) }
    }

    private func setDeadline(of descriptor: Int32, isArmed: Bool) {
        let deadline = isArmed ? DispatchTime.now() + .seconds(limits.transferSeconds) : nil
        state.withLock { state in
            if state.deadlines[descriptor] != nil { state.deadlines[descriptor] = .some(deadline) }
        }
    }

    private func breakOffLate() {
        let now = DispatchTime.now()
        state.withLock { state in
            for (descriptor, deadline) in state.deadlines {
                if let deadline, deadline <= now { httpkit_break_off(descriptor) }
            }
        }
    }

    // MARK: Requests

    /// Gives a complete request to the handler, unless the server stops.
    private func begin(_ exchange: Exchange, _ connection: OpaquePointer) {
        let isTaken = state.withLock { state in
            guard !state.isStopping else { return false }
            state.exchanges[ObjectIdentifier(exchange)] = exchange
            // Under the lock: whoever stops the server finds the exchange only when there is something to resume.
            unsafe exchange.suspend(connection)
            return true
        }
        guard isTaken else {
            exchange.finish(.text("the server stops\n", status: 503))
            return
        }
        setDeadline(of: exchange.descriptor, isArmed: false)
        handler(exchange.request, HTTPResponder(exchange))
    }

    private func completed(_ exchange: Exchange) {
        state.withLock { _ = $0.exchanges.removeValue(forKey: ObjectIdentifier(exchange)) }
        setDeadline(of: exchange.descriptor, isArmed: true)
    }

    /// Takes one step of a request; false ends the connection.
    private func advance(
        _ exchange: Exchange, _ connection: OpaquePointer, _ upload: UnsafeRawBufferPointer
    ) -> Bool {
        guard unsafe upload.isEmpty else {
            return unsafe exchange.receive(upload, limit: limits.bodyBytesMax)
        }
        if exchange.isComplete, let response = exchange.response {
            setDeadline(of: exchange.descriptor, isArmed: true)
            return unsafe Self.queue(response, on: connection)
        }
        guard !exchange.isComplete else { return true }
        exchange.isComplete = true
        if exchange.isTooLong {
            return unsafe Self.queue(.text("the body is too long\n", status: 413), on: connection)
        }
        unsafe begin(exchange, connection)
        guard !exchange.isSuspended, let response = exchange.response else { return true }
        return unsafe Self.queue(response, on: connection)
    }

    static func queue(_ response: HTTPResponse, on connection: OpaquePointer) -> Bool {
        let made = unsafe response.body.withUnsafeBytes { bytes in
            unsafe httpkit_response(bytes.baseAddress, bytes.count)
        }
        guard let made = unsafe made else { return false }
        defer { unsafe MHD_destroy_response(made) }
        for (name, value) in response.headers.sorted(by: { $0.key < $1.key }) {
            // What the library refuses (line breaks in a value) is left out.
            _ = unsafe MHD_add_response_header(made, name, value)
        }
        let status = (200...599).contains(response.status) ? response.status : 500
        return unsafe MHD_queue_response(connection, UInt32(status), made) == httpkit_yes
    }
}

// MARK: - Callbacks of the library

extension HTTPServerCore {
    private static func from(_ context: UnsafeMutableRawPointer?) -> HTTPServerCore? {
        // The daemon's own reference keeps it alive.
        unsafe context.map { unsafe Unmanaged<HTTPServerCore>.fromOpaque($0).takeUnretainedValue() }
    }

    fileprivate static let onConnection: MHD_NotifyConnectionCallback = { context, connection, _, event in
        guard let core = unsafe from(context), let connection = unsafe connection else { return }
        let descriptor = unsafe httpkit_descriptor(connection)
        if httpkit_is_start(event) != 0 {
            core.connectionStarted(descriptor)
        } else {
            core.connectionEnded(descriptor)
        }
    }

    fileprivate static let onCompleted: MHD_RequestCompletedCallback = { context, _, slot, _ in
        guard let core = unsafe from(context), let slot = unsafe slot, let held = unsafe slot.pointee else {
            return
        }
        unsafe slot.pointee = nil
        // Balances the `passRetained` of `onAccess`.
        core.completed(unsafe Unmanaged<Exchange>.fromOpaque(held).takeRetainedValue())
    }

    /// Called once for the headers, then for each piece of the body, once at its end, and once after a resumption.
    fileprivate static let onAccess: MHD_AccessHandlerCallback = {
        context, connection, path, method, _, upload, uploadSize, slot in
        guard let core = unsafe from(context), let connection = unsafe connection, let slot = unsafe slot,
            let uploadSize = unsafe uploadSize
        else { return httpkit_no }
        guard let held = unsafe slot.pointee else {
            guard let path = unsafe path, let method = unsafe method else { return httpkit_no }
            let request = unsafe HTTPRequest(reading: connection, path: path, method: method)
            guard let request else {
                return unsafe queue(.text("not understood\n", status: 400), on: connection)
                    ? httpkit_yes : httpkit_no
            }
            if let length = request.header("content-length").flatMap(Int64.init),
                length > Int64(clamping: core.limits.bodyBytesMax)
            {
                return unsafe queue(.text("the body is too long\n", status: 413), on: connection)
                    ? httpkit_yes : httpkit_no
            }
            let exchange = Exchange(request, descriptor: unsafe httpkit_descriptor(connection))
            unsafe slot.pointee = Unmanaged.passRetained(exchange).toOpaque()
            return httpkit_yes
        }
        // The slot's reference is given back in `onCompleted`, after the last call for this request.
        let exchange = unsafe Unmanaged<Exchange>.fromOpaque(held).takeUnretainedValue()
        let count = unsafe uploadSize.pointee
        let bytes = unsafe UnsafeRawBufferPointer(start: upload, count: upload == nil ? 0 : count)
        let goesOn = unsafe core.advance(exchange, connection, bytes)
        unsafe uploadSize.pointee = 0
        return goesOn ? httpkit_yes : httpkit_no
    }
}
