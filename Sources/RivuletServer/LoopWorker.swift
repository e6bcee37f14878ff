import RivuletServerCore
import RivuletTransport
import RivuletWire
import Synchronization
import UVKit

/// Everything that happens on one event loop: accepting, reading, decoding, deadlines, writing.
///
/// What all connections received in one turn of the loop goes to the node as one batch at its end, and everything
/// that is to be written to a connection in a turn leaves in one write.
final class LoopWorker {
    private let index: Int
    private let loop: EventLoop
    private let node: Node
    private let configuration: ServerConfiguration
    private let connectionsMax: Int
    private var connections: [ConnectionID: ServerConnection] = [:]
    private var listeners: [Listener] = []
    private var lastNumber: UInt64 = 0
    private var events: [NodeEvent] = []
    private var dirty: [ServerConnection] = []
    private var busy: [ServerConnection] = []
    private var isTurnEndPlanned = false
    private var sweep: Timer?
    private var lastTrouble: Int64?
    private var isStopping = false
    /// Kept by the first loop for all.
    private let roomKeys: RoomKeyMark?

    /// With more bytes than this waiting in the system, nothing more is encoded for a connection.
    private static let unsentBytesMax = 256 * 1024
    private static let lingerMilliseconds: Int64 = 500

    init(
        index: Int, loop: EventLoop, node: Node, configuration: ServerConfiguration, connectionsMax: Int
    ) throws(UVError) {
        self.index = index
        self.loop = loop
        self.node = node
        self.configuration = configuration
        self.connectionsMax = connectionsMax
        roomKeys = index == 0 ? RoomKeyMark(in: configuration.data) : nil
        roomKeys?.reserve(above: node.lastRoomKey, at: node.clock())
        let timer = try Timer(on: loop) { [weak self] in self?.sweepDeadlines() }
        sweep = timer
        timer.arm(after: sweepInterval)
    }

    // MARK: Accepting

    /// Listens on an address, over TLS if there is a certificate for it.
    func listen(on address: SocketAddress, tls: ServerCertificate?) throws(UVError) -> Listener {
        let listener = try Listener(on: address, loop: loop) { [weak self] in self?.accept($0, tls) }
        keep(listener)
        return listener
    }

    /// Takes a share of another loop's connections.
    func listen(sharing other: Listener, tls: ServerCertificate?) throws(UVError) {
        keep(try Listener(sharing: other, loop: loop) { [weak self] in self?.accept($0, tls) })
    }

    private func keep(_ listener: Listener) {
        listener.onTrouble = { [weak self] error in self?.complain("cannot accept connections", "\(error)") }
        listeners.append(listener)
    }

    private func accept(_ accepted: TCPStream, _ tls: ServerCertificate?) {
        guard connections.count < connectionsMax, !isStopping else {
            node.metrics.connectionsRefused.add(1, ordering: .relaxed)
            complain("too many connections", "\(connections.count)")
            accepted.close()
            return
        }
        let stream: any ByteStream
        do {
            stream = try tls.map { try TLSStream(accepting: accepted, context: $0.current) } ?? accepted
        } catch {
            complain("cannot begin TLS", "\(error)")
            accepted.close()
            return
        }
        node.metrics.connectionsOpened.add(1, ordering: .relaxed)
        node.metrics.connectionsOpen.add(1, ordering: .relaxed)
        lastNumber += 1
        let id = ConnectionID(worker: index, number: lastNumber)
        let connection = ServerConnection(
            id: id, stream: stream, waitingPushesMax: configuration.waitingPushesMax, now: now)
        connections[id] = connection
        // The stream lets go of its closures when it is closed, which ends the cycle.
        stream.onRead = { [weak self, weak connection] bytes in
            guard let connection else { return }
            self?.read(bytes, from: connection)
        }
        stream.onDrained = { [weak self, weak connection] in
            guard let connection else { return }
            self?.drained(connection)
        }
        stream.onClosed = { [weak self] reason in self?.closed(id, reason) }
        do {
            try accepted.setNoDelay(true)
        } catch {
            node.logger.log(.debug, "cannot set TCP_NODELAY", [("connection", "\(id.rawValue)")])
        }
        node.logger.log(.debug, "connection opened", [("connection", "\(id.rawValue)")])
        submit(.opened(id, from: stream.peerAddress.map { PeerAddress(rawValue: $0.host) } ?? .unknown))
        stream.resumeReading()
    }

    // MARK: Reading

    private func read(_ bytes: UnsafeRawBufferPointer, from connection: ServerConnection) {
        guard !connection.isEnding else { return }
        connection.decoder.append(bytes)
        do {
            var hasFrame = false
            while let frame = try connection.decoder.next() {
                hasFrame = true
                guard case .packet(let packet) = frame else { continue }
                if packet.command == .authToken, !connection.deadlines.isLoggedIn { connection.pause(.login) }
                submit(.received(connection.id, packet))
            }
            if hasFrame { connection.deadlines.frameCompleted(now: now) }
        } catch {
            node.metrics.malformedInputs.add(1, ordering: .relaxed)
            node.logger.log(
                .warning, "malformed input",
                [
                    ("connection", "\(connection.id.rawValue)"),
                    ("peer", connection.stream.peerAddress.map { "\($0)" } ?? "unknown"),
                    ("reason", error.code.rawValue),
                    ("command", error.command.map { "\($0.rawValue)" } ?? "none"),
                ])
            close(connection)
        }
        if node.isBusy {
            connection.pause(.busyLog)
            busy.append(connection)
        }
    }

    private func submit(_ event: NodeEvent) {
        events.append(event)
        planTurnEnd()
    }

    private func planTurnEnd() {
        guard !isTurnEndPlanned else { return }
        isTurnEndPlanned = true
        loop.atEndOfTurn { [weak self] in self?.endTurn() }
    }

    private func endTurn() {
        isTurnEndPlanned = false
        if !events.isEmpty {
            var batch: [NodeEvent] = []
            swap(&batch, &events)
            perform(node.handle(batch, on: index))
        }
        var written: [ServerConnection] = []
        swap(&written, &dirty)
        for connection in written { write(connection) }
        if !busy.isEmpty, !node.isBusy {
            for connection in busy { connection.resume(.busyLog) }
            busy = []
        }
    }

    // MARK: The node's answers

    /// Takes events from another thread.
    func take(_ incoming: [NodeEvent]) {
        events += incoming
        planTurnEnd()
    }

    /// Takes events from another thread and hands them to the core before this returns.
    func takeNow(_ incoming: [NodeEvent]) {
        events += incoming
        endTurn()
    }

    /// Does what the node decided about connections of this loop.
    func perform(_ actions: [NodeAction]) {
        for action in actions {
            switch action {
            case .send(let id, let packets, let delivery):
                add(packets, delivery, to: id)
            case .broadcast(let ids, let packets):
                for id in ids { add(packets, .push, to: id) }
            case .pauseReading(let id, let milliseconds):
                connections[id]?.pause(until: now + milliseconds)
            case .useVersion(let id, let version):
                guard let connection = connections[id] else { continue }
                connection.outgoing.version = version
                connection.deadlines.isLoggedIn = true
                connection.resume(.login)
            case .close(let id, let reason, let grace):
                guard let connection = connections[id] else { continue }
                connection.resume(.login)
                if grace == 0 {
                    linger(connection, reason)
                } else {
                    connection.deadlines.close(reason, at: now + grace)
                }
            case .keepOpen(let id):
                connections[id]?.deadlines.keepOpen()
            case .authenticate, .append, .load, .reportKey, .reportUnread, .posted:
                break
            }
        }
    }

    private func add(_ packets: [Packet], _ delivery: Delivery, to id: ConnectionID) {
        guard let connection = connections[id], !connection.isEnding else { return }
        connection.outgoing.add(packets, delivery)
        markDirty(connection)
    }

    private func markDirty(_ connection: ServerConnection) {
        guard !connection.isDirty else { return }
        connection.isDirty = true
        dirty.append(connection)
        planTurnEnd()
    }

    // MARK: Writing

    private func write(_ connection: ServerConnection) {
        connection.isDirty = false
        guard !connection.stream.isClosing else { return }
        var encoder = PacketEncoder(role: .server, profile: .current)
        while !connection.outgoing.isEmpty, connection.stream.pendingWriteByteCount < Self.unsentBytesMax {
            while encoder.byteCount < Self.unsentBytesMax, let packets = connection.outgoing.next() {
                encode(packets, with: &encoder, for: connection)
            }
            connection.stream.write(encoder.takeBytes())
        }
        connection.deadlines.unsentBytes(connection.stream.pendingWriteByteCount, now: now)
        if !connection.outgoing.isEmpty { connection.pause(.unreadAnswers) }
    }

    private func encode(
        _ packets: [Packet], with encoder: inout PacketEncoder, for connection: ServerConnection
    ) {
        for packet in packets {
            do {
                try encoder.append(packet)
            } catch {
                // A frame that cannot be written is this program's own fault; the rest of the connection goes on.
                node.logger.log(
                    .error, "cannot encode a frame",
                    [("connection", "\(connection.id.rawValue)"), ("reason", error.code.rawValue)])
            }
        }
    }

    private func drained(_ connection: ServerConnection) {
        connection.deadlines.unsentBytes(0, now: now)
        connection.resume(.unreadAnswers)
        if !connection.outgoing.isEmpty { markDirty(connection) }
    }

    // MARK: Closing

    /// Ends this side after what is to be written, and drops what the peer still sends for a moment.
    ///
    /// Closing at once with unread bytes would make the system throw away an answer on its way.
    private func linger(_ connection: ServerConnection, _ reason: RivuletServerCore.CloseReason) {
        connection.isEnding = true
        write(connection)
        connection.stream.shutdown()
        connection.deadlines.close(reason, at: now + Self.lingerMilliseconds)
    }

    /// Closes a connection for a reason of this side, after what is to be written was handed over.
    private func finish(_ connection: ServerConnection, _ reason: RivuletServerCore.CloseReason) {
        write(connection)
        node.logger.log(
            .info, "connection closed",
            [("connection", "\(connection.id.rawValue)"), ("reason", reason.rawValue)])
        close(connection)
    }

    private func close(_ connection: ServerConnection) {
        connection.stream.close()
    }

    private func closed(_ id: ConnectionID, _ reason: UVKit.CloseReason) {
        guard connections.removeValue(forKey: id) != nil else { return }
        node.metrics.connectionsOpen.subtract(1, ordering: .relaxed)
        busy.removeAll { $0.id == id }
        node.logger.log(
            .debug, "connection ended", [("connection", "\(id.rawValue)"), ("reason", "\(reason)")])
        submit(.closed(id))
    }

    private func sweepDeadlines() {
        let now = now
        for connection in connections.values {
            connection.deadlines.unsentBytes(connection.stream.pendingWriteByteCount, now: now)
            connection.resumeIfDue(now: now)
            if let reason = connection.deadlines.expired(now: now, limits: configuration.deadlines) {
                finish(connection, reason)
            }
        }
        roomKeys?.reserve(above: node.lastRoomKey, at: node.clock())
        planTurnEnd()
        sweep?.arm(after: sweepInterval)
    }

    private var sweepInterval: Duration {
        let graceful = min(
            configuration.deadlines.shortest, configuration.limits.refusedLoginGraceMilliseconds)
        return .milliseconds(max(5, min(1000, graceful / 4)))
    }

    // MARK: Stopping

    /// Accepts and reads nothing more.
    func stopTaking() {
        isStopping = true
        for listener in listeners { listener.close() }
        listeners = []
        for connection in connections.values { connection.pause(.stopping) }
    }

    /// Writes what is left; answers whether everything was handed to the system.
    func writeRest() -> Bool {
        endTurn()
        return connections.values.allSatisfy { $0.stream.pendingWriteByteCount == 0 && $0.outgoing.isEmpty }
    }

    /// Ends the connections and the loop.
    func stop() {
        sweep?.close()
        sweep = nil
        for connection in connections.values { connection.stream.close() }
        loop.stop()
    }

    // MARK: Helpers

    /// Milliseconds on the monotonic clock.
    private var now: Int64 {
        Int64(clamping: loop.nowNanoseconds / 1_000_000)
    }

    /// Logs a trouble that may come again and again, once in ten seconds.
    private func complain(_ message: StaticString, _ detail: String) {
        let now = now
        guard lastTrouble.map({ now - $0 >= 10_000 }) ?? true else { return }
        lastTrouble = now
        node.logger.log(.warning, message, [("detail", detail)])
    }
}
