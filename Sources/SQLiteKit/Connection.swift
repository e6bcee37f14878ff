import CSQLite
import Synchronization

/// The C handle of one connection and its lifetime.
///
/// `Database` and every `Statement` hold it, so that the handle outlives all statements made from it. It is used by
/// one thread at a time, except for `interrupt`, which SQLite allows from anywhere while the handle is open.
@safe final class Connection {
    private(set) var handle: OpaquePointer?
    let interrupter: Interrupter

    init(handle: OpaquePointer) {
        unsafe self.handle = handle
        interrupter = unsafe Interrupter(handle: handle)
    }

    deinit {
        close()
    }

    /// Closes the handle; statements not yet finalised keep SQLite's side of it alive until they are.
    func close() {
        interrupter.forget()
        guard let open = unsafe handle else { return }
        unsafe handle = nil
        _ = unsafe sqlite3_close_v2(open)
    }

    func requireHandle(_ operation: @autoclosure () -> String) throws -> OpaquePointer {
        guard let open = unsafe handle else {
            throw SQLiteError(code: .closed, message: "the connection is closed", operation: operation())
        }
        return unsafe open
    }

    /// The error that the last call on this connection left.
    func error(_ result: Int32, _ operation: String) -> SQLiteError {
        let text: String
        if let open = unsafe handle, let message = unsafe sqlite3_errmsg(open) {
            text = unsafe String(cString: message)
        } else if let message = unsafe sqlite3_errstr(result) {
            text = unsafe String(cString: message)
        } else {
            text = "unknown"
        }
        return SQLiteError(code: SQLiteError.Code(rawValue: result), message: text, operation: operation)
    }
}

/// Stops the statement that a connection runs, from any thread.
public final class Interrupter: Sendable {
    /// The handle's address while the connection is open.
    ///
    /// The lock is held over the C call, so that the connection
    /// cannot be closed under it.
    private let address: Mutex<UInt>

    init(handle: OpaquePointer) {
        address = Mutex(UInt(bitPattern: handle))
    }

    /// Makes the running statement fail with `SQLITE_INTERRUPT`; does nothing when none runs or after closing.
    public func interrupt() {
        address.withLock { address in
            guard let handle = unsafe OpaquePointer(bitPattern: address) else { return }
            unsafe sqlite3_interrupt(handle)
        }
    }

    func forget() {
        address.withLock { $0 = 0 }
    }
}
