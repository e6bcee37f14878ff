internal import RivuletClient
internal import RivuletModel
internal import RivuletStore

/// What the devices of others say of this user's messages (docs/extensions.md, section 1).
extension ChatAccount {
    /// How many messages a receipt may name; the rest of a longer one is passed over.
    private static let receiptCountMax = 50

    /// Marks messages as delivered while receipts come; ends with the stream.
    static func follow(_ deliveries: AsyncStream<PeerDelivery>, in store: any AccountStore) async {
        for await delivery in deliveries {
            do {
                try await mark(delivery, in: store)
            } catch {
                // The mark is a courtesy: without it the message still shows as accepted.
                continue
            }
        }
    }

    /// Only the one a message was sent to can say that it arrived.
    private static func mark(_ delivery: PeerDelivery, in store: any AccountStore) async throws {
        var uuids: [String] = []
        for uuid in delivery.uuids.prefix(receiptCountMax) {
            guard let message = try await store.message(uuid: uuid), message.isOutgoing,
                message.session == .peer(UserID(delivery.uid))
            else { continue }
            uuids.append(uuid)
        }
        guard !uuids.isEmpty else { return }
        _ = try await store.apply([.deliver(uuids: uuids)])
    }
}
