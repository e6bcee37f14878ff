import RivuletTestSupport
import Testing

@Suite struct ProgramTests {
    @Test func `a program that is not given arguments says so`() async throws {
        let program = try Program("rivulet", [])
        try await program.waitForExit()
    }
}
