import RivuletModel
import Testing

@testable import RivuletFlow

@Suite struct `Pages` {
    @Test func `a page is asked for near the edge, one at a time`() {
        var flow = TestFlow.opened()
        flow.answersLoads = false
        flow.loads = []
        flow.scroll(200)
        flow.scroll(100)
        flow.scroll(0)
        #expect(flow.loads.count == 1)
        #expect(flow.core.state.older == .loading)
    }

    @Test func `nothing is asked for far from the edge`() {
        var flow = TestFlow.opened(configuration: .test)
        flow.loads = []
        flow.scroll(flow.core.offsetRange.lowerBound + 601)
        #expect(flow.loads.isEmpty)
    }

    @Test func `pages follow by themselves until the viewport is full`() {
        var configuration = FlowConfiguration.test
        configuration.pageSize = 2
        configuration.loadDistance = 0
        let flow = TestFlow.opened(configuration: configuration)
        #expect(flow.loads.count > 3)
        #expect(flow.core.snapshot.contentHeight >= 600)
        #expect(flow.core.state.isFollowing)
        #expect(flow.core.offset == flow.core.offsetRange.upperBound)
    }

    @Test func `without automatic history pages come on request only`() {
        var configuration = FlowConfiguration.test
        configuration.automaticHistory = false
        var flow = TestFlow.opened(configuration: configuration)
        flow.scroll(0)
        #expect(flow.loads.count == 1)
        #expect(flow.core.state.older == .more)
        flow.send(.loadRequested(.older))
        #expect(flow.loads.count == 2)
        #expect(flow.ids.count == 60)
    }

    @Test func `a failure is shown and only the reader tries again`() throws {
        var flow = TestFlow.opened()
        flow.answersLoads = false
        flow.scroll(0)
        let failure = FlowFailure(code: "offline")
        let request = try #require(flow.loads.last)
        flow.send(.pageFailed(request.ticket, failure))
        #expect(flow.core.state.older == .failed(failure))
        let count = flow.loads.count
        flow.scroll(10)
        flow.send(.arrived([.sample(201)]))
        #expect(flow.loads.count == count)
        flow.answersLoads = true
        flow.send(.loadRequested(.older))
        #expect(flow.loads.count > count)
        #expect(flow.core.state.older == .more)
    }

    @Test func `a first page that fails can be tried again`() throws {
        var flow = TestFlow(stored: [.sample(1)])
        flow.answersLoads = false
        flow.send(.resized(LayoutSize(width: 600, height: 600)), .opened(.latest))
        let first = try #require(flow.loads.last)
        flow.send(.pageFailed(first.ticket, FlowFailure(code: "offline")))
        #expect(flow.core.state.opening == .failed(FlowFailure(code: "offline")))
        flow.answersLoads = true
        flow.send(.loadRequested(.newer))
        #expect(flow.core.state.opening == .shown)
        #expect(flow.ids == [1])
    }

    @Test func `the answer to an earlier opening is dropped`() throws {
        var flow = TestFlow(stored: (1...20).map { .sample($0) })
        flow.answersLoads = false
        flow.send(.resized(LayoutSize(width: 600, height: 600)), .opened(.latest))
        let old = try #require(flow.loads.last)
        flow.send(.closed)
        flow.send(.pageLoaded(old.ticket, flow.page(for: old)))
        #expect(flow.ids.isEmpty)
        flow.send(.opened(.latest))
        flow.send(
            .pageLoaded(old.ticket, MessagePage(messages: [.sample(99)], hasOlder: false, hasNewer: false)))
        #expect(flow.ids.isEmpty)
        #expect(flow.core.state.opening == .loading)
    }

    @Test func `a page that brings nothing new ends the history`() throws {
        var flow = TestFlow.opened()
        flow.answersLoads = false
        flow.scroll(0)
        let request = try #require(flow.loads.last)
        let count = flow.loads.count
        flow.send(.pageLoaded(request.ticket, MessagePage(messages: [], hasOlder: true, hasNewer: true)))
        #expect(flow.core.state.older == .atEnd)
        #expect(flow.loads.count == count)
    }

    @Test func `a deletion during a page's way is not undone by it`() throws {
        var flow = TestFlow.opened()
        flow.answersLoads = false
        flow.scroll(0)
        let request = try #require(flow.loads.last)
        let page = flow.page(for: request)
        flow.send(.deleted([page.messages[3].id]))
        flow.send(.pageLoaded(request.ticket, page))
        #expect(!flow.ids.contains(page.messages[3].id.rawValue))
        #expect(flow.ids.contains(page.messages[2].id.rawValue))
    }

    @Test func `an edit during a page's way wins over the page`() throws {
        var flow = TestFlow.opened()
        flow.answersLoads = false
        flow.scroll(0)
        let request = try #require(flow.loads.last)
        let page = flow.page(for: request)
        var edited = page.messages[3]
        edited.content = .text("edited")
        edited.revision = 1
        flow.send(.updated([edited]))
        flow.send(.pageLoaded(request.ticket, page))
        #expect(flow.core.snapshot.messages.first { $0.id == edited.id }?.content == .text("edited"))
    }

    @Test func `a page does not take back what is known at the same revision`() throws {
        var flow = TestFlow.opened()
        flow.send(.sent([.sample(201, isOutgoing: true, state: .sending)]))
        flow.send(.acknowledged(MessageID(201), state: .accepted, serverKey: nil, position: nil))
        flow.answersLoads = false
        flow.scroll(0)
        let request = try #require(flow.loads.last)
        var page = flow.page(for: request)
        page.messages.append(.sample(201, isOutgoing: true, state: .sending))
        flow.send(.pageLoaded(request.ticket, page))
        #expect(flow.core.snapshot.messages.last?.state == .accepted)
    }

    @Test func `a message that arrives while the first page is under way is not lost`() throws {
        var flow = TestFlow(stored: (1...20).map { .sample($0) })
        flow.answersLoads = false
        flow.send(.resized(LayoutSize(width: 600, height: 600)), .opened(.latest))
        let request = try #require(flow.loads.last)
        let page = flow.page(for: request)
        flow.send(.arrived([.sample(21)]))
        flow.send(.pageLoaded(request.ticket, page))
        #expect(flow.ids.last == 21)
        #expect(flow.core.offset == flow.core.offsetRange.upperBound)
    }

    @Test func `the window forgets the far end and can load it again`() {
        var flow = TestFlow.opened(count: 1_000)
        for _ in 0..<60 { flow.scroll(flow.core.offsetRange.lowerBound) }
        #expect(flow.ids.first == 1)
        #expect(flow.ids.count <= 120)
        #expect(flow.core.state.newer == .more)
        #expect(flow.core.state.older == .atEnd)
        for _ in 0..<60 { flow.scroll(flow.core.offsetRange.upperBound) }
        #expect(flow.ids.last == 1_000)
        #expect(flow.ids.count <= 120)
        #expect(flow.core.state.isFollowing)
    }

    @Test func `a following reader's window forgets the oldest`() {
        var flow = TestFlow.opened()
        for id in 201...400 { flow.send(.arrived([.sample(Int64(id))])) }
        #expect(flow.ids.count == 120)
        #expect(flow.ids.last == 400)
        #expect(flow.core.state.older == .more)
    }

    @Test func `rows near the viewport are never forgotten, however small the bound`() {
        var configuration = FlowConfiguration.test
        configuration.windowCountMax = 1
        configuration.pageSize = 1
        configuration.trimDistance = 0
        var flow = TestFlow.opened(configuration: configuration)
        for _ in 0..<30 { flow.scrollUp(100) }
        let visible = flow.core.snapshot.visibleRows(from: flow.core.offset, height: 600)
        #expect(visible.count > 8)
        #expect(flow.loads.count < 200)
    }

    @Test func `the space for a spinner is there as long as there is more`() {
        var flow = TestFlow.opened(count: 50)
        #expect(flow.core.snapshot.leadingSpace == 48)
        flow.scroll(0)
        #expect(flow.core.snapshot.leadingSpace == 0)
        #expect(flow.core.state.older == .atEnd)
    }

    @Test func `an empty session is empty`() {
        let flow = TestFlow.opened(count: 0)
        #expect(flow.core.state.opening == .shown)
        #expect(flow.core.snapshot.rows.isEmpty)
        #expect(flow.core.snapshot.contentHeight == 0)
    }

    @Test func `when all that was loaded is deleted the rest is fetched`() {
        var flow = TestFlow.opened()
        let gone = Set(flow.core.snapshot.messages.map(\.id))
        flow.stored.removeAll { gone.contains($0.id) }
        flow.send(.deleted(Array(gone)))
        #expect(!flow.ids.isEmpty)
        #expect(gone.isDisjoint(with: flow.core.snapshot.messages.map(\.id)))
    }

    @Test func `messages of another session are ignored`() {
        var flow = TestFlow.opened()
        let count = flow.updates.count
        let foreign = Message.sample(777, session: .group(5))
        flow.send(.arrived([foreign]), .sent([foreign]), .updated([foreign]))
        #expect(flow.updates.count == count)
        #expect(!flow.ids.contains(777))
    }

    @Test func `short rows stand at the bottom, or at the top if the host says so`() {
        var configuration = FlowConfiguration.test
        let bottom = TestFlow.opened(count: 3, configuration: configuration)
        #expect(bottom.core.offset == bottom.core.snapshot.contentHeight - 600)
        configuration.gravity = .top
        let top = TestFlow.opened(count: 3, configuration: configuration)
        #expect(top.core.offset == 0)
    }
}

@Suite struct `What is around the rows` {
    @Test func `new messages count until they were in view`() {
        var flow = TestFlow.opened()
        flow.scrollUp(600)
        for id in 201...205 { flow.send(.arrived([.sample(Int64(id))])) }
        #expect(flow.core.state.newMessageCount == 5)
        let row = flow.core.snapshot.rows.firstIndex { $0.id == .message(MessageID(202)) } ?? 0
        flow.scroll(flow.core.snapshot.offset(ofRow: row + 1) - 600)
        #expect(flow.core.state.newMessageCount == 3)
        flow.send(.deleted([MessageID(204)]))
        #expect(flow.core.state.newMessageCount == 2)
        flow.scroll(flow.core.offsetRange.upperBound)
        #expect(flow.core.state.newMessageCount == 0)
    }

    @Test func `messages beyond the window count, too`() {
        var flow = TestFlow.opened(at: .message(MessageID(60), .top))
        flow.send(.arrived([.sample(201), .sample(202)]))
        #expect(flow.core.state.newMessageCount == 2)
        flow.stored += [.sample(201), .sample(202)]
        flow.send(.latestRequested)
        #expect(flow.core.state.newMessageCount == 0)
    }

    @Test func `the count is bounded`() {
        var configuration = FlowConfiguration.test
        configuration.newMessageCountMax = 3
        var flow = TestFlow.opened(configuration: configuration)
        flow.scrollUp(600)
        flow.send(.arrived((201...220).map { .sample($0) }))
        #expect(flow.core.state.newMessageCount == 3)
    }

    @Test func `the sticky line names the day of the topmost row and changes at midnight`() {
        let day: Int64 = 24 * 60
        let stored = (0..<60).map { index in
            Message.sample(Int64(index + 1), minute: day * (index < 30 ? 100 : 102) + Int64(index))
        }
        var flow = TestFlow(stored: stored)
        flow.now = (day * 102 + 11 * 60) * 60_000
        flow.send(.resized(LayoutSize(width: 600, height: 600)), .opened(.latest))
        #expect(flow.core.state.stickyDay == "Today")
        flow.scroll(0)
        #expect(flow.core.state.stickyDay != "Today")
        flow.scroll(flow.core.offsetRange.upperBound)
        flow.now += day * 60_000
        flow.send(.clockTicked)
        #expect(flow.core.state.stickyDay == "Yesterday")
    }

    @Test func `the next midnight is a deadline`() {
        var flow = TestFlow(stored: [.sample(1)])
        flow.now = 90_000_000
        flow.send(.resized(LayoutSize(width: 600, height: 600)), .opened(.latest))
        let deadlines = flow.actions.compactMap { if case .setDeadline(let time) = $0 { time } else { nil } }
        #expect(deadlines == [2 * 86_400_000])
    }

    @Test func `a label is right again after a delete in the middle`() {
        var configuration = FlowConfiguration.test
        configuration.decoration = DecorationRules()
        let stored = [0, 3, 6, 9].enumerated().map {
            Message.sample(Int64($0.offset + 1), minute: $0.element)
        }
        var flow = TestFlow(configuration, stored: stored)
        flow.send(.resized(LayoutSize(width: 600, height: 600)), .opened(.latest))
        #expect(flow.core.snapshot.rows.filter { $0.id.kind == .timeLabel }.map(\.message.rawValue) == [1])
        flow.send(.deleted([MessageID(2)]))
        #expect(
            flow.core.snapshot.rows.filter { $0.id.kind == .timeLabel }.map(\.message.rawValue) == [1, 3])
    }

    @Test func `without incremental refresh every apply shows everything anew`() {
        var configuration = FlowConfiguration.test
        configuration.incrementalRefresh = false
        var flow = TestFlow.opened(configuration: configuration)
        flow.send(.arrived([.sample(201)]))
        #expect(flow.last?.isReload == true)
        #expect(flow.last?.scroll == .bottom(offset: flow.core.offsetRange.upperBound, isAnimated: false))
    }

    @Test func `an acknowledged message is one update of one row`() throws {
        var flow = TestFlow.opened()
        flow.send(.sent([.sample(201, isOutgoing: true, state: .sending)]))
        flow.send(.acknowledged(MessageID(201), state: .accepted, serverKey: 77, position: nil))
        let last = try #require(flow.last)
        #expect(last.changes.keepsOrder)
        #expect(last.changes.updates.map(\.new) == [last.snapshot.rows.count - 1])
        #expect(last.snapshot.messages.last?.state == .accepted)
        #expect(last.snapshot.messages.last?.serverKey == 77)
    }

    @Test func `an acknowledgement that gives the place moves the row once`() throws {
        var flow = TestFlow.opened()
        flow.send(.sent([.sample(201, isOutgoing: true, position: 5_000, state: .sending)]))
        flow.send(.arrived([.sample(202, position: 201)]))
        flow.send(
            .acknowledged(MessageID(201), state: .accepted, serverKey: nil, position: MessagePosition(200)))
        #expect(flow.ids.suffix(3) == [200, 201, 202])
        let last = try #require(flow.last)
        #expect(last.changes.moves.count == 1)
        #expect(last.changes.insertions.isEmpty)
    }

    @Test func `news of an older revision is ignored`() {
        var flow = TestFlow.opened()
        var edited = Message.sample(200, text: "new")
        edited.revision = 5
        flow.send(.updated([edited]))
        let count = flow.updates.count
        var old = Message.sample(200, text: "old")
        old.revision = 4
        flow.send(.updated([old]))
        #expect(flow.core.snapshot.messages.last?.content == .text("new"))
        #expect(flow.updates.count == count)
    }
}
