import RivuletModel

/// What a viewer knows of shared places: a value, so that it can be tried without a network.
struct SharedPlaces {
    /// A position greys after this time without a newer one.
    static let staleMilliseconds: Int64 = 30_000

    /// One sharing.
    struct Place: Equatable {
        let user: UserID
        let untilMilliseconds: Int64
        var position: Position?
    }

    private(set) var places: [String: Place] = [:]

    /// Takes a start or an end.
    mutating func take(_ location: LiveLocation, from user: UserID, at now: Int64) {
        guard places[location.session].map({ $0.user == user }) ?? true else { return }
        if location.ended == 1 || location.untilMilliseconds <= now {
            places[location.session] = nil
        } else {
            places[location.session] = Place(user: user, untilMilliseconds: location.untilMilliseconds)
        }
    }

    /// Takes a position; false for one that is too old, out of range, or of a sharing that the user did not begin.
    mutating func take(_ position: Position, from user: UserID, at now: Int64) -> Bool {
        guard var place = places[position.session], place.user == user, place.untilMilliseconds > now,
            (-90...90).contains(position.latitude), (-180...180).contains(position.longitude),
            position.timeMilliseconds > place.position?.timeMilliseconds ?? .min
        else { return false }
        place.position = position
        places[position.session] = place
        return true
    }

    /// Whether the last position is shown grey.
    static func isStale(_ position: Position, at now: Int64) -> Bool {
        now - position.timeMilliseconds >= staleMilliseconds
    }
}

/// Lets at most one position a second out.
struct PositionPace {
    static let pauseMilliseconds: Int64 = 1_000
    private var last: Int64?

    mutating func allows(_ now: Int64) -> Bool {
        if let last, now - last < Self.pauseMilliseconds { return false }
        last = now
        return true
    }
}
