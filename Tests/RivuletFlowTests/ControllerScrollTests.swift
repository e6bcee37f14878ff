import RivuletModel
import Testing

@testable import RivuletFlow

@Suite struct `Reasons and the reader` {
    @Test func `the first page shows the newest messages at the bottom`() throws {
        let flow = TestFlow.opened()
        let first = try #require(flow.updates.first)
        #expect(first.reasons.contains(.firstLoad))
        #expect(first.scroll.isBottom)
        #expect(flow.ids.last == 200)
        #expect(flow.core.offset == flow.core.offsetRange.upperBound)
        #expect(flow.core.state.opening == .shown)
        #expect(flow.core.state.isFollowing)
    }

    @Test func `a reader at the bottom follows a message that arrives`() throws {
        var flow = TestFlow.opened()
        flow.send(.arrived([.sample(201)]))
        let last = try #require(flow.last)
        #expect(last.reasons == .live)
        #expect(last.scroll == .bottom(offset: flow.core.offsetRange.upperBound, isAnimated: true))
        #expect(flow.core.state.newMessageCount == 0)
    }

    @Test func `a reader further up stays and the message is counted`() throws {
        var flow = TestFlow.opened()
        flow.scrollUp(400)
        let before = flow.top(190)
        flow.send(.arrived([.sample(201), .sample(202)]))
        #expect(flow.top(190) == before)
        #expect(flow.last?.scroll == .keep(by: 0))
        #expect(flow.core.state.newMessageCount == 2)
        #expect(!flow.core.state.isFollowing)
    }

    @Test func `own messages that come from elsewhere are not counted`() {
        var flow = TestFlow.opened()
        flow.scrollUp(400)
        flow.send(.arrived([.sample(201, isOutgoing: true)]))
        #expect(flow.core.state.newMessageCount == 0)
    }

    @Test func `an own message takes the reader to the bottom`() {
        var flow = TestFlow.opened()
        flow.scrollUp(400)
        flow.send(.sent([.sample(201, isOutgoing: true, state: .sending)]))
        #expect(flow.last?.reasons == .ownSend)
        #expect(flow.last?.scroll.isBottom == true)
        #expect(flow.core.state.isFollowing)
    }

    @Test func `a history page keeps the anchor`() throws {
        var flow = TestFlow.opened()
        flow.answersLoads = false
        flow.scroll(100)
        let request = try #require(flow.loads.last)
        let anchor = flow.core.snapshot.messages[3].id.rawValue
        let before = flow.top(anchor)
        flow.send(.pageLoaded(request.ticket, flow.page(for: request)))
        #expect(flow.top(anchor) == before)
        #expect(flow.last?.reasons.contains(.historyPage) == true)
        #expect(flow.last?.scroll.isKeep == true)
    }

    @Test func `an edit above the reader keeps the anchor`() {
        var flow = TestFlow.opened()
        flow.scrollUp(300)
        let before = flow.top(195)
        var long = Message.sample(180, text: String(repeating: "long ", count: 100))
        long.revision = 1
        flow.send(.updated([long]))
        #expect(flow.top(195) == before)
        #expect(flow.last?.reasons == .edit)
        guard case .keep(let shift)? = flow.last?.scroll else { return #expect(Bool(false)) }
        #expect(shift > 40)
    }

    @Test func `an edit of the last message keeps a following reader at the bottom`() {
        var flow = TestFlow.opened()
        var long = Message.sample(200, text: String(repeating: "long ", count: 100))
        long.revision = 1
        flow.send(.updated([long]))
        #expect(flow.core.offset == flow.core.offsetRange.upperBound)
    }

    @Test func `deleting the anchor hands over to the next row that is left`() {
        var flow = TestFlow.opened()
        flow.scrollUp(300)
        let snapshot = flow.core.snapshot
        let visible = snapshot.visibleRows(from: flow.core.offset, height: 600)
        let second = snapshot.rows[visible.lowerBound + 2].message
        let before = flow.top(second.rawValue)
        flow.send(
            .deleted([
                snapshot.rows[visible.lowerBound].message, snapshot.rows[visible.lowerBound + 1].message,
            ]))
        #expect(flow.top(second.rawValue) == before)
    }

    @Test func `while the reader drags nothing scrolls, and an own message does so afterwards`() {
        var flow = TestFlow.opened()
        flow.send(.dragBegan)
        let before = flow.top(200)
        flow.send(.sent([.sample(201, isOutgoing: true)]), .arrived([.sample(202)]))
        #expect(flow.top(200) == before)
        #expect(flow.last?.scroll == .keep(by: 0))
        #expect(flow.core.state.newMessageCount == 1)
        flow.send(.dragEnded)
        #expect(flow.last?.scroll.isBottom == true)
        #expect(flow.core.offset == flow.core.offsetRange.upperBound)
        #expect(flow.core.state.newMessageCount == 0)
    }

    @Test func `a change of width keeps the anchor`() {
        var flow = TestFlow.opened()
        flow.scrollUp(500)
        let anchor = flow.core.position.anchor
        flow.send(.resized(LayoutSize(width: 300, height: 600)))
        #expect(flow.last?.reasons == .resize)
        #expect(flow.core.position.anchor == anchor)
        #expect(flow.core.snapshot.width == 300)
    }

    @Test func `a change of text size keeps the anchor`() {
        var flow = TestFlow.opened()
        flow.scrollUp(500)
        let anchor = flow.core.position.anchor
        let height = flow.core.snapshot.contentHeight
        flow.send(.textScaled(2))
        #expect(flow.last?.reasons.contains(.restyle) == true)
        #expect(flow.core.position.anchor == anchor)
        #expect(flow.core.snapshot.contentHeight > height * 1.3)
    }

    @Test func `a picture that finds its size late keeps the anchor`() {
        var flow = TestFlow.opened()
        flow.scrollUp(300)
        let anchor = flow.core.position.anchor
        flow.send(.componentResized(MessageID(175), .content, LayoutSize(width: 280, height: 360)))
        #expect(flow.last?.reasons == .measurement)
        #expect(flow.core.position.anchor == anchor)
    }

    @Test func `a row higher than the viewport keeps the place inside it`() {
        var flow = TestFlow.opened(count: 5)
        var giant = Message.sample(3, text: String(repeating: "word ", count: 2_000))
        giant.revision = 1
        flow.send(.updated([giant]))
        flow.scroll(300)
        let before = flow.top(3)
        #expect((before ?? 0) < 0)
        flow.send(.deleted([MessageID(1)]), .arrived([.sample(6)]))
        #expect(flow.top(3) == before)
    }

    @Test(arguments: [FlowAlignment.top, .center, .bottom])
    func `a jump to a loaded message aligns and highlights it`(alignment: FlowAlignment) throws {
        var flow = TestFlow.opened()
        flow.answersLoads = false
        flow.send(.jumpRequested(MessageID(185), alignment, highlights: true))
        let last = try #require(flow.last)
        #expect(last.reasons == .jump)
        #expect(last.scroll.isTarget)
        #expect(last.highlight == MessageID(185))
        let snapshot = flow.core.snapshot
        let row = try #require(snapshot.rows.firstIndex { $0.id == .message(MessageID(185)) })
        let height = snapshot.layout.height(ofRow: row)
        let top = try #require(flow.top(185))
        switch alignment {
        case .top: #expect(top == 0)
        case .center: #expect(abs(top + height / 2 - 300) < 0.01)
        default: #expect(abs(top + height - 600) < 0.01)
        }
    }

    @Test func `a jump to a message that is not loaded fetches its neighbourhood`() throws {
        var flow = TestFlow.opened()
        flow.send(.jumpRequested(MessageID(60), .center, highlights: true))
        #expect(flow.loads.contains { $0.target == .around(MessageID(60)) })
        #expect(flow.updates.contains { $0.highlight == MessageID(60) })
        let top = try #require(flow.top(60))
        #expect(top > 200 && top < 400)
        #expect(flow.core.state.newer.canLoad)
        #expect(!flow.core.state.isFollowing)
    }

    @Test func `a jump while the first page is under way opens the session there`() throws {
        var flow = TestFlow(.test, stored: (0..<200).map { .sample(Int64($0 + 1)) })
        flow.answersLoads = false
        flow.send(.resized(LayoutSize(width: 600, height: 600)), .opened(.latest))
        let first = try #require(flow.loads.last)
        flow.answersLoads = true
        flow.send(.jumpRequested(MessageID(20), .top, highlights: true))
        #expect(flow.updates.contains { $0.highlight == MessageID(20) })
        #expect(flow.top(20) == 0)
        // The page that nobody waits for any more changes nothing.
        flow.send(.pageLoaded(first.ticket, flow.page(for: first)))
        #expect(flow.top(20) == 0)
    }

    @Test func `a jump asked for after the first page failed tries again, there`() throws {
        var flow = TestFlow(.test, stored: (0..<200).map { .sample(Int64($0 + 1)) })
        flow.answersLoads = false
        flow.send(.resized(LayoutSize(width: 600, height: 600)), .opened(.latest))
        flow.send(.pageFailed(try #require(flow.loads.last).ticket, FlowFailure(code: "offline")))
        flow.answersLoads = true
        flow.send(.jumpRequested(MessageID(20), .center, highlights: false))
        #expect(flow.core.state.opening == .shown)
        #expect(flow.ids.contains(20))
    }

    @Test func `a jump under way outlives a reload`() throws {
        var flow = TestFlow.opened()
        flow.answersLoads = false
        flow.send(.jumpRequested(MessageID(20), .top, highlights: true))
        let abandoned = try #require(flow.loads.last)
        flow.send(.reloadRequested)
        flow.answersLoads = true
        let request = try #require(flow.loads.last)
        #expect(request.ticket != abandoned.ticket && request.target == .around(MessageID(20)))
        flow.send(.pageLoaded(request.ticket, flow.page(for: request)))
        #expect(flow.top(20) == 0)
        #expect(flow.updates.contains { $0.highlight == MessageID(20) })
    }

    @Test func `a jump that waits for the reader to let go outlives a reload`() throws {
        var flow = TestFlow.opened()
        flow.send(.dragBegan)
        flow.send(.jumpRequested(MessageID(20), .top, highlights: true))
        #expect(!flow.ids.contains(20))
        flow.send(.reloadRequested)
        flow.send(.dragEnded)
        #expect(flow.top(20) == 0)
    }

    @Test func `a jump while an older page is under way gets there, and the page comes above`() throws {
        var flow = TestFlow.opened()
        flow.answersLoads = false
        flow.scroll(0)
        let page = try #require(flow.loads.last)
        flow.send(.jumpRequested(MessageID(180), .top, highlights: false))
        let answer = flow.page(for: page)
        flow.send(.pageLoaded(page.ticket, answer))
        #expect(flow.top(180) == 0)
        #expect(flow.ids.first == answer.messages.first?.id.rawValue)
    }

    @Test func `a jump to a message that does not exist leaves the reader alone`() {
        var flow = TestFlow.opened()
        flow.scrollUp(300)
        let before = flow.core.position
        flow.send(.jumpRequested(MessageID(9_999), .center, highlights: true))
        #expect(flow.core.position == before)
        #expect(
            flow.actions.contains { if case .reportMissing(MessageID(9_999)) = $0 { true } else { false } })
    }

    @Test func `the newest messages are fetched when the window does not hold them`() {
        var flow = TestFlow.opened(at: .message(MessageID(60), .top))
        #expect(flow.core.state.newer.canLoad)
        flow.send(.latestRequested)
        #expect(flow.ids.last == 200)
        #expect(flow.core.offset == flow.core.offsetRange.upperBound)
        #expect(flow.core.state.isFollowing)
    }

    @Test func `an own message away from the newest ones fetches them and is shown last`() {
        var flow = TestFlow.opened(at: .message(MessageID(60), .top))
        flow.send(.sent([.sample(201, isOutgoing: true, state: .sending)]))
        #expect(flow.ids.last == 201)
        #expect(flow.core.state.isFollowing)
        #expect(flow.core.offset == flow.core.offsetRange.upperBound)
    }

    @Test func `a reload keeps the reader's place`() {
        var flow = TestFlow.opened()
        flow.scrollUp(500)
        let anchor = flow.core.position.anchor
        flow.stored.removeAll { $0.id.rawValue == 175 }
        flow.send(.reloadRequested)
        #expect(flow.core.position.anchor == anchor)
        #expect(!flow.ids.contains(175))
    }

    @Test func `a page that would replace the window waits until the reader lets go`() {
        var flow = TestFlow.opened()
        flow.scrollUp(500)
        flow.send(.dragBegan)
        let before = flow.core.position
        flow.send(.jumpRequested(MessageID(20), .top, highlights: false))
        #expect(flow.core.position == before)
        #expect(!flow.ids.contains(20))
        flow.send(.dragEnded)
        #expect(flow.top(20) == 0)
    }

    @Test func `the position is restored on reopening`() {
        var flow = TestFlow.opened()
        flow.scrollUp(1_000)
        let saved = flow.core.position
        flow.send(.closed)
        #expect(flow.core.position == saved)
        flow.send(.opened(.position(saved)))
        #expect(flow.core.position.anchor == saved.anchor)
    }

    @Test func `a place that is gone opens at the newest messages`() {
        let gone = FlowPosition(anchor: FlowAnchor(message: MessageID(7_777), edge: .top, offset: 20))
        let flow = TestFlow.opened(at: .position(gone))
        #expect(flow.ids.last == 200)
        #expect(flow.core.state.isFollowing)
    }

    @Test func `an offset reported for an older version is understood`() {
        var flow = TestFlow.opened()
        flow.scrollUp(500)
        let version = flow.core.snapshot.version
        let offset = flow.core.offset
        let before = flow.top(195)
        var long = Message.sample(175, text: String(repeating: "long ", count: 100))
        long.revision = 1
        flow.send(.updated([long]))
        flow.send(.scrolled(offset: offset, version: version, isByReader: true))
        #expect(flow.top(195) == before)
    }

    @Test func `an animation passing by does not end the following`() {
        var flow = TestFlow.opened()
        flow.send(
            .scrolled(
                offset: flow.core.offset - 200, version: flow.core.snapshot.version, isByReader: false))
        flow.send(.arrived([.sample(201)]))
        #expect(flow.last?.scroll.isBottom == true)
    }

    @Test func `numbers that are none change nothing`() {
        var flow = TestFlow.opened()
        let before = flow.core.offset
        flow.send(
            .scrolled(offset: .nan, version: flow.core.snapshot.version, isByReader: true),
            .textScaled(.nan), .textScaled(-1), .textScaled(0),
            .scrolled(offset: 5, version: flow.core.snapshot.version + 9, isByReader: true))
        #expect(flow.core.offset == before)
        flow.send(.resized(LayoutSize(width: .infinity, height: -.nan)))
        flow.send(.resized(LayoutSize(width: 600, height: 600)))
        #expect(flow.core.offset == flow.core.offsetRange.upperBound)
    }
}
