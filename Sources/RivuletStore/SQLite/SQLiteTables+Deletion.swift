import RivuletModel
import SQLiteKit

extension SQLiteTables {
    /// Decides whether this transaction overwrites all that it deletes.
    ///
    /// Freed pages are zeroed only with `secure_delete = ON`, which makes a first sync slower, since the index of the
    /// search frees pages all the time. So transactions that only bring messages go without, unless something of a
    /// message that burns may be deleted or moved by them: then, and for all others, everything is overwritten.
    func chooseDeletion(for operations: [StoreOperation]) throws {
        var isBulk = true
        var hasOwn = false
        for operation in operations {
            switch operation {
            case .receive(let message):
                if message.content.envelope.burnSeconds != nil || message.content.message == nil {
                    isBulk = false
                }
                if message.isOutgoing { hasOwn = true }
            case .setKey: break
            default: isBulk = false
            }
            if !isBulk { break }
        }
        // The copy of an own message deletes its entry in the outbox.
        if isBulk, hasOwn, try database.integer("SELECT EXISTS (SELECT 1 FROM outbox)") == 1 {
            isBulk = false
        }
        try database.setSecureDeletion(isBulk ? .fast : .full)
    }
}
