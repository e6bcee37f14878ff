import Foundation
import RivuletFlow
import RivuletModel
import RivuletUI

/// A conversation in memory with a fixed mix of messages, and its flow in a window.
final class SampleFlow {
    nonisolated static let session = Session.group(7)
    nonisolated static let now: Int64 = 1_796_040_000_000

    let controller: FlowController
    let view: MessageFlowView
    let window: PlatformWindow

    init(
        count: Int, size: CGSize = CGSize(width: 900, height: 700),
        registry: MessageViewRegistry = MessageViewRegistry(),
        settles: Bool = true,
        configure: (inout FlowConfiguration) -> Void = { _ in }
    ) {
        var configuration = FlowConfiguration()
        configuration.sizing = registry.sizing(measurer: PlatformTextMeasurer())
        configure(&configuration)
        controller = FlowController(
            session: Self.session, configuration: configuration, now: { SampleFlow.now }
        ) {
            request in
            SampleFlow.page(request, count: count)
        }
        view = MessageFlowView(controller: controller, registry: registry)
        window = PlatformWindow(title: "probe", size: size, content: view)
        view.start()
        window.show()
        guard settles else { return }
        Probe.wait { [controller] in controller.state.opening == .shown && !controller.snapshot.rows.isEmpty }
        Probe.settle()
    }

    func close() {
        view.stop()
        window.close()
        PlatformApplication.run(for: .milliseconds(30))
    }

    nonisolated static func page(_ request: FlowLoadRequest, count: Int) -> MessagePage {
        let range: Range<Int>
        switch request.target {
        case .latest: range = max(0, count - request.limit)..<count
        case .older(let message):
            let end = Int(message.position.rawValue)
            range = max(0, end - request.limit)..<max(0, end)
        case .newer(let message):
            let start = min(count, Int(message.position.rawValue) + 1)
            range = start..<min(count, start + request.limit)
        case .around(let id):
            let middle = Int(id.rawValue)
            range = max(0, middle - request.limit / 2)..<min(count, middle + request.limit / 2)
        }
        return MessagePage(
            messages: range.map { message($0) }, hasOlder: range.lowerBound > 0,
            hasNewer: range.upperBound < count)
    }

    /// The fixed mix: seven texts in ten, a long one, a picture, a notice.
    nonisolated static func message(_ number: Int, text: String? = nil, revision: Int = 0) -> Message {
        let content: MessageContent
        switch number % 20 {
        case _ where text != nil: content = .text(text ?? "")
        case 3: content = .image(ImageContent(url: "", width: 560, height: 340))
        case 9: content = .notice("Ada added member \(number)")
        case 5, 14:
            content = .text(
                "Message \(number) is a long one: it wraps over several lines, 因为它里面有很多字，也有中文，and a link, https://example.org/\(number), and some emoji 🙂🎉. It ends here, at last."
            )
        case 11: content = .text("👍")
        default: content = .text("Message number \(number), of a common length")
        }
        return Message(
            id: MessageID(Int64(number)), session: session, sender: UserID(Int64(number / 3 % 4 + 1)),
            isOutgoing: number / 3 % 4 == 0, position: MessagePosition(Int64(number)),
            timeMilliseconds: now - Int64(1_000_000 - number) * 60_000, content: content,
            state: number / 3 % 4 == 0 ? .accepted : .received, revision: revision)
    }
}

/// A bubble whose size comes from constraints.
final class ConstraintBubble: MessageView {
    private let label = PlatformTextView()
    private var isConstrained = false

    override func refresh(with message: Message) {
        if !isConstrained {
            isConstrained = true
            let padding = context.appearance.style.padding
            addSubview(label)
            addConstraint(PlatformConstraint(label, .leading, to: nil, .leading, constant: padding.leading))
            addConstraint(PlatformConstraint(label, .top, to: nil, .top, constant: padding.top))
            addConstraint(
                PlatformConstraint(nil, .trailing, to: label, .trailing, constant: padding.trailing))
            addConstraint(PlatformConstraint(nil, .bottom, to: label, .bottom, constant: padding.bottom))
        }
        label.color = foreground
        label.show(
            MessageText.text(of: message, context.strings),
            style: MessageText.style(of: message, context.appearance.style, scale: context.textScale))
    }

    override func draw(_ canvas: PlatformCanvas) { canvas.fill(bounds, corners: corners, background) }

    var drawnTextSize: CGSize { label.drawnTextSize }

    override class func createSizeStrategy(
        message: Message, fittingSize: CGSize
    ) -> (any MessageLayoutSizeStrategy)? {
        MessageAutoLayoutSizeStrategy()
    }
}

/// A bubble that says itself how large it wants to be.
final class FittingBubble: MessageView {
    private let label = PlatformTextView()

    var drawnTextSize: CGSize { label.drawnTextSize }

    override func refresh(with message: Message) {
        if label.superview == nil { addSubview(label) }
        label.show(
            MessageText.text(of: message),
            style: MessageText.style(of: message, context.appearance.style, scale: context.textScale))
    }

    private var padding: LayoutInsets { context.appearance.style.padding }

    override func sizeThatFits(_ size: CGSize) -> CGSize {
        let inner = label.sizeThatFits(CGSize(width: size.width - padding.horizontal, height: size.height))
        return CGSize(width: inner.width + padding.horizontal, height: inner.height + padding.vertical)
    }

    override func layoutSubviews() {
        label.frame = CGRect(
            x: padding.leading, y: padding.top, width: max(0, bounds.width - padding.horizontal),
            height: max(0, bounds.height - padding.vertical))
    }

    override class func createSizeStrategy(
        message: Message, fittingSize: CGSize
    ) -> (any MessageLayoutSizeStrategy)? {
        MessageSizeThatFitsStrategy()
    }
}

enum ProbeContext {
    static func make(scale: Double) -> MessageViewContext {
        var context = MessageViewContext()
        context.appearance = AppearanceSheet().appearance(of: .content, for: SampleFlow.message(0))
        context.textScale = scale
        return context
    }
}
