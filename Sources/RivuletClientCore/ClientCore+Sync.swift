import RivuletWire

/// Rounds of sync and live pushes (docs/protocol.md, section 11).
extension ClientCore {
    /// How many super groups a server may make known by notifies.
    private static let groupCountMax = 10_000
    /// How many super groups are asked at a time.
    private static let runningRoundCountMax = 16

    /// Asks for everything after the key.
    mutating func startRound(_ queue: MessageQueue) {
        guard let silentRoundCount = queues[queue]?.silentRoundCount else { return }
        let patience = min(
            configuration.roundGuard * (1 << min(silentRoundCount, 6)),
            max(configuration.roundGuard, configuration.backoffMax))
        queues[queue]?.begin(guardAt: now + patience)
        if !runningRounds.contains(queue) { runningRounds.append(queue) }
        // 0 would mean the key that another device of this user reported last, in either kind of queue.
        let stored = queues[queue]?.key ?? 0
        let key = stored > 0 ? stored : -1
        switch queue {
        case .peer:
            write(.sync, .syncKey(key))
        case .group(let group):
            write(.syncGroup, .groupSyncKey(GroupSyncKey(groupID: group, key: key)))
        }
    }

    /// Puts a queue in line to be asked; the user's own comes first.
    mutating func requestRound(_ queue: MessageQueue) {
        guard let state = queues[queue], !state.isWaiting, !state.isRunning else { return }
        queues[queue]?.isWaiting = true
        waitingRounds.insert(queue, at: queue == .peer ? 0 : waitingRounds.count)
    }

    /// Starts the rounds that were asked for, once the last one is with the storage: one page at a time.
    mutating func startPendingRounds() {
        guard isStarted, link.isOnline, commits.uncommittedCount == 0 else { return }
        while let queue = waitingRounds.first,
            queue == .peer || runningRounds.count < Self.runningRoundCountMax
        {
            waitingRounds.removeFirst()
            queues[queue]?.isWaiting = false
            startRound(queue)
        }
    }

    /// Takes a queue out of those that are being asked.
    private mutating func roundStopped(_ queue: MessageQueue) {
        queues[queue]?.isRunning = false
        queues[queue]?.guardAt = nil
        runningRounds.removeAll { $0 == queue }
    }

    /// Forgets all rounds, for the end of a connection.
    mutating func abandonRounds() {
        for queue in queues.keys { queues[queue]?.abandonRound() }
        runningRounds = []
        waitingRounds = []
        collectedByteCount = 0
    }

    /// Follows a super group that the app knows of.
    mutating func addSuperGroup(_ group: Int64, key: Int64) {
        guard configuration.profile == .current, isStarted else { return }
        guard restoration == .done else {
            return noteGroupWish(group, key: key)
        }
        let queue = MessageQueue.group(group)
        if queues[queue] == nil {
            guard queues.count <= Self.groupCountMax else { return }
            queues[queue] = QueueState(key: nil)
        }
        if key > 0, queues[queue]?.key != key {
            queues[queue]?.key = key
            // The app has what is before it, whatever becomes of the batch: nothing of that is to come again.
            queues[queue]?.committedKey = key
            commits.next.changes.append(.groupKey(group: group, key: key))
        }
        if link.isOnline { requestRound(queue) }
    }

    /// Follows a super group no longer, after the next start neither.
    mutating func removeSuperGroup(_ group: Int64) {
        guard configuration.profile == .current, isStarted else { return }
        guard restoration == .done else { return noteGroupWish(group, key: nil) }
        let queue = MessageQueue.group(group)
        guard let state = queues.removeValue(forKey: queue) else { return }
        commits.next.changes.append(.groupRemoved(group))
        collectedByteCount -= state.collected.reduce(0) { $0 + $1.weight }
        runningRounds.removeAll { $0 == queue }
        waitingRounds.removeAll { $0 == queue }
    }

    mutating func removeSuperGroups() {
        guard restoration == .done else {
            groupsBeforeRestoration = [:]
            areGroupsRemovedBeforeRestoration = true
            return
        }
        for case .group(let group) in queues.keys.sorted(by: MessageQueue.isOrdered) {
            removeSuperGroup(group)
        }
    }

    private mutating func noteGroupWish(_ group: Int64, key: Int64?) {
        let isKnown = groupsBeforeRestoration[group] != nil
        guard isKnown || groupsBeforeRestoration.count < Self.groupCountMax else { return }
        groupsBeforeRestoration[group] = .some(key)
    }

    /// Does with the restored groups what the app asked for before they were known.
    mutating func applyGroupWishes() {
        let wishes = groupsBeforeRestoration
        groupsBeforeRestoration = [:]
        if areGroupsRemovedBeforeRestoration { removeSuperGroups() }
        areGroupsRemovedBeforeRestoration = false
        for (group, key) in wishes.sorted(by: { $0.key < $1.key }) {
            if let key {
                addSuperGroup(group, key: key)
            } else {
                removeSuperGroup(group)
            }
        }
    }

    mutating func receiveSyncPacket(_ packet: Packet) {
        switch (packet.command, packet.body) {
        case (.syncBegin, .syncKey): roundMoved(.peer)
        case (.syncEnd, .syncKey(let key)): endRound(.peer, key: key)
        case (.syncNotify, .syncKey(let key)): receiveNotify(.peer, key: key)
        case (.syncGroupBegin, .groupSyncKey(let end)): roundMoved(.group(end.groupID))
        case (.syncGroupEnd, .groupSyncKey(let end)): endRound(.group(end.groupID), key: end.key)
        case (.syncGroupNotify, .groupSyncKey(let notify)):
            let queue = MessageQueue.group(notify.groupID)
            if queues[queue] == nil, queues.count <= Self.groupCountMax {
                queues[queue] = QueueState(key: nil)
            }
            receiveNotify(queue, key: notify.key)
        default: break
        }
    }

    private mutating func receiveNotify(_ queue: MessageQueue, key: Int64) {
        guard let state = queues[queue] else { return }
        queues[queue]?.pending = max(state.pending, key)
        if let guardAt = state.guardAt, guardAt <= now { roundStopped(queue) }
        if queues[queue]?.hasMore == true { requestRound(queue) }
    }

    mutating func roundMoved(_ queue: MessageQueue) {
        guard queues[queue]?.isRunning == true else { return }
        queues[queue]?.guardAt = now + configuration.roundGuard
    }

    private mutating func endRound(_ queue: MessageQueue, key: Int64) {
        guard queues[queue] != nil else { return }
        roundStopped(queue)
        queues[queue]?.silentRoundCount = 0
        stageCollected(queue)
        // A key may go backwards, after a reset of the server's data; −1 and a first 0 are echoes of the question.
        let current = queues[queue]?.key
        if key != current, key > 0 || (key == 0 && current != nil) {
            moveKey(to: QueuePlace(queue: queue, key: key))
        }
        if queues[queue]?.hasMore == true { requestRound(queue) }
        commits.next.effects.append(.tell(.roundFinished(queue)))
    }

    mutating func roundTimedOut(_ queue: MessageQueue) {
        report(ClientDiagnostic(.roundTimedOut))
        queues[queue]?.silentRoundCount += 1
        roundStopped(queue)
        requestRound(queue)
    }

    /// Adds a packet to the round that brought it.
    mutating func collect(_ item: QueueState.Collected, in queue: MessageQueue) {
        roundMoved(queue)
        queues[queue]?.collected.append(item)
        collectedByteCount += item.weight
        guard let count = queues[queue]?.collected.count,
            count >= configuration.roundCountMax || collectedByteCount >= configuration.roundBytesMax
        else { return }
        stageCollected(queue)
    }

    private mutating func stageCollected(_ queue: MessageQueue) {
        guard let collected = queues[queue]?.collected, !collected.isEmpty else { return }
        queues[queue]?.collected = []
        for item in collected {
            collectedByteCount -= item.weight
            stage(item)
        }
    }

    /// Makes a packet part of the next batch.
    mutating func stage(_ item: QueueState.Collected) {
        commits.next.effects.append(.acknowledge(sequence: item.sequence, epoch))
        guard let message = item.message else { return }
        commits.next.changes.append(.received(message))
        commits.next.effects.append(.announce(message))
        commits.next.receivedCount += 1
        commits.next.byteCount += item.weight
    }

    /// Moves the key of a queue; the server is told when the batch is committed.
    mutating func moveKey(to place: QueuePlace) {
        queues[place.queue]?.key = place.key
        switch place.queue {
        case .peer: commits.next.changes.append(.peerKey(place.key))
        case .group(let group): commits.next.changes.append(.groupKey(group: group, key: place.key))
        }
        commits.next.effects.append(.reportKey(place, epoch))
    }

    /// Takes the METADATA that belongs to the packet with this number, and forgets any other.
    mutating func takeMetadata(before sequence: Int32) -> Metadata? {
        defer { metadata = nil }
        guard let metadata, metadata.sequence &+ 1 == sequence else { return nil }
        return metadata.keys
    }

    /// Whether a live packet with these keys is the very next one of a queue.
    ///
    /// While a round runs, the packet may be part of it as well; it is then left to the round.
    func continuesQueue(_ queue: MessageQueue, _ keys: Metadata) -> Bool {
        guard let state = queues[queue], !state.isCollecting else { return false }
        return keys.syncKey != 0 && keys.previousSyncKey != 0 && state.key == keys.previousSyncKey
    }
}
