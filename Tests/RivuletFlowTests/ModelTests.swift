import RivuletModel
import Testing

@testable import RivuletFlow

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// 100,000 operations with `RIVULET_SOAK=1`, a slice of them otherwise.
private let isSoak = ProcessInfo.processInfo.environment["RIVULET_SOAK"] == "1"
private let seedCount: UInt64 = isSoak ? 100 : 8
private let operationCount = isSoak ? 1_000 : 400

@Suite struct `The flow against a naive model` {
    @Test(arguments: 1...seedCount)
    func `rows, labels, offsets and anchors agree after every operation`(seed: UInt64) throws {
        var driver = ModelDriver(seed: seed)
        do {
            driver.naive.width = 480
            driver.reader.height = 480
            try driver.send(.resized(LayoutSize(width: 480, height: 480)))
            try driver.open(.latest)
            for _ in 0..<operationCount { try driver.step() }
        } catch let mismatch as Mismatch {
            let tail = driver.log.suffix(12).joined(separator: "\n  ")
            Issue.record("seed \(seed), operation \(driver.log.count): \(mismatch.description)\n  \(tail)")
        }
        #expect(driver.applyCount > operationCount / 4)
        #expect(driver.core.invalidChangeSetCount == 0)
    }
}
