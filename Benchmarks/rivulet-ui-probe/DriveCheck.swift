import Foundation
import RivuletFlow
import RivuletModel
import RivuletUI
import Synchronization

/// A whole session over an engine in memory, driven from outside.
///
/// Keys and pointer come by the display, wishes as lines of input. Everything that happens is told, a line each; `ok` ends the answer to a wish.
///
/// The arguments are the number of messages, and `broken` when no page can be had at first.
final class DriveCheck: MessageFlowViewDelegate, MessageEventDelegate, MessageDirectory, DataManagerDelegate {
    static func run(_ arguments: [String]) {
        let count = arguments.first.flatMap { Int($0) } ?? 60
        DriveCheck(count: count, isBroken: arguments.contains("broken")).serve()
    }

    private let memory = MemoryEngine(user: UserID(1)) { SampleFlow.now }
    private let manager: DataManager
    private let view: MessageFlowView
    private let field = PlatformTextInput(label: "Write here")
    private let window: PlatformWindow
    private let input = DriveInput()
    private var consumes = false
    private var ownMenu = false
    private var marked: [UInt8] = []

    private init(count: Int, isBroken: Bool) {
        memory.add(
            (0..<count).map { number in
                var message = SampleFlow.message(number)
                // One that was not sent, and one that two people like.
                if number == count - 2 {
                    message.isOutgoing = true
                    message.sender = UserID(1)
                    message.state = .failed(reason: "")
                    message.content = .text("This one was not sent")
                }
                if number == count - 4 {
                    message.isOutgoing = false
                    message.sender = UserID(2)
                    message.content = .text("Liked by two, see https://example.org/liked for more")
                    message.reactions = [Message.Reaction(emoji: "👍", users: [UserID(2), UserID(3)])]
                }
                return message
            })
        let registry = MessageViewRegistry()
        var configuration = SessionConfiguration()
        configuration.flow.sizing = registry.sizing(measurer: PlatformTextMeasurer())
        configuration.pageSize = 30
        configuration.look.configure(.footer, for: .session) { $0.visibility = ComponentVisibility() }
        manager = DataManager(
            session: SampleFlow.session, engine: memory.engine, configuration: configuration,
            now: { SampleFlow.now }, makeUUID: { UUID().uuidString })
        view = MessageFlowView(manager: manager, registry: registry)
        window = PlatformWindow(
            title: "drive", size: CGSize(width: 700, height: 600), content: DriveHost(view, field))
        breaks(isBroken)
        view.delegate = self
        view.eventDelegate = self
        view.list.directory = self
        manager.delegate = self
        view.onDrop(
            files: { Probe.report("dropped files \($0.joined(separator: " "))") },
            text: { Probe.report("dropped text \($0)") })
        view.start()
        window.show()
    }

    private func breaks(_ isBroken: Bool) {
        memory.setScript { operation in
            operation.kind == .page && isBroken
                ? .failing(with: FlowFailure(code: "broken", message: "The line is cut.")) : .normal
        }
    }

    // MARK: wishes

    private func serve() {
        input.listen()
        Probe.wait {
            manager.controller.state.opening != .loading && manager.controller.state.opening != .closed
        }
        Probe.settle()
        Probe.report("ready")
        let end = ContinuousClock.now.advanced(by: .seconds(60))
        while ContinuousClock.now < end {
            PlatformApplication.run(for: .milliseconds(5))
            let (line, isClosed) = input.next()
            if let line {
                perform(line.split(separator: " ").map(String.init))
                Probe.report("ok")
            } else if isClosed {
                break
            }
        }
        view.stop()
        window.close()
        PlatformApplication.run(for: .milliseconds(30))
    }

    private func perform(_ words: [String]) {
        let number = words.dropFirst().first.flatMap { Int($0) } ?? 0
        let isOn = words.dropFirst().first == "on"
        switch words.first {
        case "state": Probe.report(state)
        case "settle": Probe.settle()
        case "arrive": memory.flood(number, in: SampleFlow.session, from: UserID(2))
        case "jump": manager.jump(to: MessageID(Int64(number)))
        case "top": view.list.scroll(by: -1e9)
        case "scroll": view.list.scroll(by: Double(number))
        case "broken": breaks(isOn)
        case "consume": consumes = isOn
        case "menu": ownMenu = isOn
        case "select": manager.beginSelection(with: MessageID(Int64(number)))
        case "place": place(of: MessageID(Int64(number)), words.last ?? "")
        case "field": Probe.report("field '\(field.text)'")
        case "mark":
            Probe.waitForFrame(of: view.list)
            marked = view.list.renderedPixels()
        case "differ":
            Probe.waitForFrame(of: view.list)
            let now = view.list.renderedPixels()
            Probe.report(now == marked ? "same pixels" : "other pixels")
        case "glide": glide()
        default: Probe.report("unknown \(words)")
        }
    }

    /// Has messages arrive while the reader follows, and tells at how many places but the bottom the viewport stood.
    private func glide() {
        var offsets: Set<Int> = []
        memory.flood(4, in: SampleFlow.session, from: UserID(2))
        let end = ContinuousClock.now.advanced(by: .milliseconds(500))
        while ContinuousClock.now < end {
            PlatformApplication.run(for: .milliseconds(4))
            let offset = view.list.contentOffset
            if offset < manager.controller.offsetRange.upperBound - 1 { offsets.insert(Int(offset)) }
        }
        Probe.report("glided over \(offsets.count) places")
    }

    private func place(of id: MessageID, _ name: String) {
        guard let component = MessageComponent.allCases.first(where: { "\($0)" == name }),
            let shown = view.list.cell(for: id)?.view(for: component),
            let origin = shown.convert(.zero, to: window.content)
        else { return Probe.report("place none") }
        let size = shown.bounds.size
        Probe.report("place \(Int(origin.x)) \(Int(origin.y)) \(Int(size.width)) \(Int(size.height))")
    }

    private var state: String {
        let state = manager.controller.state
        let range = manager.controller.offsetRange
        func part(_ name: String) -> PlatformView? {
            view.subviews.first { String(describing: type(of: $0)) == name }
        }
        let focused = view.list.visibleCells.first { $0.isFocused }?.message?.id.rawValue
        let choice =
            view.selection.isActive
            ? view.selection.ids.map(\.rawValue).sorted().map(String.init).joined(separator: ",") : "off"
        let opening =
            switch state.opening {
            case .failed: "failed"
            case let other: "\(other)"
            }
        return [
            "state offset=\(Int(view.list.contentOffset))", "end=\(Int(range.upperBound))",
            "following=\(state.isFollowing)", "new=\(state.newMessageCount)",
            "jump=\(part("PlatformButton")?.isHidden == false)",
            "day=\((part("StickyDayView")?.alpha ?? 0) > 0.5)",
            "status=\(part("FlowStatusView")?.isHidden == false)", "opening=\(opening)",
            "resends=\(memory.count(of: .resend))",
            "older=\("\(state.older)".prefix { $0 != "(" })", "pages=\(memory.count(of: .page))",
            "focus=\(focused ?? 0)", "inside=\(view.list.containsFocus)", "times=\(view.list.revealsTimes)",
            "choice=\(choice)", "menu=\(PlatformMenu.isOpen)", "reply=\(manager.draft.reference ?? "-")",
            "messages=\(memory.messages(in: SampleFlow.session).count)",
            "selected='\(view.list.selectedText)'",
        ].joined(separator: " ")
    }

    // MARK: what happens

    func consume(_ event: MessageEvent) -> Bool {
        let gesture = "\(event.gesture)".replacing(" ", with: "")
        Probe.report("event \(gesture) \(event.component) \(event.message.id.rawValue)")
        return consumes
    }

    func flowView(_ view: MessageFlowView, perform item: MessageMenuItem, on message: Message) {
        Probe.report("performed \(item.id.rawValue) \(message.id.rawValue)")
    }

    func flowView(_ view: MessageFlowView, react reaction: MessageReaction, to message: Message) {
        Probe.report("reaction \(reaction) \(message.id.rawValue)")
    }

    func flowView(_ view: MessageFlowView, toggle emoji: String, on message: Message) {
        Probe.report("toggled \(emoji) \(message.id.rawValue)")
    }

    func flowView(
        _ view: MessageFlowView, presents items: [MessageMenuItem], for message: Message, at place: CGRect
    ) -> Bool {
        Probe.report("menu \(items.map(\.id.rawValue).joined(separator: ",")) \(message.id.rawValue)")
        return ownMenu
    }

    func dataManager(_ manager: DataManager, didChange selection: MessageSelection) {
        view.selection = selection
    }

    func name(of user: UserID, in session: Session) -> String { "User \(user.rawValue)" }
    func role(of user: UserID, in session: Session) -> String? { nil }
    func message(uuid: String, in session: Session) -> Message? { manager.message(uuid: uuid) }
}

/// The lines of the input, which another thread reads.
private nonisolated final class DriveInput: Sendable {
    private struct State {
        var text = ""
        var isClosed = false
    }

    private let state = Mutex(State())

    func listen() {
        FileHandle.standardInput.readabilityHandler = { handle in
            let data = handle.availableData
            if data.isEmpty { handle.readabilityHandler = nil }
            self.state.withLock { state in
                state.text += String(decoding: data, as: UTF8.self)
                state.isClosed = state.isClosed || data.isEmpty
            }
        }
    }

    /// The next line, if there is one, and whether none can follow.
    func next() -> (line: String?, isClosed: Bool) {
        state.withLock { state in
            guard let end = state.text.firstIndex(of: "\n") else { return (nil, state.isClosed) }
            let line = String(state.text[..<end])
            state.text = String(state.text[state.text.index(after: end)...])
            return (line, false)
        }
    }
}

/// The flow above a field to write in.
private final class DriveHost: PlatformView {
    private let flow: PlatformView
    private let field: PlatformView

    init(_ flow: PlatformView, _ field: PlatformView) {
        self.flow = flow
        self.field = field
        super.init()
        addSubview(flow)
        addSubview(field)
    }

    override func layoutSubviews() {
        flow.frame = CGRect(x: 0, y: 0, width: bounds.width, height: max(0, bounds.height - 60))
        field.frame = CGRect(x: 0, y: max(0, bounds.height - 60), width: bounds.width, height: 60)
    }
}
