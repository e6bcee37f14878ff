internal import Foundation
public import RivuletFlow
public import RivuletModel

/// What the bubble of a file, place, page, card, record or call says: a line, a quieter second one, and a sign.
public nonisolated struct CardFace: Hashable, Sendable {
    /// What stands before the words.
    public enum Sign: Hashable, Sendable {
        /// A sheet of paper.
        case file
        /// A pin.
        case place
        /// Two rings of a chain.
        case link
        /// The initials of a user.
        case person(UserID)
        /// Lines of a conversation.
        case record
        /// A receiver, or a camera.
        case call(isVideo: Bool)
    }

    /// The sign.
    public var sign: Sign
    /// The first line; never empty.
    public var title: String
    /// The second line; may be empty.
    public var detail: String

    /// How many characters of somebody's words are looked at.
    static let characterCountMax = 200

    /// The face of a message; nil for kinds that have none.
    public static func of(_ message: Message, _ strings: InterfaceStrings) -> CardFace? {
        switch message.content {
        case .file(let file):
            return CardFace(
                sign: .file, title: line(file.filename, else: strings[.unnamedFile]),
                detail: size(file.byteCount, strings) ?? strings[.fileKind])
        case .location(let place):
            return CardFace(
                sign: .place, title: line(place.address ?? "", else: strings[.unnamedPlace]),
                detail: degrees(place))
        case .link(let page):
            let host = URL(string: page.url)?.host() ?? page.url
            return CardFace(
                sign: .link,
                title: line(page.title, else: line(host, else: strings.summary(of: message.content))),
                detail: line(page.content, else: line(host, else: "")))
        case .card(let card):
            return CardFace(
                sign: .person(card.user),
                title: line(card.name, else: strings[.unnamedUser, String(card.user.rawValue)]),
                detail: strings[.cardKind])
        case .merged(let record):
            return CardFace(
                sign: .record, title: line(record.title, else: strings[.unnamedRecord]),
                detail: strings[.recordCount, count: max(0, record.upload?.count ?? record.items.count)])
        case .call(let call):
            return CardFace(
                sign: .call(isVideo: call.isVideo),
                title: strings[call.isVideo ? .videoCallTitle : .voiceCallTitle],
                detail: outcome(call, strings))
        case .groupCall(let call):
            return CardFace(
                sign: .call(isVideo: false), title: strings[.groupCallTitle],
                detail: strings[call.isFinished ? .callEnded : .callGoesOn])
        default: return nil
        }
    }

    /// Somebody's words on one line: no line breaks, and no marks that turn the direction of what follows.
    static func line(_ words: String, else fallback: String) -> String {
        var line = ""
        var isBlank = true
        for scalar in words.unicodeScalars.prefix(characterCountMax) {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: line.append(" ")
            case .format where scalar != "\u{200D}" && scalar != "\u{200C}": continue
            default:
                line.unicodeScalars.append(scalar)
                if !scalar.properties.isWhitespace { isBlank = false }
            }
        }
        return isBlank ? fallback : line
    }

    /// A size for people; nil when it is unknown.
    static func size(_ bytes: Int, _ strings: InterfaceStrings) -> String? {
        guard bytes > 0 else { return nil }
        guard bytes >= 1_000 else { return strings[.bytes, count: bytes] }
        var size = Double(bytes)
        var unit = 0
        let prefixes = ["k", "M", "G", "T", "P", "E"]
        repeat {
            size /= 1_000
            unit += 1
        } while size >= 999.95 && unit < prefixes.count
        return String(format: size < 10 ? "%.1f " : "%.0f ", size) + prefixes[unit - 1] + "B"
    }

    /// Where a place is; nothing for numbers that are no place on earth.
    static func degrees(_ place: LocationContent) -> String {
        guard (-90...90).contains(place.latitude), (-180...180).contains(place.longitude) else { return "" }
        return String(
            format: "%.4f° %@, %.4f° %@", abs(place.latitude), place.latitude < 0 ? "S" : "N",
            abs(place.longitude), place.longitude < 0 ? "W" : "E")
    }

    private static func outcome(_ call: CallContent, _ strings: InterfaceStrings) -> String {
        switch call.outcome {
        case .accepted: AudioMeasures.clock(call.durationSeconds)
        case .cancelled: strings[.callCancelled]
        case .refused: strings[.callDeclined]
        case .missed: strings[.callMissed]
        default: strings[.callEnded]
        }
    }
}
