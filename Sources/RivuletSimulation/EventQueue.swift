/// What is to happen, the earliest first; of two at the same time the one that was added first.
///
/// The heap moves small keys about; the elements themselves lie still in places that are used again.
struct EventQueue<Element> {
    private struct Key {
        var at: Int64
        /// Grows with each element that is added; its place in the low bits.
        var order: UInt64

        static func < (left: Key, right: Key) -> Bool {
            left.at != right.at ? left.at < right.at : left.order < right.order
        }
    }

    private static var placeBits: UInt64 { 20 }
    /// How many events may wait at a time, for want of bits.
    static var countLimit: Int { 1 << 20 }

    private let countMax: Int
    private var heap: [Key] = []
    private var elements: [Element?] = []
    private var freePlaces: [Int] = []
    private var lastOrder: UInt64 = 0
    /// How many were added and are lost, because too many waited.
    private(set) var droppedCount = 0

    /// Makes an empty queue in which so many events may wait; a run ends with an error when there are more.
    init(countMax: Int = Self.countLimit) {
        self.countMax = min(countMax, Self.countLimit)
    }

    var count: Int { heap.count }

    /// When the next one happens.
    var nextTime: Int64? { heap.first?.at }

    mutating func add(_ element: consuming Element, at time: Int64) {
        let place: Int
        if let free = freePlaces.popLast() {
            place = free
            elements[place] = element
        } else if elements.count < countMax {
            place = elements.count
            elements.append(element)
        } else {
            droppedCount += 1
            return
        }
        lastOrder += 1
        let key = Key(at: time, order: lastOrder << Self.placeBits | UInt64(place))
        heap.append(key)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard key < heap[parent] else { break }
            heap[child] = heap[parent]
            child = parent
        }
        heap[child] = key
    }

    mutating func next() -> (at: Int64, element: Element)? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        if !heap.isEmpty { sink(last) }
        let place = Int(first.order & (1 << Self.placeBits - 1))
        freePlaces.append(place)
        guard let element = elements[place].take() else { return nil }
        return (first.at, element)
    }

    /// Puts a key into the hole at the top.
    private mutating func sink(_ key: Key) {
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1] < heap[child] { child += 1 }
            guard heap[child] < key else { break }
            heap[parent] = heap[child]
            parent = child
        }
        heap[parent] = key
    }
}
