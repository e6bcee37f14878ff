import RivuletModel

/// What is known beyond the window and what is being fetched: one request at a time.
struct LoadBook {
    /// What a page is for.
    enum Purpose {
        case firstLoad(FlowOpening)
        case page(PageDirection)
        case jump(MessageID, FlowAlignment, highlights: Bool)
        case latest
        case reload

        /// Whether the page takes the place of the window.
        var replacesWindow: Bool {
            if case .page = self { false } else { true }
        }
    }

    struct InFlight {
        var request: FlowLoadRequest
        var purpose: Purpose
    }

    /// How many messages are remembered for a page that is under way; beyond, the window is read anew after it.
    static let rememberedCountMax = 4_096

    var isOpen = false
    var generation = 0
    var opening = FlowViewState.Opening.closed
    var older = LoadStatus.atEnd
    var newer = LoadStatus.atEnd
    /// What the first load was for, to be asked for again after a failure.
    var firstLoad = FlowOpening.latest
    /// Whether the message at which the session opens is highlighted, since the reader asked for it.
    var highlightsFirst = false
    private(set) var inFlight: InFlight?
    /// A page that waits for the reader to let go of the flow.
    var heldPage: (purpose: Purpose, page: MessagePage)?
    /// News about messages outside of the window while a page is under way that may have been read before.
    private(set) var remembered: [MessageID: (message: Message, isArrival: Bool)] = [:]
    private(set) var deleted: Set<MessageID> = []
    private(set) var hasForgotten = false
    private var lastNumber = 0

    var isLoading: Bool { inFlight != nil || heldPage != nil }

    mutating func begin(_ purpose: Purpose, target: FlowLoadRequest.Target, limit: Int) -> FlowLoadRequest {
        lastNumber += 1
        let ticket = FlowTicket(generation: generation, number: lastNumber)
        let request = FlowLoadRequest(ticket: ticket, target: target, limit: limit)
        inFlight = InFlight(request: request, purpose: purpose)
        return request
    }

    /// Ends the request that this ticket names; nil when nobody waits for it any more.
    mutating func end(_ ticket: FlowTicket) -> InFlight? {
        guard let current = inFlight, current.request.ticket == ticket else { return nil }
        inFlight = nil
        return current
    }

    /// Gives up the request under way; a later one is read after the news so far.
    mutating func abandon() -> FlowTicket? {
        heldPage = nil
        forgetNews()
        guard let current = inFlight else { return nil }
        inFlight = nil
        if older == .loading { older = .more }
        if newer == .loading { newer = .more }
        return current.request.ticket
    }

    /// Remembers news about a message outside of the window.
    mutating func remember(_ message: Message, isArrival: Bool) {
        guard isLoading else { return }
        if let known = remembered[message.id] {
            guard message.revision >= known.message.revision else { return }
            remembered[message.id] = (message, known.isArrival || isArrival)
        } else if remembered.count < Self.rememberedCountMax {
            remembered[message.id] = (message, isArrival)
        } else {
            hasForgotten = true
        }
    }

    /// Remembers a deletion, which a page under way may not know of.
    mutating func rememberDeletion(_ id: MessageID) {
        guard isLoading else { return }
        remembered[id] = nil
        if deleted.count < Self.rememberedCountMax { deleted.insert(id) } else { hasForgotten = true }
    }

    /// Changes a remembered message.
    mutating func changeRemembered(_ id: MessageID, _ change: (inout Message) -> Void) {
        guard var known = remembered[id] else { return }
        change(&known.message)
        remembered[id] = known
    }

    /// Forgets the news once no page is under way.
    mutating func forgetNews() {
        remembered = [:]
        deleted = []
        hasForgotten = false
    }
}

/// The messages that arrived further down and were not seen yet.
struct UnseenMessages {
    private var places: [MessageID: MessagePosition] = [:]

    var count: Int { places.count }
    var isEmpty: Bool { places.isEmpty }

    mutating func insert(_ message: Message, countMax: Int) {
        if places.count < countMax { places[message.id] = message.position }
    }

    mutating func remove(_ id: MessageID) {
        places[id] = nil
    }

    mutating func removeAll() {
        places = [:]
    }

    mutating func removeAll(through position: MessagePosition) {
        places = places.filter { $0.value > position }
    }
}

/// By how much recent applies moved the content, so that an offset reported for an older version can be understood.
struct OffsetShifts {
    private static let countMax = 16

    /// The version that an apply led to, and its shift; nil when it went somewhere else.
    private var recent: [(version: Int, shift: Double?)] = []

    mutating func add(version: Int, shift: Double?) {
        recent.append((version, shift))
        if recent.count > Self.countMax { recent.removeFirst() }
    }

    /// The offset in the current version; nil when it cannot be told.
    func translate(_ offset: Double, from version: Int, to current: Int) -> Double? {
        guard version != current else { return offset }
        guard version < current, let first = recent.first, version >= first.version - 1 else { return nil }
        var offset = offset
        for step in recent where step.version > version {
            guard let shift = step.shift else { return nil }
            offset += shift
        }
        return offset
    }
}
