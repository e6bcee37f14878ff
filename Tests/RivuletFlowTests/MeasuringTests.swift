import RivuletModel
import Testing

@testable import RivuletFlow

private func key(_ id: Int64, _ component: MessageComponent = .content, width: Double = 300) -> MeasureKey {
    MeasureKey(
        message: MessageID(id), component: component, revision: 0, width: width, textScale: 1, styleEpoch: 0)
}

private func request(
    _ message: Message, width: Double = 300, height: Double = .greatestFiniteMagnitude, scale: Double = 1,
    style: ComponentStyle = ComponentStyle()
) -> MeasureRequest {
    MeasureRequest(
        key: MeasureKey(
            message: message.id, component: .content, revision: 0, width: width, textScale: scale,
            styleEpoch: 0),
        message: message, fittingSize: LayoutSize(width: width, height: height),
        appearance: ComponentAppearance(style: style))
}

@Suite struct `Layout snapshots` {
    @Test func `the least recently used size goes first`() {
        var cache = LayoutSnapshots(countMax: 2)
        cache.insert(LayoutSize(width: 1, height: 1), kind: .text, for: key(1))
        cache.insert(LayoutSize(width: 2, height: 2), kind: .text, for: key(2))
        #expect(cache.size(for: key(1)) != nil)
        cache.insert(LayoutSize(width: 3, height: 3), kind: .text, for: key(3))
        #expect(cache.size(for: key(2)) == nil)
        #expect(cache.size(for: key(1))?.width == 1)
        #expect(cache.size(for: key(3))?.width == 3)
        #expect(cache.counters.evictions == 1)
        #expect(cache.counters.hits == 3)
        #expect(cache.counters.misses == 1)
    }

    @Test func `every part of the key counts`() {
        var cache = LayoutSnapshots()
        let base = key(1)
        cache.insert(.zero, kind: .text, for: base)
        var variants = [base, base, base, base, base, base]
        variants[0].message = MessageID(2)
        variants[1].component = .footer
        variants[2].revision = 1
        variants[3].width = 301
        variants[4].textScale = 2
        variants[5].styleEpoch = 1
        for variant in variants { #expect(cache.size(for: variant) == nil) }
        #expect(cache.size(for: base) == .zero)
    }

    @Test func `clearing touches one message, one kind, or all`() {
        var cache = LayoutSnapshots()
        cache.insert(.zero, kind: .text, for: key(1))
        cache.insert(.zero, kind: .text, for: key(1, .footer))
        cache.insert(.zero, kind: .text, for: key(2))
        cache.insert(.zero, kind: .image, for: key(3))
        cache.clear(message: MessageID(1))
        #expect(cache.count == 2)
        cache.clear(kind: .image)
        #expect(cache.count == 1)
        #expect(cache.size(for: key(2)) != nil)
        cache.clearAll()
        #expect(cache.count == 0)
        #expect(cache.size(for: key(2)) == nil)
    }

    @Test func `a cache without room keeps nothing`() {
        var cache = LayoutSnapshots(countMax: -3)
        cache.insert(.zero, kind: .text, for: key(1))
        #expect(cache.count == 0)
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func `it agrees with a list kept in order of use`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var cache = LayoutSnapshots(countMax: 8)
        var model: [(key: MeasureKey, kind: MessageKind, size: LayoutSize)] = []
        for step in 0..<4_000 {
            let key = key(
                Int64.random(in: 0..<12, using: &generator),
                Bool.random(using: &generator) ? .content : .footer)
            switch Int.random(in: 0..<20, using: &generator) {
            case 0:
                cache.clear(message: key.message)
                model.removeAll { $0.key.message == key.message }
            case 1:
                cache.clear(kind: .image)
                model.removeAll { $0.kind == .image }
            case 2 where step % 10 == 0:
                cache.clearAll()
                model = []
            case 3..<10:
                let kind: MessageKind = key.message.rawValue % 3 == 0 ? .image : .text
                let size = LayoutSize(width: Double(step), height: 1)
                cache.insert(size, kind: kind, for: key)
                model.removeAll { $0.key == key }
                model.append((key, kind, size))
                if model.count > 8 { model.removeFirst() }
            default:
                let expected = model.firstIndex { $0.key == key }
                #expect(cache.size(for: key) == expected.map { model[$0].size })
                if let expected { model.append(model.remove(at: expected)) }
            }
            #expect(cache.count == model.count)
        }
    }
}

@Suite struct `Size strategies` {
    @Test func `text is measured inside its padding and grows with the text size`() {
        let strategy = TextSizeStrategy(measurer: MonospaceMeasurer())
        let style = ComponentStyle(padding: LayoutInsets(vertical: 8, horizontal: 12))
        let message = Message.sample(1, text: String(repeating: "a", count: 40))
        let small = strategy.size(for: request(message, width: 164, style: style))
        #expect(small == LayoutSize(width: 164, height: 56))
        let large = strategy.size(for: request(message, width: 164, scale: 2, style: style))
        #expect(large == LayoutSize(width: 164, height: 176))
    }

    @Test func `a picture keeps its aspect and is never enlarged`() {
        var message = Message.sample(1)
        let strategy = ImageSizeStrategy()
        message.content = .image(ImageContent(url: "", width: 1000, height: 500))
        #expect(strategy.size(for: request(message, width: 280, height: 360)).height == 140)
        message.content = .image(ImageContent(url: "", width: 100, height: 1000))
        #expect(strategy.size(for: request(message, width: 280, height: 360)).width == 36)
        message.content = .image(ImageContent(url: "", width: 20, height: 10))
        #expect(strategy.size(for: request(message, width: 280, height: 360)).width == 20)
        message.content = .image(ImageContent(url: "", width: 0, height: -4))
        #expect(strategy.size(for: request(message, width: 280, height: 360)) == strategy.placeholder)
    }

    @Test func `a size that is not a number becomes zero`() throws {
        var table = SizingTable(text: MonospaceMeasurer())
        table.set(
            .value(CustomSizeStrategy { _ in LayoutSize(width: .nan, height: -.infinity) }), of: .content)
        #expect(try #require(table.measure(request(.sample(1)))).size == .zero)
    }

    @Test func `an entry for the kind wins over one for all kinds`() throws {
        var table = SizingTable(text: MonospaceMeasurer())
        table.set(.view, of: .content)
        table.set(.value(FixedSizeStrategy(size: LayoutSize(width: 5, height: 6))), of: .content, for: .text)
        #expect(try #require(table.measure(request(.sample(1)))).size?.height == 6)
        #expect(table.sizing(of: .content, kind: .image).isView)
        #expect(!table.sizing(of: .content, kind: .text).isView)
        #expect(!table.sizing(of: .header, kind: .image).isView)
    }
}

@Suite struct `Size estimates` {
    private let appearance = ComponentAppearance()

    @Test func `an estimate is the average of its kind at a like width`() {
        var estimator = SizeEstimator()
        estimator.add(LayoutSize(width: 100, height: 20), of: .content, kind: .text, width: 300)
        estimator.add(LayoutSize(width: 200, height: 40), of: .content, kind: .text, width: 310)
        estimator.add(LayoutSize(width: 100, height: 900), of: .content, kind: .image, width: 300)
        let near = estimator.estimate(of: .content, kind: .text, width: 305, appearance: appearance)
        #expect(near == LayoutSize(width: 150, height: 30))
    }

    @Test func `a kind never measured at this width borrows from others`() {
        var estimator = SizeEstimator()
        estimator.add(LayoutSize(width: 100, height: 20), of: .content, kind: .text, width: 300)
        let far = estimator.estimate(of: .content, kind: .text, width: 900, appearance: appearance)
        #expect(far.height == 20)
    }

    @Test func `a kind never measured gets two lines`() {
        let estimate = SizeEstimator().estimate(
            of: .content, kind: .text, width: 300, appearance: appearance)
        #expect(estimate.height == 40)
    }
}
