import RivuletWire

/// The storage's answers, and what they set free.
extension ClientCore {
    mutating func applyStorageAnswer(_ event: ClientEvent) {
        switch event {
        case .restored(let restored): finishRestoration(restored)
        case .restoreFailed: restorationFailed()
        case .committed(let batch, let outcome): committed(batch, outcome)
        case .commitFailed(let batch): commitFailed(batch)
        default: break
        }
    }

    private mutating func finishRestoration(_ restored: RestoredState) {
        guard restoration == .underway else { return }
        restoration = .done
        commits.failures = 0
        queues = [.peer: QueueState(key: restored.peerKey)]
        for (group, key) in restored.groupKeys { queues[.group(group)] = QueueState(key: key) }
        outbox.restore(restored.outbox, lastID: restored.lastSendID)
        let requests = requestsBeforeRestoration
        requestsBeforeRestoration = []
        for request in requests { submit(request) }
        applyGroupWishes()
        followWishes()
    }

    private mutating func restorationFailed() {
        guard restoration == .underway else { return }
        report(ClientDiagnostic(.restoreFailed))
        guard isStarted else {
            restoration = .needed
            return
        }
        commits.failures = min(commits.failures + 1, 30)
        restoration = .retryAt(now + drawDelay(failures: commits.failures))
    }

    private mutating func committed(_ id: UInt64, _ outcome: CommitOutcome) {
        guard let inFlight = commits.inFlight, inFlight.id == id else { return }
        commits.inFlight = nil
        commits.failures = 0
        for change in inFlight.stage.changes {
            switch change {
            case .peerKey(let key): queues[.peer]?.committedKey = key
            case .groupKey(let group, let key): queues[.group(group)]?.committedKey = key
            default: break
            }
        }
        perform(inFlight.stage.effects, isNew: outcome.isNew)
    }

    private mutating func commitFailed(_ id: UInt64) {
        guard let inFlight = commits.inFlight, inFlight.id == id else { return }
        report(ClientDiagnostic(.commitFailed))
        commits.takeBackFailedBatch()
        commits.failures = min(commits.failures + 1, 30)
        let retryAt = now + drawDelay(failures: commits.failures)
        commits.retryAt = retryAt
        for queue in queues.keys { queues[queue]?.rollBack() }
        guard link.holdsConnection else { return }
        tearDown()
        report(.unconnected)
        link = .waiting(until: retryAt)
    }

    /// Gives the storage the next batch when it is free; lets through what waits for no change.
    mutating func advanceCommits() {
        guard isStarted else { return }
        perform(commits.takeFreeEffects(), isNew: [])
        guard let batch = commits.takeBatch() else { return }
        flushBytes()
        actions.append(.commit(batch))
    }

    private mutating func perform(_ effects: [CommitPipeline.Effect], isNew: [Bool]) {
        var announcedCount = 0
        var keys: [QueuePlace] = []
        for effect in effects {
            switch effect {
            case .acknowledge(let sequence, let epoch):
                guard isCurrent(epoch) else { continue }
                write(.ack, .ack(Acknowledgement(sequence: sequence)))
            case .reportKey(let place, let epoch):
                guard isCurrent(epoch) else { continue }
                // Only the last key of each queue says something new.
                keys.removeAll { $0.queue == place.queue }
                keys.append(place)
            case .announce(let message):
                let isKnown = announcedCount < isNew.count && !isNew[announcedCount]
                announcedCount += 1
                if !isKnown { notifications.append(.message(message)) }
            case .tell(let notification):
                notifications.append(notification)
            case .release(let id):
                release(id)
            case .releaseUploaded(let id):
                releaseUploaded(id)
            case .end(let id, let step):
                endSend(id, as: step)
            }
        }
        for place in keys { writeKey(place) }
    }

    private func isCurrent(_ epoch: ConnectionEpoch) -> Bool {
        epoch == self.epoch && link.isOnline
    }

    private mutating func writeKey(_ place: QueuePlace) {
        switch place.queue {
        case .peer: write(.syncKey, .syncKey(place.key))
        case .group(let group):
            write(.groupSyncKey, .groupSyncKey(GroupSyncKey(groupID: group, key: place.key)))
        }
    }
}
