/// What is to happen, the earliest first; of two at the same time the one that was added first.
struct EventQueue<Element> {
    private struct Slot {
        var at: Int64
        var order: UInt64
        var element: Element
    }

    private var slots: [Slot] = []
    private var lastOrder: UInt64 = 0

    var count: Int { slots.count }

    mutating func add(_ element: Element, at time: Int64) {
        lastOrder += 1
        slots.append(Slot(at: time, order: lastOrder, element: element))
        var child = slots.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard isEarlier(child, parent) else { return }
            slots.swapAt(child, parent)
            child = parent
        }
    }

    mutating func next() -> (at: Int64, element: Element)? {
        guard let last = slots.popLast() else { return nil }
        guard let first = slots.first else { return (last.at, last.element) }
        slots[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < slots.count {
                if isEarlier(child, least) { least = child }
            }
            if least == parent { break }
            slots.swapAt(parent, least)
            parent = least
        }
        return (first.at, first.element)
    }

    private func isEarlier(_ left: Int, _ right: Int) -> Bool {
        (slots[left].at, slots[left].order) < (slots[right].at, slots[right].order)
    }
}
