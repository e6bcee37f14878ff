import RivuletTransport
import Testing
import UVKit

/// A transport with a server behind it that echoes what it gets and closes when it gets a zero byte.
struct EchoWorld: Sendable, CustomTestStringConvertible {
    let name: String
    let make:
        @Sendable (EventLoop) throws -> (transport: any ClientTransport, server: Endpoint, dead: Endpoint)

    var testDescription: String { name }

    static let sockets = EchoWorld(name: "sockets") { loop in
        let listener = try Listener(on: SocketAddress(host: "127.0.0.1", port: 0), loop: loop) { stream in
            stream.onRead = { bytes in
                if bytes.contains(0) { stream.close() } else { stream.write(bytes) }
            }
            stream.resumeReading()
        }
        let closed = try Listener(on: SocketAddress(host: "127.0.0.1", port: 0), loop: loop) { _ in }
        closed.close()
        return (
            TCPTransport(loop: loop), Endpoint(host: "127.0.0.1", port: listener.address.port),
            Endpoint(host: "127.0.0.1", port: closed.address.port)
        )
    }

    static let memory = EchoWorld(name: "memory") { loop in
        let transport = MemoryTransport(context: loop)
        let server = Endpoint(host: "127.0.0.1", port: 1)
        transport.serve(server) { peer in
            peer.handler = { [weak peer] event in
                guard case .bytes(let bytes) = event else { return }
                if bytes.contains(0) { peer?.close() } else { peer?.write(bytes) }
            }
        }
        return (transport, server, Endpoint(host: "127.0.0.1", port: 2))
    }
}

@Suite(.timeLimit(.minutes(3)))
struct TransportTests {
    @Test(arguments: [EchoWorld.sockets, .memory])
    func `A connection opens, carries bytes both ways and is closed by the server`(_ world: EchoWorld)
        async throws
    {
        let recorder = Recorder<ConnectionEvent>()
        try await withLoop { loop in
            try await loop.perform {
                let (transport, server, _) = try world.make(loop)
                let box = LoopBound<(any Connection)?>(nil, loop: loop)
                box.value = transport.connect(to: server) { event in
                    recorder.append(event)
                    switch event {
                    case .opened: box.value?.write([1, 2, 3])
                    case .bytes: box.value?.write([0])
                    default: break
                    }
                }
            }
            await recorder.wait { $0.contains(.closed(.closedByPeer)) }
        }
        #expect(
            recorder.elements.filter { $0 != .drained } == [
                .opened, .bytes([1, 2, 3]), .closed(.closedByPeer),
            ])
    }

    @Test(arguments: [EchoWorld.sockets, .memory])
    func `A dead address is a closed event with the reason, after connect has returned`(
        _ world: EchoWorld
    ) async throws {
        let recorder = Recorder<ConnectionEvent?>()
        try await withLoop { loop in
            try await loop.perform {
                let (transport, _, dead) = try world.make(loop)
                _ = transport.connect(to: dead) { recorder.append($0) }
                recorder.append(nil)
            }
            await recorder.wait { $0.count == 2 }
        }
        #expect(recorder.elements[0] == nil)
        guard case .closed(.failed(let error)) = recorder.elements[1] else {
            Issue.record("\(recorder.elements)")
            return
        }
        #expect(error.code == "ECONNREFUSED")
    }

    @Test(arguments: [EchoWorld.sockets, .memory])
    func `Closing is told once, later, and nothing follows`(_ world: EchoWorld) async throws {
        let recorder = Recorder<ConnectionEvent>()
        try await withLoop { loop in
            try await loop.perform {
                let (transport, server, _) = try world.make(loop)
                let box = LoopBound<(any Connection)?>(nil, loop: loop)
                box.value = transport.connect(to: server) { event in
                    recorder.append(event)
                    guard event == .opened else { return }
                    box.value?.write([5])
                    box.value?.close()
                    box.value?.close()
                    box.value?.write([6])
                }
            }
            await recorder.wait { $0.contains(.closed(.closedHere)) }
            try await loop.perform {}
        }
        #expect(recorder.elements == [.opened, .closed(.closedHere)])
    }

    @Test(arguments: [EchoWorld.sockets, .memory])
    func `Bytes wait while reading is off`(_ world: EchoWorld) async throws {
        let recorder = Recorder<ConnectionEvent>()
        try await withLoop { loop in
            let box = try await loop.perform {
                let (transport, server, _) = try world.make(loop)
                let box = LoopBound<(any Connection)?>(nil, loop: loop)
                box.value = transport.connect(to: server) { recorder.append($0) }
                box.value?.setReading(false)
                box.value?.write([9])
                return box
            }
            await recorder.wait { $0.contains(.opened) }
            try await loop.perform {}
            try await loop.perform {}
            #expect(recorder.elements.filter { $0 != .drained } == [.opened])
            try await loop.perform { box.value?.setReading(true) }
            await recorder.wait { $0.contains(.bytes([9])) }
        }
    }

    @Test(arguments: [EchoWorld.sockets, .memory])
    func `A numeric host resolves to itself`(_ world: EchoWorld) async throws {
        let recorder = Recorder<Result<[Endpoint], TransportError>>()
        try await withLoop { loop in
            try await loop.perform {
                let (transport, server, _) = try world.make(loop)
                transport.resolve(server) { recorder.append($0) }
            }
            await recorder.wait { $0.count == 1 }
        }
        #expect(try recorder.elements[0].get().map(\.host) == ["127.0.0.1"])
    }

    @Test(arguments: [
        ("a", "a", 7), ("a:1", "a", 1), ("[::1]:9", "::1", 9), ("[::1]", "::1", 7), ("::1", "::1", 7),
        ("127.0.0.1:65535", "127.0.0.1", 65535),
    ])
    func `An endpoint is read as people write it`(_ text: String, _ host: String, _ port: UInt16) {
        #expect(Endpoint(text, defaultPort: 7) == Endpoint(host: host, port: port))
    }

    @Test(arguments: [
        "", ":1", "a:", "a:x", "a:65536", "a:-1", "[::1", "[::1]x", "[::1]:", "a b", "http://a",
    ])
    func `Text that names no endpoint is refused`(_ text: String) {
        #expect(Endpoint(text, defaultPort: 7) == nil)
    }
}
