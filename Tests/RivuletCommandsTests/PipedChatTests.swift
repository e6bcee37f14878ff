import Foundation
import RivuletModel
import Testing

@testable import RivuletCommands

/// Runs a piped chat on this input and returns its status with all that it printed.
private func pipe(
    _ backend: FakeBackend, _ input: String, timeout: Duration = .seconds(30)
) async throws -> (status: Int32, output: [String], errors: [String]) {
    let ends = Pipe()
    let output = Collector()
    let chat = PipedChat(
        backend: backend, peer: UserID(8), formatter: plainFormatter, console: output.console,
        timeout: timeout)
    async let status = chat.run(input: ends.fileHandleForReading.fileDescriptor)
    try ends.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try ends.fileHandleForWriting.close()
    return (try await status, output.lines, output.errors)
}

@Suite(.timeLimit(.minutes(3)))
struct PipedChatTests {
    @Test func `Each line is sent, and all acknowledged is success`() async throws {
        let backend = FakeBackend(answer: .accepted)
        let lines = (1...300).map { "line \($0)" }
        let result = try await pipe(backend, lines.joined(separator: "\n") + "\n\n")
        #expect(result.status == 0)
        #expect(backend.sent.map { $0.content.summary } == lines)
        #expect(result.output == [])
        #expect(result.errors == [])
    }

    @Test func `A last line without a line break is sent`() async throws {
        let backend = FakeBackend(answer: .accepted)
        #expect(try await pipe(backend, "a\r\nb").status == 0)
        #expect(backend.sent.map { $0.content.summary } == ["a", "b"])
    }

    @Test func `What is not acknowledged in time is a failure that says so`() async throws {
        let result = try await pipe(FakeBackend(), "a\nb\n", timeout: .milliseconds(10))
        #expect(result.status == 1)
        #expect(
            result.errors == ["rivulet: 2 not acknowledged in time; kept in the store and sent the next time"]
        )
    }

    @Test func `A refused message is a failure with its reason`() async throws {
        let result = try await pipe(FakeBackend(answer: .failed(reason: "blocked")), "a\n")
        #expect(result.status == 1)
        #expect(result.errors == ["rivulet: not sent: blocked"])
    }

    @Test func `Incoming messages are printed as plain lines`() async throws {
        let backend = FakeBackend()
        backend.tell(.message(.sample(1, from: 8, text: "hello\u{1B}[0m")))
        backend.tell(.message(.sample(2, from: 9, with: 9, text: "elsewhere")))
        let result = try await pipe(backend, "")
        #expect(result.status == 0)
        #expect(result.output == [] || result.output == ["10:42 8: hello␛[0m"])
    }

    @Test func `A refused login ends the chat at once`() async throws {
        let backend = FakeBackend()
        backend.tell(.connection(.ended(reason: "the server refused the token")))
        let result = try await pipe(backend, "a\n")
        #expect(result.status == 1)
        #expect(result.errors.first == "rivulet: the server refused the token")
    }
}
