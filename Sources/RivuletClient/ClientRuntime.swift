internal import RivuletClientCore
internal import RivuletTransport
internal import RivuletWire

/// Performs a core's actions on the transport's context, and tells the core what became of them.
///
/// Everything but the storage and the token source happens on the context, so there is no lock here; the storage is
/// awaited elsewhere, and its answer comes back as a job of the context, behind all earlier ones.
actor ClientRuntime {
    nonisolated let context: any SerialContext
    private let transport: any ClientTransport
    private let storage: any ClientStorage
    private let configuration: IMServiceConfiguration
    private let outlet: ClientOutlet

    private var core: ClientCore
    /// What the last look-up of each server found, for transports that try all addresses at once.
    private var addresses: [Endpoint: [Endpoint]] = [:]
    private var connection: (epoch: ConnectionEpoch, connection: any Connection)?
    private var deadline: (any Deadline)?
    private var storageTask: Task<Void, Never>?
    private var tokenTask: Task<Void, Never>?
    private var waits: [SendTicket: SendWait] = [:]
    private var uploads: [SendID: Task<Void, Never>] = [:]
    private var receipts = ReceiptBook()
    private var receiptDeadline: (any Deadline)?

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        context.asUnownedSerialExecutor()
    }

    init(
        configuration: IMServiceConfiguration, storage: any ClientStorage,
        transport: any ClientTransport, outlet: ClientOutlet
    ) {
        self.configuration = configuration
        self.storage = storage
        self.transport = transport
        self.outlet = outlet
        context = transport.context
        var coreConfiguration = configuration.core
        coreConfiguration.hasTokenSource = configuration.tokenSource != nil
        core = ClientCore(
            configuration: coreConfiguration, registry: configuration.registry,
            seed: configuration.seed ?? UInt64.random(in: 0...(.max)))
    }

    // MARK: From any thread

    /// Tells the core of an event, behind everything told before.
    ///
    /// - Returns: False when the context has ended and nothing will happen.
    @discardableResult
    nonisolated func post(_ event: ClientEvent) -> Bool {
        context.enqueue { self.assumeIsolated { $0.handle(event) } }
    }

    /// Sends, and resumes the wait when the fate of the message is known.
    nonisolated func post(_ request: SendRequest, wait: SendWait) {
        let isPosted = context.enqueue { self.assumeIsolated { $0.send(request, wait: wait) } }
        if !isPosted { wait.finish(.failure(IMServiceError(.stopped))) }
    }

    /// Withdraws a message if that is still possible, and lets its sender go either way.
    nonisolated func postCancel(_ ticket: SendTicket, wait: SendWait) {
        let isPosted = context.enqueue {
            self.assumeIsolated { runtime in
                runtime.waits[ticket] = nil
                runtime.handle(.sendCancelled(.ticket(ticket)))
                wait.finish(.failure(CancellationError()))
            }
        }
        if !isPosted { wait.finish(.failure(CancellationError())) }
    }

    /// Does something on the context and gives its result; nil when the context has ended.
    ///
    /// A call of an actor whose executor has ended would never return.
    private nonisolated func onContext<Result: Sendable>(
        _ body: @escaping @Sendable (isolated ClientRuntime) -> Result
    ) async -> Result? {
        await withCheckedContinuation { continuation in
            let isPosted = context.enqueue {
                self.assumeIsolated { runtime in continuation.resume(returning: body(runtime)) }
            }
            if !isPosted { continuation.resume(returning: nil) }
        }
    }

    /// Withdraws a message; tells whether it was still possible.
    nonisolated func withdraw(_ reference: SendReference) async -> SendWithdrawal {
        await onContext { runtime in
            guard runtime.core.isRunning else { return .tooLate }
            let withdrawal = runtime.core.withdrawal(of: reference)
            if withdrawal != .tooLate { runtime.handle(.sendCancelled(reference)) }
            return withdrawal
        } ?? .tooLate
    }

    /// Whether the service is logged in, after everything that was asked for before.
    nonisolated func isOnline() async -> Bool {
        await onContext { $0.core.isOnline } ?? false
    }

    /// Writes something that nobody keeps; false when there is no connection.
    nonisolated func sendLive(_ packet: Packet) async -> Bool {
        await onContext { runtime in
            // What is remembered for the next login needs no connection now.
            guard runtime.core.isOnline || packet.command == .unreadCount else { return false }
            runtime.handle(.livePacketRequested(packet))
            return true
        } ?? false
    }

    /// Stops, and returns when the storage has answered and the connection is given up.
    nonisolated func stop() async {
        let task = await onContext { runtime in
            runtime.handle(.stopped)
            return runtime.storageTask
        }
        await task??.value
    }

    // MARK: On the context

    private func handle(_ event: ClientEvent) {
        let wasRunning = core.isRunning
        if case .sendRequested(let request) = event, !wasRunning { return refuse(request) }
        var event = event
        if case .restored(var restored) = event {
            outlet.restored(restored.outbox)
            findUploads(in: &restored)
            event = .restored(restored)
        }
        for action in core.handle(event, at: now) { perform(action) }
        if wasRunning, !core.isRunning { rest() }
    }

    private var now: ClientInstant {
        ClientInstant(sinceStart: .nanoseconds(Int64(clamping: context.nowNanoseconds)))
    }

    private func send(_ request: SendRequest, wait: SendWait) {
        guard !wait.isFinished else { return outlet.ended(request) }
        waits[request.ticket] = wait
        handle(.sendRequested(request))
    }

    /// The service was stopped between the request and its turn.
    private func refuse(_ request: SendRequest) {
        let entry = OutboxEntry(
            id: SendID(rawValue: 0), uuid: request.uuid, command: request.command, body: request.body,
            flags: request.flags, createdMilliseconds: request.createdMilliseconds)
        notify([.sendChanged(SendReport(entry: entry, ticket: request.ticket, step: .cancelled))])
    }

    /// Lets go of what belongs to the context and of everyone who waits.
    private func rest() {
        deadline?.close()
        deadline = nil
        tokenTask?.cancel()
        for upload in uploads.values { upload.cancel() }
        uploads = [:]
        receipts = ReceiptBook()
        receiptDeadline?.close()
        receiptDeadline = nil
        let ended = waits.values
        waits = [:]
        for wait in ended { wait.finish(.failure(IMServiceError(.stopped))) }
    }

    private func perform(_ action: ClientAction) {
        switch action {
        case .restore: restore()
        case .resolve(let endpoint): resolve(endpoint)
        case .open(let epoch, let endpoint, let address): open(epoch, endpoint, address)
        case .write(let epoch, let bytes): if isCurrent(epoch) { connection?.connection.write(bytes) }
        case .close(let epoch): close(epoch)
        case .setReading(let epoch, let isOn):
            if isCurrent(epoch) { connection?.connection.setReading(isOn) }
        case .commit(let batch): commit(batch)
        case .notify(let notifications): notify(notifications)
        case .upload(let entry): upload(entry)
        case .cancelUpload(let id): uploads.removeValue(forKey: id)?.cancel()
        case .askToken(let refusals): askToken(refusals)
        case .setDeadline(let instant): setDeadline(instant)
        }
    }

    // MARK: Storage

    private func restore() {
        storageTask = Task.detached { [storage, weak self] in
            do {
                let restored = try await storage.restore()
                self?.post(.restored(restored))
            } catch {
                self?.configuration.logger.log(.error, "The storage cannot be read", describe(error))
                self?.post(.restoreFailed)
            }
        }
    }

    private func commit(_ batch: StorageBatch) {
        configuration.metrics.add("commits")
        storageTask = Task.detached { [storage, weak self] in
            do {
                let outcome = try await storage.commit(batch)
                self?.post(.committed(batch: batch.id, outcome))
            } catch {
                self?.configuration.logger.log(.error, "The storage refused a batch", describe(error))
                self?.post(.commitFailed(batch: batch.id))
            }
        }
    }

    private func askToken(_ refusals: Int) {
        guard let source = configuration.tokenSource else { return }
        tokenTask?.cancel()
        tokenTask = Task.detached { [weak self] in
            let token = await source(refusals)
            guard !Task.isCancelled else { return }
            self?.post(.tokenProvided(token))
        }
    }

    /// Finds the messages of an earlier run that still refer to something on this device.
    private func findUploads(in restored: inout RestoredState) {
        guard let uploader = configuration.uploader else { return }
        for index in restored.outbox.indices {
            let entry = restored.outbox[index]
            restored.outbox[index].needsUpload = uploader.needsUpload(entry.command, entry.body)
        }
    }

    private func upload(_ entry: OutboxEntry) {
        guard let uploader = configuration.uploader else { return handle(.uploadFailed(entry.id)) }
        configuration.metrics.add("uploads")
        uploads[entry.id] = Task.detached { [weak self] in
            do {
                let body = try await uploader.upload(entry)
                guard !Task.isCancelled else { return }
                self?.post(.uploadFinished(entry.id, body))
            } catch {
                guard !Task.isCancelled else { return }
                self?.configuration.logger.log(.warning, "An upload failed", describe(error))
                self?.post(.uploadFailed(entry.id))
            }
        }
    }

    // MARK: Network

    private func resolve(_ endpoint: ClientEndpoint) {
        transport.resolve(Endpoint(host: endpoint.host, port: endpoint.port)) { [weak self] result in
            self?.assumeIsolated { runtime in
                switch result {
                case .success(let addresses): runtime.resolved(endpoint, addresses)
                case .failure: runtime.handle(.resolveFailed(endpoint))
                }
            }
        }
    }

    /// A transport that races the addresses is asked once for all of them, so the core is told of one.
    private func resolved(_ endpoint: ClientEndpoint, _ found: [Endpoint]) {
        addresses[Endpoint(host: endpoint.host, port: endpoint.port)] = found
        let hosts = found.map(\.host)
        handle(
            .resolved(endpoint, addresses: transport.racesAddresses ? Array(hosts.prefix(1)) : hosts))
    }

    private func open(_ epoch: ConnectionEpoch, _ endpoint: ClientEndpoint, _ address: String) {
        configuration.metrics.add("connections")
        let server = Endpoint(host: endpoint.host, port: endpoint.port)
        let target = Endpoint(host: address, port: endpoint.port)
        let targets = transport.racesAddresses ? addresses[server] ?? [target] : [target]
        let made = transport.connect(to: targets, of: server) { [weak self] event in
            self?.assumeIsolated { $0.connectionChanged(epoch, event) }
        }
        connection = (epoch, made)
    }

    private func connectionChanged(_ epoch: ConnectionEpoch, _ event: ConnectionEvent) {
        switch event {
        case .opened: handle(.opened(epoch))
        case .bytes(let bytes): handle(.received(epoch, bytes))
        case .drained: break
        case .closed(let end):
            if isCurrent(epoch) { connection = nil }
            handle(.closed(epoch, CloseReason(end)))
        }
    }

    private func close(_ epoch: ConnectionEpoch) {
        guard isCurrent(epoch) else { return }
        connection?.connection.close()
        connection = nil
    }

    private func isCurrent(_ epoch: ConnectionEpoch) -> Bool {
        connection?.epoch == epoch
    }

    // MARK: Time

    private func setDeadline(_ instant: ClientInstant?) {
        guard let instant else {
            deadline?.disarm()
            return
        }
        if deadline == nil {
            do {
                deadline = try context.makeDeadline { [weak self] in
                    self?.assumeIsolated { $0.handle(.deadline) }
                }
            } catch {
                configuration.logger.log(.error, "No timer can be made", describe(error))
            }
        }
        deadline?.arm(at: instant.nanoseconds)
    }

    // MARK: Receipts

    /// Tells authors that their messages arrived, as often as may be.
    private func sendReceipts() {
        guard core.isOnline else { return }
        for packet in receipts.takeDue(by: configuration.identity.uid, at: now) {
            // Behind the event at hand.
            post(.livePacketRequested(packet))
        }
        guard let next = receipts.nextDue else { return }
        if receiptDeadline == nil {
            do {
                receiptDeadline = try context.makeDeadline { [weak self] in
                    self?.assumeIsolated { $0.sendReceipts() }
                }
            } catch {
                configuration.logger.log(.error, "No timer can be made", describe(error))
            }
        }
        receiptDeadline?.arm(at: next.nanoseconds)
    }

    // MARK: Notifications

    private func notify(_ notifications: [ClientNotification]) {
        outlet.tell(notifications)
        if configuration.sendsDeliveryReceipts, configuration.core.profile == .current {
            for case .message(let message) in notifications { receipts.add(message) }
            sendReceipts()
        }
        for case .sendChanged(let report) in notifications where report.step.isLast {
            guard let ticket = report.ticket, let wait = waits.removeValue(forKey: ticket) else { continue }
            if let error = IMServiceError(report.step) {
                wait.finish(.failure(error))
            } else {
                wait.finish(.success(report))
            }
        }
    }
}

/// The name of an error's type and nothing of its contents, which may be a user's.
private func describe(_ error: any Error) -> [String: String] {
    ["error": String(describing: type(of: error))]
}

extension ClientInstant {
    /// The moment on the context's clock, rounded up: a timer that fires a moment early would wake for nothing.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = sinceStart.components
        return UInt64(clamping: seconds) &* 1_000_000_000 &+ UInt64(clamping: attoseconds / 1_000_000_000 + 1)
    }
}

extension CloseReason {
    init(_ end: ConnectionEnd) {
        switch end {
        case .closedHere: self.init(rawValue: "closed_here")
        case .closedByPeer: self = .endOfStream
        case .failed(let error) where error.code.hasPrefix("TLS_") || error.code.hasPrefix("PROXY_"):
            self.init(rawValue: error.code.lowercased())
        case .failed(let error): self = error.code == "ECONNREFUSED" ? .refused : .failed
        }
    }
}
