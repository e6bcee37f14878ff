import RivuletWire

/// Messages that wait for an upload: a picture is sent once its bytes are where others can get them.
extension ClientCore {
    /// Asks for the next uploads, in the order of the requests.
    mutating func startUploads() {
        guard isStarted, outbox.hasHeld else { return }
        for id in outbox.heldIDs {
            guard uploads.count < configuration.uploadCountMax else { return }
            guard let slot = outbox.slots[id], slot.stage == .waiting, uploads.insert(id).inserted else {
                continue
            }
            actions.append(.upload(slot.entry))
        }
    }

    /// Takes the body that names what was uploaded; it is written once the storage has it.
    mutating func finishUpload(_ id: SendID, _ body: PacketBody) {
        guard isStarted, let slot = outbox.slots[id], slot.entry.needsUpload, slot.stage == .waiting else {
            return
        }
        uploads.remove(id)
        guard isEncodable(slot.entry.command, body, slot.entry.flags) else {
            return finish(id, as: .failed(.notEncodable))
        }
        guard let entry = outbox.markUploaded(id, body: body) else { return }
        commits.next.changes.append(.uploaded(entry))
        commits.next.effects.append(.releaseUploaded(id))
    }

    mutating func failUpload(_ id: SendID) {
        guard isStarted, let slot = outbox.slots[id], slot.entry.needsUpload else { return }
        uploads.remove(id)
        finish(id, as: .failed(.uploadFailed))
    }

    mutating func releaseUploaded(_ id: SendID) {
        _ = outbox.release(id)
    }
}
