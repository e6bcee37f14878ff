extension MessageContent {
    /// The text that people read in the message itself: that of texts, notices, headlines and fallbacks.
    public var text: String? {
        switch self {
        case .text(let content): content.text
        case .notice(let text), .headline(let text): text
        case .unknown(_, let fallback): fallback
        default: nil
        }
    }

    /// One line for lists and notifications, in English; a user interface may say it in other words by the kind.
    public var summary: String {
        switch self {
        case .text(let content): content.text
        case .notice(let text), .headline(let text): text
        case .image: "[Photo]"
        case .audio(let content): "[Voice message, \(content.durationSeconds) s]"
        case .location(let content): content.address.map { "[Location] \($0)" } ?? "[Location]"
        case .video: "[Video]"
        case .file(let content): "[File] \(content.filename)"
        case .link(let content): "[Link] \(content.title)"
        case .groupNotification(let content): content.summary
        case .call(let content): content.isVideo ? "[Video call]" : "[Call]"
        case .groupCall: "[Group call]"
        case .secret: "[Encrypted message]"
        case .refusal: "[Not delivered]"
        case .classroom: "[Classroom]"
        case .conference: "[Conference]"
        case .merged(let content): "[Chat record] \(content.title)"
        case .card(let content): "[Card] \(content.name)"
        case .sticker(let content): content.emoji ?? "[Sticker]"
        case .poll(let content): "[Poll] \(content.question)"
        case .joinRequest(let content): "[Asks to join] \(content.reason)"
        case .custom(let box): box.value.summary
        case .revoked: "[Message withdrawn]"
        case .erased: "[Message burned]"
        case .unknown(_, let fallback): fallback ?? "[Unknown message]"
        case .p2pSession, .attachment, .timeBase: ""
        }
    }

    /// What a search finds; nil when there is nothing to find.
    public var searchText: String? {
        let found: String =
            switch self {
            case .text(let content): content.text
            case .headline(let text): text
            case .location(let content): content.address ?? ""
            case .file(let content): content.filename
            case .link(let content): content.title + "\n" + content.content
            case .merged(let content): content.title
            case .card(let content): content.name
            case .poll(let content): ([content.question] + content.options).joined(separator: "\n")
            case .custom(let box): box.value.searchText
            case .unknown(_, let fallback): fallback ?? ""
            default: ""
            }
        return found.isEmpty ? nil : found
    }
}

extension GroupNotification {
    /// One line in English; a user interface that knows the users' names says it better.
    public var summary: String {
        switch change {
        case .created(_, let name, _): "Group “\(name)” created"
        case .disbanded: "Group disbanded"
        case .memberLeft(let user, let name): "\(name ?? String(user.rawValue)) left"
        case .memberAdded(let user, let name): "\(name ?? String(user.rawValue)) joined"
        case .renamed(let name): "Group renamed to “\(name)”"
        case .noticeChanged(let notice): "Group notice: \(notice)"
        case .upgraded: "Group upgraded"
        case .unknown: "Group changed"
        }
    }
}
