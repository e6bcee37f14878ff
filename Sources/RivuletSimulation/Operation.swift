/// Something that is done to the world at a time: work, or a fault.
struct Operation: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        case sendToUser(Int)
        case sendBurning(Int)
        /// One uuid to two users, as a forwarded message may have it.
        case sendToTwo(Int, Int)
        case sendToGroup(Int64)
        case sendToCustomer(Int)
        case sendToRoom
        case typing(Int)
        // About one of the last messages of the device; which one is counted from this number.
        case revoke(Int)
        case edit(Int)
        case receipt(Int)
        case readMark(Int)
        case burn(Int)

        case offline(Int64)
        case stop(Int64)
        case enterRoom
        case leaveRoom
        case ban(Int, Bool)
        case addMember(Int, group: Int64)
        case removeMember(Int, group: Int64)
        case mute(Int, group: Int64, Bool)
        case block(Int)
        case unblock(Int)
        case backUp
        case backUpServer

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
        /// The program ends and finds its files as they were at the last backup.
        case restoreBackup(Int64)
        /// The server ends and finds its files as they were at the last backup; with or without the file that knows the
        /// last key.
        case restoreServerBackup(Int64, keepsKeys: Bool)

        var isFault: Bool {
            switch self {
            case .cut, .halfOpen, .delay, .crashClient, .crashServer, .sleep, .serverClockJump, .kick,
                .slowReader, .fullDisk, .fullServerDisk, .tokenExpires, .secondLogin, .restoreBackup,
                .restoreServerBackup:
                true
            default: false
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
    static let room: Int64 = 5001

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
                drafts.append((Int64(chance.below(span)), device, message(settings, device, &chance)))
            }
            for _ in 0..<count(settings.messagesPerHour) / 7 {
                drafts.append((Int64(chance.below(span)), device, change(settings, &chance)))
            }
        }
        for _ in 0..<count(settings.faultsPerHour) {
            let at = Int64(chance.below(span))
            drafts.append((at, chance.below(settings.clients), fault(settings, &chance)))
        }
        let numbered = drafts.enumerated().sorted {
            ($0.element.at, $0.offset) < ($1.element.at, $1.offset)
        }
        return numbered.enumerated().map { number, draft in
            Operation(
                number: number, at: draft.element.at, device: draft.element.device, kind: draft.element.kind)
        }
    }

    private static func message(
        _ settings: SimulationSettings, _ device: Int, _ chance: inout Chance
    ) -> Kind {
        let people = settings.people
        let isStaff = settings.user(ofDevice: device) == settings.staff
        let draw = chance.below(100)
        guard !isStaff else { return .sendToCustomer(chance.below(people)) }
        switch draw {
        case 0..<34: return .sendToUser(chance.below(people))
        case 34..<37: return .sendBurning(chance.below(people))
        case 37..<41: return .sendToTwo(chance.below(people), chance.below(people))
        case 41..<55: return .sendToGroup(group)
        case 55..<69: return .sendToGroup(superGroup)
        case 69..<71: return .sendToGroup(strangeGroup)
        case 71: return .sendToGroup(noGroup)
        // Above the people is the staff; customers among themselves are refused.
        case 72..<78: return .sendToCustomer(chance.percent(90) ? people : chance.below(people))
        case 78..<82: return .sendToRoom
        case 82..<85: return .revoke(chance.below(1000))
        case 85..<88: return .edit(chance.below(1000))
        case 88..<92: return .receipt(chance.below(1000))
        case 92..<96: return .readMark(chance.below(1000))
        case 96..<98: return .burn(chance.below(1000))
        default: return .typing(chance.below(people))
        }
    }

    private static func change(_ settings: SimulationSettings, _ chance: inout Chance) -> Kind {
        let people = settings.people
        let draw = chance.below(100)
        let joined = settings.changesSuperGroup && draw % 2 == 0 ? superGroup : group
        switch draw {
        case 0..<28: return .offline(chance.time(1000...300_000))
        case 28..<40: return .stop(chance.time(1000...120_000))
        case 40..<52: return .addMember(chance.below(people), group: joined)
        case 52..<58: return .removeMember(1 + chance.below(people), group: joined)
        case 58..<62: return .mute(chance.below(people), group: chance.percent(50) ? group : superGroup, true)
        case 62..<68:
            return .mute(chance.below(people), group: chance.percent(50) ? group : superGroup, false)
        case 68..<80: return .unblock(chance.below(people))
        case 80..<86: return .block(chance.below(people))
        case 86..<92: return chance.percent(75) ? .enterRoom : .leaveRoom
        case 93..<98 where settings.restoresServer: return .backUpServer
        case 92..<95: return .ban(chance.below(people), chance.percent(40))
        default: return .backUp
        }
    }

    private static func fault(_ settings: SimulationSettings, _ chance: inout Chance) -> Kind {
        switch chance.below(100) {
        case 34..<42 where settings.restoresServer:
            .restoreServerBackup(chance.time(500...60_000), keepsKeys: chance.percent(50))
        case 0..<18: .cut
        case 18..<28: .halfOpen
        case 28..<42: .delay(chance.time(500...14_000), for: chance.time(5000...90_000))
        case 42..<56: .crashClient(chance.time(200...60_000))
        case 56..<66: .crashServer(chance.time(200...20_000))
        case 66..<71: .sleep(chance.time(5000...3_600_000))
        case 71..<74: .serverClockJump(chance.time(-7_200_000...7_200_000))
        case 74..<78: .kick(chance.time(1000...30_000))
        case 78..<84: .slowReader(chance.time(1000...60_000))
        case 84..<90: .fullDisk(chance.time(500...30_000))
        case 90..<93: .fullServerDisk(chance.time(200...8000))
        case 93..<96: .tokenExpires
        case 96..<98: .secondLogin
        default: .restoreBackup(chance.time(500...60_000))
        }
    }
}
