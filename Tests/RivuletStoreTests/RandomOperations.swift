import RivuletModel
import RivuletStore

/// What the reader of a message that burns sends, as an app registers it.
struct BurnedInTests: CustomContent {
    static let kind = MessageKind(rawValue: "burned")
    static let behavior = ContentBehavior.control
    var msgid: String
    var summary: String { "" }
    var effect: ContentEffect? { .erase(target: msgid) }
}

/// Operations of every kind that collide as often as possible: few conversations, few uuids.
struct RandomOperations {
    static let sessions: [Session] = [
        .peer(UserID(2)), .group(7), .peer(UserID(3)), Session(kind: .customer, id: 4, appID: 9),
    ]
    static let codec: ContentCodec = {
        var registry = ContentRegistry()
        // The key is free.
        try? registry.register(BurnedInTests.self)
        return ContentCodec(registry: registry)
    }()
    private var generator: SplitMix
    private var codec: ContentCodec { Self.codec }
    private var sends: Int64 = 0
    private var sent: [QueuedMessage] = []

    init(seed: UInt64) {
        generator = SplitMix(state: seed)
    }

    mutating func number(_ bound: Int) -> Int {
        Int(generator.next() % UInt64(max(1, bound)))
    }

    mutating func chance(_ oneIn: Int) -> Bool {
        number(oneIn) == 0
    }

    mutating func batch() -> [StoreOperation] {
        (0...number(8)).map { _ in operation() }
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[number(elements.count)]
    }

    private mutating func operation() -> StoreOperation {
        let session = pick(Self.sessions)
        return switch number(40) {
        case 0..<16: .receive(message(in: session))
        case 16: .insertHistory((0..<number(4)).map { _ in message(in: session) })
        case 17..<21: .send(outgoing(in: session))
        case 21, 22: .acknowledge(send: someSend(), serverKey: Int64(number(100)), isPlaced: chance(2))
        case 23: .fail(send: someSend(), reason: "no")
        case 24: .cancel(send: someSend())
        case 25: .deliver(uuids: [uuid(), uuid(), uuid()])
        case 26:
            chance(4) ? .removeKey(group: 7) : .setKey(group: chance(2) ? 7 : nil, key: Int64(number(50)))
        case 27: chance(2) ? .save(message(in: session)) : .replaceSend(uploaded(in: session))
        case 28: chance(4) ? .clear(session) : .delete(someMessage())
        case 29: .markRead(session, upTo: chance(2) ? nil : someMessage())
        default: stateOperation(session)
        }
    }

    private mutating func stateOperation(_ session: Session) -> StoreOperation {
        let user = UserID(Int64(2 + number(3)))
        return switch number(11) {
        case 0:
            pick([
                .setDraft(session, nil), .setDraft(session, ""), .setDraft(session, "draft"),
                .setDraft(session, "北京"), .setDraftDetails(session, "{}"), .setDraftDetails(session, nil),
            ])
        case 1: .setPinned(session, chance(2))
        case 2: .setMuted(session, chance(2))
        case 3: .setHidden(session, chance(2))
        case 4, 5: .setFavorite(someMessage(), chance(2))
        case 6:
            .setContact(
                Contact(id: user, name: pick(["a", "b"]), remark: pick([nil, "r"]), isBlocked: chance(3)))
        case 7: .removeContact(user)
        case 8:
            .setGroup(
                GroupProfile(
                    id: 7, name: pick(["g", "h"]), notice: pick(["", "n"]), isMuted: chance(2),
                    isPinningRestricted: chance(2)))
        case 9:
            .setMembers(
                group: 7,
                (1...3).map { member in
                    GroupMemberProfile(
                        id: UserID(Int64(member)), role: pick([.owner, .admin, .member]),
                        nickname: pick([nil, "nick"]), isMuted: chance(3))
                })
        default: .removeGroup(7)
        }
    }

    private mutating func uuid() -> String {
        chance(4) ? pick(["p0", "p1", "p2", "p3", "b0", "b1", "b2", "b3", "b4"]) : "u\(number(60))"
    }

    private mutating func someSend() -> Int64 { Int64(number(Int(sends) + 2)) }

    private mutating func someMessage() -> MessageID { MessageID((1 << 40) + Int64(number(90)) - 10) }

    private mutating func message(in session: Session) -> IncomingMessage {
        let sender = UserID(Int64(1 + number(3)))
        let raw = content()
        return IncomingMessage(
            session: session, sender: sender, isOutgoing: sender == UserID(1), raw: raw,
            content: codec.decode(raw), timeMilliseconds: Int64(number(1_000)),
            serverKey: chance(2) ? Int64(number(100)) : nil, localNumber: Int64(number(3)))
    }

    private mutating func outgoing(in session: Session) -> QueuedMessage {
        sends += 1
        let raw = chance(5) ? special() : content()
        let decoded = codec.decode(raw)
        let message = QueuedMessage(
            session: session, raw: raw, content: decoded,
            send: StoredSend(
                number: sends, uuid: decoded.envelope.uuid, command: 4, flags: 1, body: [UInt8(sends & 255)],
                createdMilliseconds: Int64(number(1_000))))
        sent.append(message)
        return message
    }

    /// One of the last sends as it is after an upload, mostly.
    private mutating func uploaded(in session: Session) -> QueuedMessage {
        guard !sent.isEmpty, !chance(4) else { return outgoing(in: session) }
        var message = pick(Array(sent.suffix(8)))
        if let uuid = message.send.uuid, message.content.message?.kind == .text {
            message.raw = #"{"uuid":"\#(uuid)","text":"word uploaded"}"#
            message.content = codec.decode(message.raw)
        }
        message.send.body = [1, 2, 3]
        return message
    }

    // MARK: Contents

    private mutating func content() -> String {
        switch number(10) {
        case 0..<3: control()
        case 3: media()
        case 4: special()
        case 5: #"{"uuid":"\#(uuid())","text":"at me","at":[1],"at_name":["me"],"unheard":[1.0]}"#
        default: #"{"uuid":"u\#(number(60))","text":"word 北京 \#(number(1_000))"}"#
        }
    }

    private mutating func control() -> String {
        let target = uuid()
        let head = #"{"uuid":"c\#(number(400))""#
        return switch number(12) {
        case 0: #"{"revoke":{"msgid":"\#(target)"}}"#
        case 1: head + #","edit":{"msgid":"\#(target)","text":"changed \#(number(9))"}}"#
        case 2:
            head
                + #","edit":{"msgid":"\#(target)"\#(pick(["", #","append":" more""#])),"stream":\#(number(2))}}"#
        case 3, 4: head + #","reaction":{"msgid":"\#(target)","emoji":"👍","on":\#(number(2))}}"#
        case 5: #"{"readed":{"msgid":"\#(target)"}}"#
        case 6: head + #","pin":{"msgid":"\#(target)","on":\#(number(2))}}"#
        case 7: head + #","read_mark":{"kind":"group","id":7,"msgid":"\#(target)"}}"#
        case 8: head + #","vote":{"msgid":"p\#(number(4))","options":[\#(number(3))]}}"#
        case 9: #"{"tag":{"msgid":"\#(target)","\#(pick(["add_tag", "delete_tag"]))":"t\#(number(2))"}}"#
        default: head + #","burned":{"msgid":"b\#(number(5))"}}"#
        }
    }

    private mutating func media() -> String {
        let head = #"{"uuid":"u\#(number(60))""#
        return switch number(6) {
        case 0: head + #","image2":{"url":"i","width":1,"height":2},"image":"i"}"#
        case 1: head + #","video":{"url":"v"}}"#
        case 2: head + #","audio":{"url":"a","duration":3}}"#
        case 3: head + #","file":{"url":"f","filename":"word 京.pdf"}}"#
        case 4: head + #","link":{"url":"l","title":"word"}}"#
        default: head + #","location":{"latitude":1.5,"longitude":2,"address":"北京"}}"#
        }
    }

    private mutating func special() -> String {
        switch number(9) {
        case 0, 8: #"{"uuid":"p\#(number(4))","poll":{"question":"word?","options":["a","b"]}}"#
        case 1, 2: #"{"uuid":"b\#(number(5))","text":"hush 北京","burn":{"seconds":5}}"#
        case 3: #"{"uuid":"u\#(number(60))","text":"word","stream":1}"#
        case 4: #"{"text":"word without uuid \#(number(3))"}"#
        case 5: "rubbish \(number(5))"
        case 6: #"{"attachment":{"msg_id":3,"url":"u"}}"#
        default: notification()
        }
    }

    private mutating func notification() -> String {
        let user = UserID(Int64(2 + number(3)))
        let change: GroupNotification.Change =
            switch number(6) {
            case 0: .created(master: UserID(1), name: "made", members: [UserID(1), user])
            case 1: .disbanded
            case 2: .memberLeft(user, name: nil)
            case 3: .memberAdded(user, name: "n")
            case 4: .renamed("renamed")
            default: .noticeChanged("noted")
            }
        let content = MessageContent.groupNotification(GroupNotification(groupID: 7, time: 5, change: change))
        return (try? codec.encode(content, envelope: ContentEnvelope())) ?? ""
    }
}

/// A small generator whose whole state is its seed.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

// MARK: What was covered

extension StoreOperation {
    /// What it is called; with the kind of the content for messages.
    ///
    /// A new case must be named here, and then be met by the random operations, or the test of their reach fails.
    var label: String {
        switch self {
        case .receive(let message): "receive \(message.content.label)"
        case .insertHistory: "history"
        case .send(let message): "send \(message.content.label)"
        case .acknowledge(_, _, let isPlaced): isPlaced ? "acknowledge, placed" : "acknowledge"
        case .fail: "fail"
        case .replaceSend: "upload"
        case .cancel: "cancel"
        case .deliver: "deliver"
        case .setKey(let group, _): group == nil ? "key" : "group key"
        case .removeKey: "no group key"
        case .save: "save"
        case .delete: "delete"
        case .clear: "clear"
        case .markRead(_, let id): id == nil ? "read all" : "read"
        case .setDraft: "draft"
        case .setDraftDetails: "draft details"
        case .setPinned: "pin conversation"
        case .setMuted: "mute"
        case .setHidden: "hide"
        case .setFavorite(_, let isOn): isOn ? "favourite" : "no favourite"
        case .setContact: "contact"
        case .removeContact: "no contact"
        case .setGroup: "group"
        case .setMembers: "members"
        case .removeGroup: "no group"
        }
    }
}

extension DecodedContent {
    fileprivate var label: String {
        switch body {
        case .message(let content):
            envelope.burnSeconds == nil ? content.kind.rawValue : "burning"
        case .control(let control): control.label
        }
    }
}

extension ControlContent {
    fileprivate var label: String {
        switch self {
        case .revoke: "revoke"
        case .readed: "readed"
        case .tag(_, _, let isAdded): isAdded ? "tag" : "no tag"
        case .edit(let edit): edit.change == .none ? "end of stream" : "edit"
        case .reaction(_, _, let isOn): isOn ? "reaction" : "no reaction"
        case .readMark: "read mark"
        case .vote: "vote"
        case .pin(_, let isOn): isOn ? "pin" : "no pin"
        case .custom: "burned"
        }
    }
}
