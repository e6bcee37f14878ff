internal import Synchronization

/// What goes wrong on one connection of a ``MemoryTransport``.
public struct LinkFaults: Hashable, Sendable {
    /// Bytes arrive in pieces of this size instead of as written; nil leaves them whole.
    public var chunkByteCount: Int?
    /// The connection breaks after this many bytes have reached the client.
    public var cutAfterBytesToClient: Int?
    /// The connection breaks after this many bytes have reached the server.
    public var cutAfterBytesToServer: Int?
    /// Nothing is delivered until ``MemoryPeer/release()``; not even that the connection is open.
    public var isHeld: Bool
    /// The connection is refused.
    public var isRefused: Bool

    /// Describes faults; without arguments, none.
    public init(
        chunkByteCount: Int? = nil, cutAfterBytesToClient: Int? = nil, cutAfterBytesToServer: Int? = nil,
        isHeld: Bool = false, isRefused: Bool = false
    ) {
        self.chunkByteCount = chunkByteCount
        self.cutAfterBytesToClient = cutAfterBytesToClient
        self.cutAfterBytesToServer = cutAfterBytesToServer
        self.isHeld = isHeld
        self.isRefused = isRefused
    }
}

/// A transport without sockets: both ends are in this process and on one context.
///
/// It behaves like TCP as far as the protocol ``ClientTransport`` tells, is deterministic on a ``ManualContext``, and can be
/// made to fail. An address that nobody serves refuses connections.
///
/// ```swift
/// transport.serve(Endpoint(host: "10.0.0.1", port: 1)) { peer in
///     peer.handler = { event in … }      // the server's side
/// }
/// ```
public final class MemoryTransport: ClientTransport {
    /// Where everything happens.
    public let context: any SerialContext

    private struct State {
        var names: [String: [String]] = [:]
        var servers: [Endpoint: ContextBound<(MemoryPeer) -> Void>] = [:]
        var connectionCount = 0
        var faults: @Sendable (Int) -> LinkFaults = { _ in LinkFaults() }
    }

    private let state = Mutex(State())

    /// Makes an empty network on a context.
    public init(context: any SerialContext) {
        self.context = context
    }

    /// Gives a name its addresses; numeric hosts need none.
    public func setAddresses(_ addresses: [String], of name: String) {
        state.withLock { $0.names[name] = addresses }
    }

    /// Accepts connections at an address; must be called on the context.
    public func serve(_ address: Endpoint, accepted: @escaping (MemoryPeer) -> Void) {
        context.preconditionOnContext()
        let bound = ContextBound(accepted, context: context)
        state.withLock { $0.servers[address] = bound }
    }

    /// Refuses new connections at an address; those that are open stay so.
    public func stopServing(_ address: Endpoint) {
        state.withLock { _ = $0.servers.removeValue(forKey: address) }
    }

    /// Chooses the faults of each later connection by its number, counted from 0 over the life of the transport.
    public func setFaults(_ faults: @escaping @Sendable (Int) -> LinkFaults) {
        state.withLock { $0.faults = faults }
    }

    /// How many connections were attempted so far.
    public var connectionCount: Int {
        state.withLock { $0.connectionCount }
    }

    /// Answers from the names that were set; a host of digits, dots and colons is its own address.
    public func resolve(
        _ endpoint: Endpoint, completion: @escaping (Result<[Endpoint], TransportError>) -> Void
    ) {
        let isNumeric = endpoint.host.allSatisfy { $0.isHexDigit || $0 == "." || $0 == ":" }
        let hosts = state.withLock { $0.names[endpoint.host] } ?? (isNumeric ? [endpoint.host] : nil)
        let bound = ContextBound(completion, context: context)
        context.enqueue {
            guard let hosts else {
                let error = TransportError(
                    code: "EAI_NONAME", message: "resolve \(endpoint.host): unknown host")
                return bound.value(.failure(error))
            }
            bound.value(.success(hosts.map { Endpoint(host: $0, port: endpoint.port) }))
        }
    }

    /// Connects to whoever serves the first address.
    public func connect(
        to addresses: [Endpoint], of server: Endpoint, handler: @escaping (ConnectionEvent) -> Void
    ) -> any Connection {
        context.preconditionOnContext()
        let address = addresses.first ?? server
        let (server, faults) = state.withLock { state in
            let number = state.connectionCount
            state.connectionCount += 1
            return (state.servers[address], state.faults(number))
        }
        let link = MemoryLink(context: context, faults: faults)
        link.client.handler = handler
        link.open(address: address, server: faults.isRefused ? nil : server)
        return link.client
    }
}

/// One end of a connection in memory; the server's side holds it directly.
///
/// Used on its context only.
public final class MemoryPeer: Connection {
    /// Receives what happens at this end.
    public var handler: ((ConnectionEvent) -> Void)?
    fileprivate(set) var isOver = false
    fileprivate var outgoing: [UInt8] = []
    fileprivate var isReading = true
    fileprivate var hasEnded = false
    fileprivate var deliveredByteCount = 0
    // The two ends and the link hold each other until the connection is over.
    fileprivate var link: MemoryLink?

    fileprivate init() {}

    /// Sends bytes to the other end.
    public func write(_ bytes: [UInt8]) {
        guard let link, !hasEnded, !isOver else { return }
        outgoing += bytes
        link.schedule()
    }

    /// How many written bytes have not been delivered.
    public var pendingWriteByteCount: Int { outgoing.count }

    /// Stops or continues the delivery of bytes to this end.
    public func setReading(_ isOn: Bool) {
        isReading = isOn
        link?.schedule()
    }

    /// Ends the connection; what was written before still arrives.
    public func close() {
        guard let link, !hasEnded, !isOver else { return }
        hasEnded = true
        link.schedule()
    }

    /// Breaks the connection for both ends; what was not delivered is lost.
    public func breakConnection() {
        link?.breakBoth()
    }

    /// Delivers nothing more until ``release()``.
    public func hold() {
        link?.faults.isHeld = true
    }

    /// Delivers what was held back.
    public func release() {
        link?.faults.isHeld = false
        link?.schedule()
    }

    fileprivate func finish(_ end: ConnectionEnd) {
        guard !isOver else { return }
        isOver = true
        let last = handler
        handler = nil
        link = nil
        last?(.closed(end))
    }
}

/// Both directions of one connection.
private final class MemoryLink {
    let client = MemoryPeer()
    let server = MemoryPeer()
    var faults: LinkFaults
    private let context: any SerialContext
    private var isScheduled = false
    private var opening: (address: Endpoint, server: ContextBound<(MemoryPeer) -> Void>?)?

    init(context: any SerialContext, faults: LinkFaults) {
        self.context = context
        self.faults = faults
        client.link = self
        server.link = self
    }

    func open(address: Endpoint, server: ContextBound<(MemoryPeer) -> Void>?) {
        opening = (address, server)
        schedule()
    }

    func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        let bound = ContextBound(self, context: context)
        context.enqueue { bound.value.turn() }
    }

    func breakBoth() {
        let error = TransportError(code: "ECONNRESET", message: "connection reset by peer")
        client.outgoing = []
        server.outgoing = []
        let bound = ContextBound(self, context: context)
        context.enqueue {
            bound.value.client.finish(.failed(error))
            bound.value.server.finish(.failed(error))
        }
    }

    private func turn() {
        isScheduled = false
        // Closing is the caller's own act: it is told at once even while the network holds everything back.
        if client.hasEnded { client.finish(.closedHere) }
        if server.hasEnded { server.finish(.closedHere) }
        guard !faults.isHeld else { return }
        if let (address, accept) = exchange(&opening, with: nil) { start(address, accept) }
        deliver(from: client, to: server, cutAfter: faults.cutAfterBytesToServer)
        deliver(from: server, to: client, cutAfter: faults.cutAfterBytesToClient)
    }

    private func start(_ address: Endpoint, _ accept: ContextBound<(MemoryPeer) -> Void>?) {
        guard let accept else {
            server.finish(.closedHere)
            let message = "connect to \(address): connection refused"
            return client.finish(.failed(TransportError(code: "ECONNREFUSED", message: message)))
        }
        guard !client.isOver else { return server.finish(.closedByPeer) }
        accept.value(server)
        server.handler?(.opened)
        client.handler?(.opened)
    }

    private func deliver(from sender: MemoryPeer, to receiver: MemoryPeer, cutAfter limit: Int?) {
        guard !receiver.isOver else { return sender.outgoing = [] }
        let hadBytes = !sender.outgoing.isEmpty
        while !sender.outgoing.isEmpty, receiver.isReading, !receiver.isOver, !receiver.hasEnded,
            !faults.isHeld
        {
            var count = min(sender.outgoing.count, max(1, faults.chunkByteCount ?? .max))
            if let limit { count = min(count, limit - receiver.deliveredByteCount) }
            guard count > 0 else { return breakBoth() }
            let chunk = Array(sender.outgoing.prefix(count))
            sender.outgoing.removeFirst(count)
            receiver.deliveredByteCount += count
            receiver.handler?(.bytes(chunk))
        }
        if limit == receiver.deliveredByteCount { return breakBoth() }
        guard sender.outgoing.isEmpty else { return }
        if hadBytes, !sender.hasEnded { sender.handler?(.drained) }
        if sender.hasEnded { receiver.finish(.closedByPeer) }
    }
}
