import Dispatch
import RivuletModel
import Testing

@testable import RivuletFlow

@Suite struct `Numbers for foreign names` {
    @Test func `are the same in every run, and lead back to the name`() {
        let (one, other) = (NumberBook(), NumberBook())
        for name in ["", "ben", "ben@example.org", "北京", "ada"] {
            let number = one.number(of: name)
            #expect(number >= 1 && number < MessageLedger.localBase)
            #expect(one.number(of: name) == number && one.name(of: number) == name)
            #expect(other.name(of: number) == nil)
            #expect(other.number(of: name) == number)
        }
        // Saved positions depend on it.
        #expect(one.number(of: "ben") == 12_129_919_971_082_548)
    }

    @Test func `differ for many names, from many threads`() {
        let book = NumberBook()
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for index in 0..<5_000 { _ = book.number(of: "user-\(index)") }
        }
        #expect(Set((0..<5_000).map { book.number(of: "user-\($0)") }).count == 5_000)
    }
}
