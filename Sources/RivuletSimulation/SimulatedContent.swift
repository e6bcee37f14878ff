import RivuletWire

/// What a message of the simulated work says; other messages are named by their number in the run.
enum SimulatedContent: Sendable, Equatable {
    case text
    /// A text that burns after reading.
    case burning
    case revoke(Int)
    case edit(Int)
    case receipt(Int)
    case readMark(Int)
    case burned(Int)

    /// Whether people see it and it counts as unread.
    var isText: Bool { self == .text || self == .burning }

    /// The message that it is about.
    var target: Int? {
        switch self {
        case .text, .burning: nil
        case .revoke(let number), .edit(let number), .receipt(let number), .readMark(let number),
            .burned(let number):
            number
        }
    }

    /// The JSON of the message with this number.
    ///
    /// - Parameters:
    ///   - number: Stands first, before any other digit.
    ///   - uuid: Its own.
    ///   - target: The uuid of the message that it is about.
    ///   - session: The kind and id of the conversation, for a read mark.
    /// - Returns: The content.
    func json(number: Int, uuid: String, target: String, session: (kind: String, id: Int64)) -> String {
        switch self {
        case .text: #"{"text":"\#(number) hello","uuid":"\#(uuid)"}"#
        case .burning: #"{"text":"\#(number) secret","uuid":"\#(uuid)","burn":{"seconds":5}}"#
        case .revoke: #"{"ref":\#(number),"uuid":"\#(uuid)","revoke":{"msgid":"\#(target)"}}"#
        case .edit:
            #"{"ref":\#(number),"uuid":"\#(uuid)","edit":{"msgid":"\#(target)","text":"\#(number) changed"}}"#
        case .receipt: #"{"ref":\#(number),"uuid":"\#(uuid)","readed":{"msgid":"\#(target)"}}"#
        case .readMark:
            """
            {"ref":\(number),"uuid":"\(uuid)","read_mark":{"kind":"\(session.kind)","id":\(session.id),\
            "msgid":"\(target)"}}
            """
        case .burned: #"{"ref":\#(number),"uuid":"\#(uuid)","burned":{"msgid":"\#(target)"}}"#
        }
    }
}

/// How a message is told apart: its number in this run is the first number in its content.
enum MessageNumber {
    /// The number in a content; nil when it is none of this run's.
    static func number(in content: String) -> Int? {
        var value: Int?
        for byte in content.utf8 {
            if byte >= 48, byte <= 57 {
                guard value ?? 0 < 1_000_000_000_000 else { return nil }
                value = (value ?? 0) * 10 + Int(byte - 48)
            } else if value != nil {
                break
            }
        }
        return value
    }

    static func number(in body: PacketBody) -> Int? {
        switch body {
        case .im(let message): number(in: message.content)
        case .room(let message): number(in: message.content)
        case .customerV2(let message): number(in: message.content)
        default: nil
        }
    }
}
