internal import RivuletWire
internal import Synchronization

/// Observers of the app's own commands: held weakly, each once for a command.
final class CustomObservers: Sendable {
    private struct Key: Hashable {
        var observer: ObjectIdentifier
        var command: Command
    }

    /// Calls an observer; false when it is gone.
    typealias Call = @MainActor @Sendable (Packet) -> Bool

    private struct Entry: Sendable {
        var key: Key
        var number: UInt64
        var call: Call
    }

    private struct State {
        var entries: [Entry] = []
        var lastNumber: UInt64 = 0
    }

    private let state = Mutex(State())

    var isEmpty: Bool { state.withLock { $0.entries.isEmpty } }

    func add(_ observer: ObjectIdentifier, for command: Command, _ call: @escaping Call) {
        let key = Key(observer: observer, command: command)
        state.withLock { state in
            state.lastNumber += 1
            let entry = Entry(key: key, number: state.lastNumber, call: call)
            // The same id may be that of a new object behind one that is gone.
            if let index = state.entries.firstIndex(where: { $0.key == key }) {
                state.entries[index] = entry
            } else {
                state.entries.append(entry)
            }
        }
    }

    func remove(_ observer: ObjectIdentifier, for command: Command) {
        let key = Key(observer: observer, command: command)
        state.withLock { state in state.entries.removeAll { $0.key == key } }
    }

    @MainActor
    func tell(_ packet: Packet) {
        for entry in state.withLock({ $0.entries }) where entry.key.command == packet.command {
            let isThere = state.withLock { state in state.entries.contains { $0.number == entry.number } }
            guard isThere, !entry.call(packet) else { continue }
            state.withLock { state in state.entries.removeAll { $0.number == entry.number } }
        }
    }
}
