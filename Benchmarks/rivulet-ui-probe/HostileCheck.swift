import Foundation
import RivuletFlow
import RivuletModel
import RivuletUI

/// A conversation with somebody who means harm: whatever arrives must be shown, without a warning, a trap or a halt.
///
/// Contents go through the codec as they would come from the wire. For each of them the longest frame is told, in
/// milliseconds of the main thread's processor time.
enum HostileCheck {
    /// - Parameter only: A part of the names of the cases to run; empty for all.
    static func run(only: String) {
        let names = OddNames()
        let sample = SampleFlow(count: 30)
        sample.view.list.directory = names
        var longest = 0.0
        let meter = PlatformFrameMeter(sample.view.list) { frame in
            longest = max(longest, frame.work + frame.paint)
        }
        var number: Int64 = 1_000
        let warm = [("warm", [SampleFlow.message(5)])]
        for (name, messages) in warm + HostileContents.all
        where name == "warm" || only.isEmpty || name.contains(only) {
            longest = 0
            var last = MessageID(0)
            let arriving = messages.map { message in
                number += 1
                var message = message
                message.id = MessageID(number)
                message.position = MessagePosition(number)
                last = message.id
                return message
            }
            sample.controller.submit(.arrived(arriving))
            let isShown = Probe.wait { sample.view.list.cell(for: last) != nil }
            for _ in 0..<3 {
                sample.view.list.scroll(by: -120)
                PlatformApplication.run(for: .milliseconds(16))
            }
            if let cell = sample.view.list.cell(for: last) { touch(cell) }
            sample.controller.submit(.latestRequested)
            PlatformApplication.run(for: .milliseconds(20))
            Probe.report("\(isShown ? "shown" : "lost") \(name) \(String(format: "%.1f", longest)) ms")
        }
        withExtendedLifetime(meter) { sample.close() }
        showOddSizes()
        reshape()
    }

    /// What a pointer would ask of every component.
    private static func touch(_ cell: MessageCell) {
        for component in MessageComponent.allCases {
            guard let view = cell.view(for: component) else { continue }
            for x in [-1e9, 0, 1, 30, 1e9] {
                for y in [-1e9, 0, 5, 1e9] {
                    _ = view.link(at: CGPoint(x: x, y: y))
                    _ = view.dragContent(at: CGPoint(x: x, y: y))
                    _ = (view as? ReactionsMessageView)?.emoji(at: CGPoint(x: x, y: y))
                }
            }
            view.clearSelection()
        }
    }

    /// Views of a business that answer nonsense when they are asked for their size.
    private static func showOddSizes() {
        var registry = MessageViewRegistry()
        registry.register(OddSizeBubble.self, for: .content)
        let sample = SampleFlow(count: OddSizeBubble.sizes.count * 4, registry: registry)
        for _ in 0..<10 {
            sample.view.list.scroll(by: -300)
            PlatformApplication.run(for: .milliseconds(16))
        }
        Probe.report("odd sizes \(sample.view.list.visibleCells.isEmpty ? "lost" : "shown")")
        sample.close()
    }

    /// A window that is made small, large and small again, with text of every size.
    private static func reshape() {
        let sample = SampleFlow(count: 300)
        for (number, scale) in [10.0, 0.01, 0, -3, .nan, .infinity, 1e308, 1].enumerated() {
            sample.controller.submit(.textScaled(scale))
            for side in [1.0, 3, 900, 1, 640] {
                sample.window.resize(CGSize(width: side, height: number % 2 == 0 ? side : 500))
                PlatformApplication.run(for: .milliseconds(20))
            }
        }
        for step in 0..<120 {
            sample.window.resize(
                CGSize(width: Double(200 + step * 37 % 900), height: Double(1 + step * 91 % 800)))
            PlatformApplication.run(for: .milliseconds(4))
        }
        sample.window.resize(CGSize(width: 700, height: 600))
        Probe.settle()
        sample.controller.submit(.latestRequested)
        let isShown = Probe.wait { sample.view.list.cell(for: MessageID(299)) != nil }
        Probe.report("reshaped \(isShown ? "shown" : "lost")")
        sample.close()
    }

    private final class OddNames: MessageDirectory {
        func name(of user: UserID, in session: Session) -> String {
            switch abs(user.rawValue % 8) {
            case 0: ""
            case 1: String(repeating: "Maximiliane ", count: 900)
            case 2: "\u{202E}drowssap\u{2066}\u{2067}"
            case 3: "two\nlines\r\nand\u{2028}more"
            case 4: "nul\u{0}name\u{1B}[31m"
            case 5: "e" + String(repeating: "\u{301}", count: 3_000)
            case 6: "   "
            default: "👨‍👩‍👧‍👦👨‍👩‍👧‍👦"
            }
        }

        func role(of user: UserID, in session: Session) -> String? {
            user.rawValue % 3 == 0 ? String(repeating: "\u{202E}role ", count: 400) : nil
        }

        /// Everything quotes everything, in circles.
        func message(uuid: String, in session: Session) -> Message? {
            switch uuid {
            case "none": return nil
            case "revoked":
                var message = SampleFlow.message(1, text: "")
                message.content = .revoked
                return message
            default:
                var message = SampleFlow.message(1, text: String(repeating: "quoted ", count: 4_000))
                message.uuid = "b"
                message.reference = "a"
                return message
            }
        }
    }
}

/// A bubble whose size is none.
final class OddSizeBubble: MessageView {
    static let sizes: [CGSize] = [
        CGSize(width: Double.nan, height: Double.nan), CGSize(width: -5, height: -50),
        CGSize(width: 1e308, height: 1e308), CGSize(width: Double.infinity, height: 20), .zero,
        CGSize(width: 30, height: -Double.infinity), CGSize(width: 0.001, height: 1e-300),
    ]

    override func draw(_ canvas: PlatformCanvas) { canvas.fill(bounds, corners: corners, background) }

    override class func createSizeStrategy(
        message: Message, fittingSize: CGSize
    ) -> (any MessageLayoutSizeStrategy)? {
        MessageCustomSizeStrategy { message, _ in sizes[Int(message.id.rawValue) % sizes.count] }
    }
}

/// What a hostile peer may write.
enum HostileContents {
    static let all: [(name: String, messages: [Message])] =
        texts.map { ($0.name, [message(json(text: $0.text))]) }
        + raws.map { ($0.name, [message($0.raw)]) } + odd

    private static let texts: [(name: String, text: String)] = [
        ("a frame of words", String(repeating: "words and ", count: 3_200)),
        ("a megabyte of words", String(repeating: "words and ", count: 100_000)),
        ("a megabyte without a space", String(repeating: "x", count: 1_000_000)),
        ("a frame of marks", "a" + String(repeating: "\u{301}", count: 16_000)),
        ("a hundred thousand marks", "a" + String(repeating: "\u{301}", count: 100_000)),
        ("marks on every letter", String(repeating: "z\u{338}\u{322}\u{31B}\u{301}\u{35C}", count: 2_900)),
        ("overrides", String(repeating: "\u{202E}a\u{202D}b\u{2067}c", count: 2_000)),
        ("lines", String(repeating: "\n", count: 30_000)),
        ("lines of both marks", String(repeating: "\r\n", count: 15_000)),
        ("paragraph marks", String(repeating: "a\u{2029}", count: 8_000)),
        ("one emoji of thousands", String(repeating: "👩\u{200D}", count: 4_000) + "👩"),
        ("flags", String(repeating: "🇨", count: 7_999)),
        ("three emoji of many parts", String(repeating: "👩\u{200D}", count: 10) + "👩"),
        (
            "control characters",
            "be\u{0}hind\u{1}\u{2}\u{7}\u{8}\u{B}\u{C}\u{1B}[31m\u{7F}\u{85}\u{FEFF}\u{FFFE}"
        ),
        ("nothing", ""), ("only nul", "\u{0}"), ("spaces", String(repeating: " ", count: 30_000)),
        ("tabs", String(repeating: "\t", count: 30_000)),
        (
            "every script",
            (0..<10_000).compactMap { Unicode.Scalar(0x100 + $0 * 7) }.map(String.init).joined()
        ),
        ("addresses", String(repeating: "http://a ", count: 3_600)),
        ("one address", "https://" + String(repeating: "a/", count: 16_000)),
        (
            "addresses of other kinds",
            "javascript:alert(1) file:///etc/passwd data:text/html,x HTTP://x http://"
        ),
    ]

    private static let raws: [(name: String, raw: String)] = [
        ("half a character", #"{"text":"\ud800 and \udc00"}"#), ("no JSON", "\u{0}{{{"),
        ("deep JSON", #"{"text":"a","x":"# + String(repeating: "[", count: 15_000)),
        (
            "mentions of nobody",
            #"{"text":"@a","at":[1,2,3],"at_name":["","b","\#(String(repeating: "n", count: 9_000))"]}"#
        ),
        ("mentions of one", mentions),
        ("many keys", "{\"text\":\"a\"" + String(repeating: ",\"text\":\"b\"", count: 2_000) + "}"),
        ("an image of no size", #"{"image2":{"url":"x","width":0,"height":0}}"#),
        ("an image of less", #"{"image2":{"url":"","width":-9223372036854775808,"height":-1}}"#),
        (
            "an image of everything",
            #"{"image2":{"url":"http://","width":1e308,"height":9223372036854775807}}"#
        ),
        ("a line of an image", #"{"image2":{"url":"file:///etc/passwd","width":1,"height":2147483647}}"#),
        ("a flat image", #"{"image2":{"url":"javascript:1","width":9223372036854775807,"height":1}}"#),
        ("a place", #"{"location":{"latitude":1e308,"longitude":-1e308,"address":"\u0000"}}"#),
        (
            "a file",
            #"{"file":{"url":"javascript:alert(1)","filename":"\#(String(repeating: "../", count: 5_000))","size":9e18}}"#
        ),
        ("a voice", #"{"audio":{"url":"x","duration":9223372036854775807}}"#),
        ("a film", #"{"video":{"url":"x","thumbnail":"y","width":1,"height":1e18,"duration":-9e18}}"#),
        (
            "a link",
            #"{"link":{"title":"\u202e","content":"\#(String(repeating: "c", count: 20_000))","url":"file:///","image":""}}"#
        ),
        (
            "a poll",
            #"{"poll":{"question":"?","options":[\#(Array(repeating: "\"o\"", count: 5_000).joined(separator: ","))]}}"#
        ),
    ]

    private static let mentions: String = {
        let count = 2_500
        let text = String(repeating: "@a", count: 6_000)
        let users = Array(repeating: "1", count: count).joined(separator: ",")
        let names = Array(repeating: "\"b\"", count: count).joined(separator: ",")
        return #"{"text":"\#(text)","at":[\#(users)],"at_name":[\#(names)]}"#
    }()

    private static let odd: [(name: String, messages: [Message])] = [
        ("quotes in a circle", ["a", "b", "none", "revoked"].map { quoting($0) }),
        ("reactions", [reacted(String(repeating: "x", count: 300), 4_000, 1), reacted("👍", 1, 50_000)]),
        ("times", [Int64.min, .max, 0, -1, 9_223_372_036_854_775, 253_402_300_800_000].map { timed($0) }),
        ("authors", [Int64.min, .max, 0, -1, 1, 2, 3, 4, 5, 6, 7].map { written(by: $0) }),
        ("states", states), ("a notice", [notice(String(repeating: "left ", count: 6_000))]),
    ]

    private static var states: [Message] {
        let all: [Message.State] = [
            .read(count: .max), .read(count: -1), .failed(reason: String(repeating: "why ", count: 3_000)),
            .sending,
            .delivered,
        ]
        return all.map { state in
            var message = SampleFlow.message(0, text: "state")
            message.state = state
            return message
        }
    }

    private static func quoting(_ uuid: String) -> Message {
        var message = message(json(text: "an answer"))
        message.uuid = "a"
        message.reference = uuid
        return message
    }

    private static func reacted(_ emoji: String, _ count: Int, _ users: Int) -> Message {
        var message = message(json(text: "liked"))
        message.reactions = (0..<count).map { number in
            Message.Reaction(emoji: emoji + "\(number)", users: (0..<users).map { UserID(Int64($0)) })
        }
        return message
    }

    private static func timed(_ milliseconds: Int64) -> Message {
        var message = message(json(text: "at \(milliseconds)"))
        message.timeMilliseconds = milliseconds
        return message
    }

    private static func written(by user: Int64) -> Message {
        var message = message(json(text: "by \(user)"))
        message.sender = UserID(user)
        return message
    }

    private static func notice(_ text: String) -> Message {
        var message = message("")
        message.content = .notice(text)
        return message
    }

    private static func message(_ raw: String) -> Message {
        var message = SampleFlow.message(5, text: "")
        if case .message(let content) = ContentCodec().decode(raw).body { message.content = content }
        return message
    }

    private static func json(text: String) -> String {
        (try? ContentCodec().encode(.text(text), envelope: ContentEnvelope())) ?? ""
    }
}
