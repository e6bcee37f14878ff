import Testing

@testable import RivuletSimulation

@Suite struct EventQueueTests {
    @Test func `events come in the order of time, and of two at a time the first added first`() {
        var queue = EventQueue<Int>()
        for (place, time) in ([5, 1, 5, 3, 1] as [Int64]).enumerated() { queue.add(place, at: time) }
        var order: [Int] = []
        while let (_, element) = queue.next() { order.append(element) }
        #expect(order == [1, 4, 3, 0, 2])
    }

    @Test func `what finds the queue full is counted, and room that is free is used again`() {
        var queue = EventQueue<Int>(countMax: 2)
        for number in 1...3 { queue.add(number, at: 1) }
        #expect(queue.droppedCount == 1)
        #expect(queue.next()?.element == 1)
        queue.add(4, at: 1)
        #expect(queue.droppedCount == 1)
        #expect(queue.next()?.element == 2)
        #expect(queue.next()?.element == 4)
    }

    @Test func `a world in which events are dropped breaks a rule`() {
        var simulation = Simulation(SimulationTests.settings(seed: 2), isTracing: false)
        simulation.queue = EventQueue(countMax: 12)
        simulation.setUp()
        simulation.runToEnd()
        #expect(simulation.result.violation?.rule == .overrun)
    }
}
