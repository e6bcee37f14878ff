/// Something that is done to the world at a time: work, or a fault.
struct Operation: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        case sendToUser(Int)
        /// One uuid to two users, as a forwarded message may have it.
        case sendToTwo(Int, Int)
        case sendToGroup(Int64)
        case offline(Int64)
        case stop(Int64)
        case addMember(Int, group: Int64)
        case removeMember(Int, group: Int64)
        case block(Int)
        case unblock(Int)

        case cut
        case halfOpen
        case delay(Int64, for: Int64)
        case crashClient(Int64)
        case crashServer(Int64)
        case sleep(Int64)
        case serverClockJump(Int64)
        case kick(Int64)
        case slowReader(Int64)
        case fullDisk(Int64)
        case fullServerDisk(Int64)
        case tokenExpires
        case secondLogin

        var isFault: Bool {
            switch self {
            case .sendToUser, .sendToTwo, .sendToGroup, .offline, .stop, .addMember, .removeMember, .block,
                .unblock:
                false
            default: true
            }
        }
    }

    var number: Int
    var at: Int64
    var device: Int
    var kind: Kind
}

extension Operation {
    static let group: Int64 = 1001
    static let superGroup: Int64 = 1002
    static let strangeGroup: Int64 = 1003
    static let noGroup: Int64 = 1999

    /// Everything that will be done in a run, in order of time.
    static func plan(_ settings: SimulationSettings) -> [Operation] {
        var chance = Chance(settings.seed, 1, 1)
        var drafts: [(at: Int64, device: Int, kind: Kind)] = []
        let span = Int(settings.milliseconds)
        func count(_ perHour: Int) -> Int {
            Int(Double(perHour) * Double(span) / 3_600_000 + 0.999)
        }
        for device in 0..<settings.clients {
            for _ in 0..<count(settings.messagesPerHour) {
                drafts.append((Int64(chance.below(span)), device, work(settings, device, &chance)))
            }
        }
        for _ in 0..<count(settings.faultsPerHour) {
            let at = Int64(chance.below(span))
            drafts.append((at, chance.below(settings.clients), fault(&chance)))
        }
        let numbered = drafts.enumerated().sorted {
            ($0.element.at, $0.offset) < ($1.element.at, $1.offset)
        }
        return numbered.enumerated().map { number, draft in
            Operation(
                number: number, at: draft.element.at, device: draft.element.device, kind: draft.element.kind)
        }
    }

    private static func work(
        _ settings: SimulationSettings, _ device: Int, _ chance: inout Chance
    ) -> Kind {
        let users = settings.users
        switch chance.below(100) {
        case 0..<45: return .sendToUser(chance.below(users))
        case 45..<53: return .sendToTwo(chance.below(users), chance.below(users))
        case 53..<68: return .sendToGroup(group)
        case 68..<83: return .sendToGroup(superGroup)
        case 83..<85: return .sendToGroup(strangeGroup)
        case 85: return .sendToGroup(noGroup)
        case 86..<91: return .offline(chance.time(1000...300_000))
        case 91..<93: return .stop(chance.time(1000...120_000))
        case 93..<95: return .addMember(chance.below(users), group: group)
        case 95: return .removeMember(1 + chance.below(users), group: group)
        case 96..<98: return .unblock(chance.below(users))
        case 98: return .block(chance.below(users))
        default: return .sendToUser(chance.below(users))
        }
    }

    private static func fault(_ chance: inout Chance) -> Kind {
        switch chance.below(100) {
        case 0..<18: .cut
        case 18..<28: .halfOpen
        case 28..<42: .delay(chance.time(500...14_000), for: chance.time(5000...90_000))
        case 42..<58: .crashClient(chance.time(200...60_000))
        case 58..<68: .crashServer(chance.time(200...20_000))
        case 68..<73: .sleep(chance.time(5000...3_600_000))
        case 73..<76: .serverClockJump(chance.time(-7_200_000...7_200_000))
        case 76..<80: .kick(chance.time(1000...30_000))
        case 80..<86: .slowReader(chance.time(1000...60_000))
        case 86..<92: .fullDisk(chance.time(500...30_000))
        case 92..<95: .fullServerDisk(chance.time(200...8000))
        case 95..<98: .tokenExpires
        default: .secondLogin
        }
    }
}
