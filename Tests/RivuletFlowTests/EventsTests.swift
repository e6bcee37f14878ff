import RivuletModel
import Testing

@testable import RivuletFlow

@MainActor
private final class Consumer: MessageEventDelegate {
    var seen: [MessageEvent] = []
    var consumes = true

    func consume(_ event: MessageEvent) -> Bool {
        seen.append(event)
        return consumes
    }
}

@Suite struct `Events of components` {
    private static let picture: Message = {
        var message = Message.sample(1)
        message.content = .image(ImageContent(url: "", width: 1, height: 1))
        return message
    }()

    @Test(arguments: [
        (MessageGesture.longPress, MessageComponent.content, MessageReaction.openMenu),
        (.secondaryClick, .avatar, .openMenu),
        (.link("a:b"), .content, .openLink("a:b")),
        (.swipe(.towardsTrailing), .content, .reply),
        (.tap, .avatar, .showSender),
        (.tap, .content, .openContent),
    ])
    func `an event nobody consumes has its standard reaction`(
        gesture: MessageGesture, component: MessageComponent, reaction: MessageReaction
    ) {
        let event = MessageEvent(gesture: gesture, component: component, message: Self.picture)
        #expect(event.standardReaction == reaction)
    }

    @Test func `a tap on a failed message's state sends it again, on any other it does nothing`() {
        let failed = Message.sample(1, isOutgoing: true, state: .failed(reason: ""))
        #expect(
            MessageEvent(gesture: .tap, component: .accessory, message: failed).standardReaction == .resend)
        let sent = Message.sample(1, isOutgoing: true)
        #expect(MessageEvent(gesture: .tap, component: .accessory, message: sent).standardReaction == nil)
        #expect(MessageEvent(gesture: .doubleTap, component: .content, message: sent).standardReaction == nil)
    }

    @Test @MainActor func `the delegate sees every event and may consume it`() {
        let consumer = Consumer()
        let event = MessageEvent(gesture: .longPress, component: .content, message: .sample(1))
        #expect(event.reaction(after: consumer) == nil)
        consumer.consumes = false
        #expect(event.reaction(after: consumer) == .openMenu)
        #expect(event.reaction(after: nil) == .openMenu)
        #expect(consumer.seen.count == 2)
    }
}

@Suite struct `The menu of a component` {
    private func ids(_ menu: MessageMenu, _ message: Message, performs: Bool = true) -> [MessageMenuItem.ID] {
        menu.items(for: message, component: .content, componentPerforms: performs).map(\.id)
    }

    @Test func `what can be done depends on the message`() {
        let menu = MessageMenu()
        #expect(ids(menu, .sample(1)) == [.copy, .reply, .forward, .delete])
        #expect(ids(menu, .sample(1, isOutgoing: true)) == [.copy, .reply, .forward, .revoke, .delete])
        #expect(
            ids(menu, .sample(1, isOutgoing: true, state: .sending)) == [.copy, .reply, .forward, .delete])
        #expect(
            ids(menu, .sample(1, isOutgoing: true, state: .failed(reason: ""))) == [.resend, .copy, .delete])
        var revoked = Message.sample(1, isOutgoing: true)
        revoked.content = .revoked
        #expect(ids(menu, revoked) == [.delete])
    }

    @Test func `the host edits, then the filter decides`() {
        let star = MessageMenuItem(id: .init(rawValue: "star"), title: "Star")
        let menu = MessageMenu(
            edit: { items, _, _ in
                items.removeAll { $0.id == .forward }
                items.insert(star, at: 0)
                items.append(star)
            },
            canPerformMenuAction: { id, _, _ in id != .delete })
        #expect(ids(menu, .sample(1)) == [star.id, .copy, .reply])
    }

    @Test func `a component that answers no menu actions has no menu`() {
        #expect(ids(MessageMenu(), .sample(1), performs: false).isEmpty)
    }

    @Test func `the accessibility actions are the same list`() {
        let menu = MessageMenu(canPerformMenuAction: { id, _, _ in id != .copy })
        let message = Message.sample(1)
        #expect(menu.accessibilityActions(for: message) == menu.items(for: message, component: .content))
        #expect(menu.items(for: message, component: .content).allSatisfy { !$0.title.isEmpty })
    }
}
