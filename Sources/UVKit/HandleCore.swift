internal import CUV

/// Why a stream or listener was closed.
public enum CloseReason: Hashable, Sendable {
    /// This side closed it.
    case closedHere
    /// The other side sent everything and closed.
    case endOfStream
    /// The connection could not be made, or broke.
    case failed(UVError)
    /// The event loop was stopped.
    case loopStopped
}

/// The loop-side half of every wrapper: owns the memory of one libuv handle.
///
/// From a successful initialisation until libuv's close callback the handle holds one reference to its core, so the
/// memory cannot go away under libuv; the close callback gives that reference back, exactly once.
@safe class HandleCore {
    let memory: UnsafeMutableRawPointer
    private(set) var isClosing = false
    private var closeReason = CloseReason.closedHere

    init(
        _ type: uv_handle_type, operation: String, initialise: (UnsafeMutableRawPointer) -> Int32
    ) throws(UVError) {
        // Zeroed memory of the size that libuv states for this kind of handle.
        let byteCount = uv_handle_size(type)
        unsafe memory = .allocate(byteCount: byteCount, alignment: 16)
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
        let result = unsafe initialise(memory)
        guard result == 0 else {
            isClosing = true
            throw UVError(result, operation)
        }
        unsafe uv_handle_set_data(handle, Unmanaged.passRetained(self).toOpaque())
    }

    deinit {
        unsafe memory.deallocate()
    }

    var handle: UnsafeMutablePointer<uv_handle_t> {
        unsafe memory.assumingMemoryBound(to: uv_handle_t.self)
    }

    /// Starts closing, once; later calls do nothing.
    final func close(_ reason: CloseReason) {
        guard !isClosing else { return }
        isClosing = true
        closeReason = reason
        unsafe uv_close(handle) { handle in
            guard let data = unsafe uv_handle_get_data(handle) else { return }
            // Balances the `passRetained` of `init`.
            let core = unsafe Unmanaged<HandleCore>.fromOpaque(data).takeRetainedValue()
            core.didClose(core.closeReason)
        }
        didStartClosing()
    }

    /// Called when libuv no longer watches the handle's descriptor.
    func didStartClosing() {}

    /// Called when libuv has let go of the handle: drop all callbacks here.
    func didClose(_ reason: CloseReason) {}

    static func from(_ handle: UnsafeMutablePointer<uv_handle_t>?) -> HandleCore? {
        // The loop's own handles carry the loop itself as data, and are neither of these kinds.
        guard let handle = unsafe handle else { return nil }
        let type = unsafe uv_handle_get_type(handle)
        guard [UV_TCP, UV_TIMER, UV_POLL, UV_SIGNAL].contains(type) else { return nil }
        return unsafe from(data: uv_handle_get_data(handle))
    }

    static func from(data: UnsafeMutableRawPointer?) -> Self? {
        // Every handle of these kinds was given its retained core in `init`.
        unsafe data.flatMap { unsafe Unmanaged<HandleCore>.fromOpaque($0).takeUnretainedValue() as? Self }
    }
}
