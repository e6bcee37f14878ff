import Testing

@testable import RivuletUI

@Suite struct RecentValuesTests {
    @Test func `a value is made once while it is used`() {
        var made = 0
        var recent = RecentValues<Int, Int>(countMax: 4)
        for other in 10..<20 {
            #expect(
                recent.value(for: 1) {
                    made += 1
                    return made
                } == 1, "kept over \(other)")
            _ = recent.value(for: other) { other }
        }
    }

    @Test func `no more than so many are kept, and what was not used is made anew`() {
        var recent = RecentValues<Int, Int>(countMax: 4)
        for number in 0..<100 {
            _ = recent.value(for: number) { number }
            #expect(recent.count <= 4)
        }
        #expect(recent.value(for: 0) { -1 } == -1)
        #expect(recent.value(for: 99) { -1 } == 99)
    }
}
