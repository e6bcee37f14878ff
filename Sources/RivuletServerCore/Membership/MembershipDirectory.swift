/// Where memberships are kept across restarts.
///
/// An implementation belongs to one thread. Two exist, one in memory and one on SQLite (`MembershipFile` in
/// `RivuletServer`), under the same contract tests. The running server applies changes through its own and tells
/// ``NodeCore`` of them with ``NodeEvent/membershipsChanged(_:at:)``; a stopped server's file may be changed by a
/// program.
public protocol MembershipDirectory: AnyObject {
    /// What is known now.
    var memberships: Memberships { get }

    /// Makes the changes in order, all or none; they are safe when this returns.
    ///
    /// - Returns: Those that made a difference.
    /// - Throws: ``MembershipError`` for a change that cannot be made, or what the storage throws; then nothing has
    ///   changed.
    func apply(_ changes: [MembershipChange], at now: WallTime) throws -> [MembershipChange]
}

/// A directory that lives as long as the process: the twin of the file for tests, demos and simulations.
public final class MemoryMembershipDirectory: MembershipDirectory {
    /// What is known now.
    public private(set) var memberships: Memberships

    /// Makes a directory that knows this.
    public init(_ memberships: Memberships = Memberships()) {
        self.memberships = memberships
    }

    /// Makes the changes in order, all or none.
    public func apply(_ changes: [MembershipChange], at now: WallTime) throws -> [MembershipChange] {
        var next = memberships
        var effective: [MembershipChange] = []
        for change in changes where try next.apply(change, at: now) { effective.append(change) }
        memberships = next
        return effective
    }
}
