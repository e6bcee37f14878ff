/// A hash table from identities to places in a list, of which it stores neither: only numbers.
///
/// Open addressing with linear probing at a load of at most one half; a slot keeps half of the hash beside the place,
/// so that other identities are hardly ever compared. Equal identities form a chain and are taken one by one.
@usableFromInline
struct IdentityTable {
    /// Hash bits above, place + 1 below; 0 is empty, all ones below means that all of this identity are taken.
    @usableFromInline var slots: [UInt64]
    /// The next place of the same identity, or -1; empty until an identity occurs twice.
    @usableFromInline var following: [Int32] = []
    @usableFromInline let mask: Int
    @usableFromInline let count: Int
    /// How many more slots may be passed over before the hashes count as bad.
    @usableFromInline var patience: Int

    @inlinable
    init(count: Int) {
        var capacity = 16
        while capacity < 2 * count { capacity *= 2 }
        slots = [UInt64](repeating: 0, count: capacity)
        mask = capacity - 1
        patience = 64 + 32 * count
        self.count = count
    }

    /// Whether the hashes collided too often to go on.
    @inlinable
    var hasGivenUp: Bool { patience <= 0 }

    /// Spreads a hash, which may be a plain number, over all bits.
    @inlinable
    static func mixed(_ hash: UInt64) -> UInt64 {
        var mixed = hash &* 0x9E37_79B9_7F4A_7C15
        mixed ^= mixed >> 32
        mixed = mixed &* 0xD6E8_FEB8_6659_FD93
        return mixed ^ (mixed >> 32)
    }

    /// Adds a place; one of an identity that is there already will be taken before it.
    ///
    /// - Returns: False when the hashes collide too often to go on.
    @inlinable
    mutating func insert(_ place: Int32, hash: UInt64, isSame: (Int32) -> Bool) -> Bool {
        let mixed = Self.mixed(hash)
        let tag = mixed & 0xFFFF_FFFF_0000_0000
        var slot = Int(truncatingIfNeeded: mixed) & mask
        while slots[slot] != 0 {
            if slots[slot] & 0xFFFF_FFFF_0000_0000 == tag {
                let head = Int32(truncatingIfNeeded: slots[slot] & 0xFFFF_FFFF) - 1
                if isSame(head) {
                    if following.isEmpty { following = [Int32](repeating: -1, count: count) }
                    following[Int(place)] = head
                    break
                }
            }
            patience -= 1
            guard patience > 0 else { return false }
            slot = (slot + 1) & mask
        }
        slots[slot] = tag | UInt64(place + 1)
        return true
    }

    /// Takes the first remaining place of an identity out.
    ///
    /// Nil is no answer once ``hasGivenUp`` is true.
    @inlinable
    mutating func take(hash: UInt64, isSame: (Int32) -> Bool) -> Int32? {
        let mixed = Self.mixed(hash)
        let tag = mixed & 0xFFFF_FFFF_0000_0000
        var slot = Int(truncatingIfNeeded: mixed) & mask
        while slots[slot] != 0 {
            let low = slots[slot] & 0xFFFF_FFFF
            if slots[slot] & 0xFFFF_FFFF_0000_0000 == tag, low != 0xFFFF_FFFF {
                let head = Int32(truncatingIfNeeded: low) - 1
                if isSame(head) {
                    let next = following.isEmpty ? -1 : following[Int(head)]
                    slots[slot] = tag | (next < 0 ? 0xFFFF_FFFF : UInt64(next + 1))
                    return head
                }
            }
            patience -= 1
            guard patience > 0 else { return nil }
            slot = (slot + 1) & mask
        }
        return nil
    }
}
