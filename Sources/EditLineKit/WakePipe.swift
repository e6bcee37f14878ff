internal import CEditLine
internal import Synchronization

/// What ended or interrupted the reading of a line from outside.
public enum EditorSignal: UInt8, Sendable {
    /// Ctrl-C.
    case interrupt = 0x49  // I
    /// The polite request to end.
    case terminate = 0x54  // T
    /// The terminal went away.
    case hangUp = 0x48  // H

    /// The number by which a shell reports it: the exit status is 128 more.
    public var number: Int32 {
        switch self {
        case .interrupt: SIGINT
        case .terminate: SIGTERM
        case .hangUp: SIGHUP
        }
    }
}

/// The pipe through which signals and other threads wake whoever reads the keyboard.
final class WakePipe: Sendable {
    enum Event: Equatable {
        case output
        case cancelled
        case signal(EditorSignal)
        case resized
        case suspended
    }

    let reader: Int32
    private let writer: Int32

    init() throws(LineEditorError) {
        var ends: (Int32, Int32) = (-1, -1)
        let result = unsafe withUnsafeMutableBytes(of: &ends) { bytes in
            // The tuple is two ints in a row, which is what pipe(2) fills.
            unsafe bytes.baseAddress.map { unsafe editkit_make_pipe($0.assumingMemoryBound(to: Int32.self)) }
                ?? -1
        }
        guard result == 0 else { throw LineEditorError(message: "cannot make a pipe (error \(-result))") }
        (reader, writer) = ends
    }

    deinit {
        releaseSignals()
        _ = close(reader)
        _ = close(writer)
    }

    /// Wakes the reader; a full pipe has woken it already.
    func send(_ event: Event) {
        let byte: UInt8 =
            switch event {
            case .output: 0x50
            case .cancelled: 0x43
            case .signal(let signal): signal.rawValue
            case .resized: 0x57
            case .suspended: 0x5A
            }
        editkit_signal_byte(writer, CChar(bitPattern: byte))
    }

    /// Everything that was sent since the last call, each kind once.
    func receive() -> [Event] {
        var events: [Event] = []
        while true {
            let bytes = readBytes(from: reader)
            guard let bytes, !bytes.isEmpty else { return events }
            for byte in bytes {
                let event: Event? =
                    switch byte {
                    case 0x50: .output
                    case 0x43: .cancelled
                    case 0x57: .resized
                    case 0x5A: .suspended
                    default: EditorSignal(rawValue: byte).map { .signal($0) }
                    }
                if let event, !events.contains(event) { events.append(event) }
            }
        }
    }

    /// Sends the terminal's signals here instead of letting them have their usual effect; one pipe at a time.
    func catchSignals() {
        signalDescriptor.store(writer, ordering: .relaxed)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP] {
            var old = sigaction()
            unsafe editkit_handle(number, WakePipe.handler, &old)
            savedActions.withLock { if $0[number] == nil { $0[number] = old } }
        }
    }

    /// Gives the signals their earlier effect again, if they are sent here.
    func releaseSignals() {
        if signalDescriptor.compareExchange(expected: writer, desired: -1, ordering: .relaxed).exchanged {
            for (number, old) in savedActions.withLock({ exchange(&$0, with: [:]) }) {
                unsafe withUnsafePointer(to: old) { unsafe editkit_restore(number, $0) }
            }
        }
    }

    /// Stops the process as Ctrl-Z does, and returns when it continues.
    func suspend() {
        editkit_handle(SIGTSTP, nil, nil)
        _ = raise(SIGTSTP)
        editkit_handle(SIGTSTP, WakePipe.handler, nil)
    }

    private static let handler: @convention(c) (Int32) -> Void = { number in
        let byte: UInt8 =
            switch number {
            case SIGINT: EditorSignal.interrupt.rawValue
            case SIGTERM: EditorSignal.terminate.rawValue
            case SIGHUP: EditorSignal.hangUp.rawValue
            case SIGWINCH: 0x57
            default: 0x5A
            }
        editkit_signal_byte(signalDescriptor.load(ordering: .relaxed), CChar(bitPattern: byte))
    }
}

// Where the signal handler writes. It was touched, and so initialised, before the handler is installed.
private let signalDescriptor = Atomic<Int32>(-1)
private let savedActions = Mutex<[Int32: sigaction]>([:])

/// What can be read now: nil when nothing can, empty at the end of input.
func readBytes(from descriptor: Int32) -> [UInt8]? {
    unsafe withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { buffer -> [UInt8]? in
        // `read` fills at most the buffer, and its result says how much of it.
        let count = unsafe editkit_read(descriptor, buffer.baseAddress, UInt(buffer.count))
        if count == -Int(EAGAIN) || count == -Int(EINTR) { return nil }
        return unsafe count <= 0 ? [] : [UInt8](buffer[..<count])
    }
}
