import Testing
import UVKit

private let loopback = "127.0.0.1"

/// A listener that hands out its port and gives accepted streams to a closure.
private func listen(
    _ loop: EventLoop, host: String = loopback, accepted: @escaping @Sendable (TCPStream) -> Void
) async throws -> Listener {
    try await loop.perform {
        try Listener(on: SocketAddress(host: host, port: 0), loop: loop, accepted: accepted)
    }
}

/// Sends everything that it reads back.
private func echo(_ stream: TCPStream) {
    stream.onRead = { bytes in stream.write(bytes) }
    stream.resumeReading()
}

@Suite(.timeLimit(.minutes(3)))
struct TCPStreamTests {
    @Test(arguments: ["127.0.0.1", "::1"])
    func `Bytes come back from an echo over a real socket`(_ host: String) async throws {
        let recorder = Recorder<[UInt8]>()
        try await withLoop { loop in
            let listener = try await listen(loop, host: host, accepted: echo)
            #expect(listener.address.port != 0)
            try await loop.perform {
                let stream = try TCPStream.connect(to: listener.address, on: loop)
                stream.onOpened = {
                    #expect(stream.peerAddress == listener.address)
                    stream.resumeReading()
                    stream.write(Array("hello".utf8))
                }
                stream.onRead = { recorder.append([UInt8]($0)) }
            }
            await recorder.wait { $0.joined().count >= 5 }
        }
        #expect(Array(recorder.elements.joined()) == Array("hello".utf8))
    }

    @Test func `Bytes written while connecting arrive in order`() async throws {
        let recorder = Recorder<[UInt8]>()
        try await withLoop { loop in
            let listener = try await listen(loop) { stream in
                stream.onRead = { recorder.append([UInt8]($0)) }
                stream.resumeReading()
            }
            try await loop.perform {
                let stream = try TCPStream.connect(to: listener.address, on: loop)
                for byte in UInt8(0)..<100 { stream.write([byte]) }
            }
            await recorder.wait { $0.joined().count == 100 }
        }
        #expect(Array(recorder.elements.joined()) == Array(0..<100))
    }

    @Test func `A refused connection is closed with the system's reason`() async throws {
        let recorder = Recorder<CloseReason>()
        try await withLoop { loop in
            let listener = try await listen(loop) { _ in }
            try await loop.perform { listener.close() }
            try await loop.perform {
                let stream = try TCPStream.connect(to: listener.address, on: loop)
                stream.onOpened = { Issue.record("opened") }
                stream.onClosed = { recorder.append($0) }
            }
            await recorder.wait { $0.count == 1 }
        }
        guard case .failed(let error) = recorder.elements.first else {
            Issue.record("\(recorder.elements)")
            return
        }
        #expect(error.code == .connectionRefused)
    }

    @Test func `A taken port is an error that names it`() async throws {
        try await withLoop { loop in
            let listener = try await listen(loop) { _ in }
            let error = await #expect(throws: UVError.self) {
                try await loop.perform { _ = try Listener(on: listener.address, loop: loop) { _ in } }
            }
            #expect(error?.code == .addressInUse)
            #expect(error?.operation.contains("\(listener.address.port)") == true)
        }
    }

    @Test func `Close is told exactly once, to each side with its reason`() async throws {
        let recorder = Recorder<String>()
        try await withLoop { loop in
            let listener = try await listen(loop) { stream in
                stream.onClosed = { recorder.append("server \($0)") }
                stream.resumeReading()
            }
            try await loop.perform {
                let stream = try TCPStream.connect(to: listener.address, on: loop)
                stream.onOpened = {
                    stream.close()
                    stream.close()
                    #expect(!stream.write([1]))
                    #expect(stream.peerAddress == nil)
                }
                stream.onClosed = { recorder.append("client \($0)") }
            }
            await recorder.wait { $0.count == 2 }
        }
        #expect(recorder.elements.sorted() == ["client closedHere", "server endOfStream"])
    }

    @Test func `A half-closed stream still receives`() async throws {
        let recorder = Recorder<String>()
        try await withLoop { loop in
            let listener = try await listen(loop) { stream in
                stream.onEnd = {
                    stream.write(Array("late".utf8))
                    stream.shutdown()
                }
                stream.resumeReading()
            }
            try await loop.perform {
                let stream = try TCPStream.connect(to: listener.address, on: loop)
                stream.onOpened = {
                    stream.resumeReading()
                    stream.shutdown()
                }
                stream.onRead = { recorder.append(String(decoding: $0, as: UTF8.self)) }
                stream.onClosed = { recorder.append("\($0)") }
            }
            await recorder.wait { $0.last == "endOfStream" }
        }
        #expect(recorder.elements == ["late", "endOfStream"])
    }

    @Test func `A writer that outruns its reader sees pending bytes and then drained`() async throws {
        let recorder = Recorder<Int>()
        let total = 64 << 20
        try await withLoop { loop in
            let reader = Recorder<TCPStream>()
            let listener = try await listen(loop) { stream in
                stream.onRead = { recorder.append($0.count) }
                reader.append(stream)
            }
            let writer = try await loop.perform { try TCPStream.connect(to: listener.address, on: loop) }
            let drained = Recorder<Bool>()
            let server = await reader.wait { $0.count == 1 }[0]
            try await loop.perform {
                writer.onDrained = { drained.append(true) }
                writer.write([UInt8](repeating: 7, count: total))
                #expect(writer.pendingWriteByteCount > 0)
                server.resumeReading()
            }
            await drained.wait { !$0.isEmpty }
            #expect(try await loop.perform { writer.pendingWriteByteCount } == 0)
            await recorder.wait { $0.reduce(0, +) == total }
            #expect(drained.elements.count == 1)
        }
        #expect(recorder.elements.max() ?? 0 <= EventLoop.readBufferByteCount)
    }

    @Test func `A paused stream reads nothing until it is resumed`() async throws {
        let recorder = Recorder<String>()
        try await withLoop { loop in
            let accepted = Recorder<TCPStream>()
            let listener = try await listen(loop) { stream in
                stream.onRead = {
                    recorder.append(String(decoding: $0, as: UTF8.self))
                    stream.pauseReading()
                }
                stream.resumeReading()
                accepted.append(stream)
            }
            let client = try await loop.perform { try TCPStream.connect(to: listener.address, on: loop) }
            let server = await accepted.wait { $0.count == 1 }[0]
            try await loop.perform { _ = client.write(Array("one".utf8)) }
            await recorder.wait { $0.count == 1 }
            try await loop.perform { _ = client.write(Array("two".utf8)) }
            // Two turns of the loop with data waiting: a reading stream would have reported it.
            try await loop.perform {}
            try await loop.perform {}
            #expect(recorder.elements == ["one"])
            try await loop.perform { server.resumeReading() }
            await recorder.wait { $0.count == 2 }
        }
        #expect(recorder.elements == ["one", "two"])
    }

    @Test func `Stopping the loop closes its streams with that reason`() async throws {
        let recorder = Recorder<CloseReason>()
        let accepted = Recorder<TCPStream>()
        try await withLoop { loop in
            let listener = try await listen(loop) { stream in
                stream.onClosed = { recorder.append($0) }
                accepted.append(stream)
            }
            try await loop.perform {
                let stream = try TCPStream.connect(to: listener.address, on: loop)
                stream.onClosed = { recorder.append($0) }
            }
            await accepted.wait { $0.count == 1 }
        }
        #expect(recorder.elements == [.loopStopped, .loopStopped])
    }

    @Test func `A paused listener accepts nothing, and what waited is accepted when it resumes`() async throws
    {
        let accepted = Recorder<TCPStream>()
        let opened = Recorder<Bool>()
        try await withLoop { loop in
            let listener = try await listen(loop) { accepted.append($0) }
            try await loop.perform {
                listener.pauseAccepting()
                let stream = try TCPStream.connect(to: listener.address, on: loop)
                stream.onOpened = { opened.append(true) }
            }
            await opened.wait { $0.count == 1 }
            try await loop.perform {}
            #expect(accepted.elements.isEmpty)
            try await loop.perform { listener.resumeAccepting() }
            await accepted.wait { $0.count == 1 }
        }
    }

    @Test func `A callback that closes its own stream is safe`() async throws {
        let recorder = Recorder<CloseReason>()
        try await withLoop { loop in
            let listener = try await listen(loop) { stream in
                stream.onRead = { _ in stream.close() }
                stream.onClosed = { recorder.append($0) }
                stream.resumeReading()
            }
            try await loop.perform {
                let stream = try TCPStream.connect(to: listener.address, on: loop)
                stream.onOpened = { stream.write([UInt8](repeating: 1, count: 1 << 20)) }
                stream.onClosed = { recorder.append($0) }
            }
            await recorder.wait { $0.count >= 1 }
        }
        #expect(recorder.elements.contains(.closedHere))
    }
}
