/// Where memberships are kept across restarts.
///
/// An implementation belongs to one thread. Two exist, one in memory and one on SQLite (`MembershipFile` in
/// `RivuletServer`), under the same contract tests. The running server applies changes through its own and tells
/// ``NodeCore`` of them with ``NodeEvent/membershipsChanged(_:at:after:)``; a stopped server's file may be changed by a
/// program.
public protocol MembershipDirectory: AnyObject {
    /// What is known now.
    var memberships: Memberships { get }

    /// Makes the changes in order, all or none; they are safe when this returns.
    ///
    /// - Parameters:
    ///   - changes: What is to be.
    ///   - now: When, for new groups and members.
    ///   - key: The last key that the message log has given, for new members; nil when it is not known.
    /// - Returns: Those that made a difference.
    /// - Throws: ``MembershipError`` for a change that cannot be made, or what the storage throws; then nothing has
    ///   changed.
    func apply(
        _ changes: [MembershipChange], at now: WallTime, after key: Int64?
    ) throws -> [MembershipChange]
}

extension MembershipDirectory {
    /// Makes the changes of somebody who does not know the message log; new members are told by their time.
    public func apply(_ changes: [MembershipChange], at now: WallTime) throws -> [MembershipChange] {
        try apply(changes, at: now, after: nil)
    }
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
    public func apply(
        _ changes: [MembershipChange], at now: WallTime, after key: Int64?
    ) throws -> [MembershipChange] {
        var next = memberships
        var effective: [MembershipChange] = []
        for change in changes where try next.apply(change, at: now, after: key) { effective.append(change) }
        memberships = next
        return effective
    }
}
