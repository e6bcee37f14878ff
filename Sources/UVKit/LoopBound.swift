/// A value that may be carried anywhere but touched only on its event loop.
///
/// It makes a type that lives on one loop `Sendable` without a lock: every access checks that it happens on the loop's
/// thread and traps otherwise, so a mistake is found by the first test that makes it.
public final class LoopBound<Value>: @unchecked Sendable {  // Invariant: below.
    // `storage` is read and written only after `preconditionOnLoop`, so all access is from one thread.
    private var storage: Value
    /// The loop to which the value belongs.
    public let loop: EventLoop

    /// Binds a value to a loop; must be called on it.
    public init(_ value: Value, loop: EventLoop) {
        loop.preconditionOnLoop()
        self.storage = value
        self.loop = loop
    }

    /// The value; traps off the loop.
    public var value: Value {
        get {
            loop.preconditionOnLoop()
            return storage
        }
        set {
            loop.preconditionOnLoop()
            storage = newValue
        }
    }
}
