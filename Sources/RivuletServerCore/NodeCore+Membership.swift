import RivuletModel
import RivuletWire

// Changes of groups, bans and friends, as the directory made them.
extension NodeCore {
    mutating func takeChanges(_ changes: [MembershipChange], at time: WallTime) {
        for change in changes {
            do {
                try memberships.apply(change, at: time)
            } catch {
                // The directory refuses what cannot be applied, before it tells anybody.
                continue
            }
        }
    }
}
