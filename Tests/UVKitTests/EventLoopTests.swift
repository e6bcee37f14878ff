import Synchronization
import Testing
import UVKit

@Suite(.timeLimit(.minutes(3)))
struct EventLoopTests {
    @Test func `Jobs run on the loop in the order in which they were queued`() async throws {
        let recorder = Recorder<Int>()
        try await withLoop { loop in
            for number in 0..<1000 {
                loop.enqueue {
                    loop.preconditionOnLoop()
                    recorder.append(number)
                }
            }
            await recorder.wait { $0.count == 1000 }
        }
        #expect(recorder.elements == Array(0..<1000))
    }

    @Test func `Jobs queued by many threads all run once`() async throws {
        let counter = Recorder<Int>()
        try await withLoop { loop in
            await withTaskGroup(of: Void.self) { group in
                for worker in 0..<8 {
                    group.addTask {
                        for number in 0..<200 { loop.enqueue { counter.append(worker * 200 + number) } }
                    }
                }
            }
            await counter.wait { $0.count == 1600 }
        }
        #expect(Set(counter.elements).count == 1600)
    }

    @Test func `Jobs queued before stop run, and later ones are refused`() async throws {
        let recorder = Recorder<String>()
        let loop = try EventLoop()
        try loop.start()
        loop.enqueue { recorder.append("before") }
        loop.stop()
        await loop.finished()
        #expect(recorder.elements == ["before"])
        #expect(!loop.enqueue { recorder.append("after") })
        await #expect(throws: UVError.self) { try await loop.perform { 1 } }
    }

    @Test func `A loop that never ran is freed without a trap`() throws {
        weak var weakLoop: EventLoop?
        do {
            let loop = try EventLoop()
            weakLoop = loop
        }
        #expect(weakLoop == nil)
    }

    @Test func `A finished loop is freed, with everything that was open on it`() async throws {
        weak var weakLoop: EventLoop?
        do {
            let loop = try EventLoop()
            weakLoop = loop
            try loop.start()
            try await loop.perform {
                let timer = try Timer(on: loop) {}
                timer.arm(after: .seconds(3600))
                _ = try Listener(on: SocketAddress(host: "127.0.0.1", port: 0), loop: loop) { _ in }
            }
            loop.stop()
            await loop.finished()
        }
        #expect(weakLoop == nil)
    }

    @Test func `A loop runs on the current thread until stopped`() throws {
        let loop = try EventLoop()
        var fired = 0
        try loop.run { () throws(UVError) in
            let timer = try Timer(on: loop) {
                fired += 1
                loop.stop()
            }
            timer.arm(after: .milliseconds(1))
        }
        #expect(fired == 1)
    }

    @Test func `A throwing set-up ends the loop and passes the error on`() throws {
        let loop = try EventLoop()
        #expect(throws: UVError.self) {
            try loop.run { () throws(UVError) in
                _ = try Timer(on: loop) {}
                throw UVError(code: .invalidArgument, message: "no", operation: "test")
            }
        }
        #expect(!loop.enqueue {})
    }

    @Test func `An actor lives on its loop`() async throws {
        actor Counter {
            let loop: EventLoop
            var value = 0
            nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
            init(loop: EventLoop) { self.loop = loop }
            func increment() -> Bool {
                value += 1
                return loop.isOnLoop
            }
            nonisolated func incrementFromLoop() {
                assumeIsolated { $0.value += 10 }
            }
        }
        try await withLoop { loop in
            let counter = Counter(loop: loop)
            #expect(await counter.increment())
            try await loop.perform { counter.incrementFromLoop() }
            #expect(await counter.value == 11)
        }
    }

    @Test func `End-of-turn jobs run after the jobs of the turn`() async throws {
        let recorder = Recorder<String>()
        try await withLoop { loop in
            loop.enqueue {
                loop.atEndOfTurn { recorder.append("end") }
                recorder.append("first")
            }
            loop.enqueue { recorder.append("second") }
            await recorder.wait { $0.contains("end") && $0.contains("second") }
        }
        #expect(recorder.elements.first == "first")
        #expect(recorder.elements.contains("end"))
    }

    @Test func `A timer can be armed again, moved and taken back`() async throws {
        let recorder = Recorder<String>()
        try await withLoop { loop in
            try await loop.perform {
                let start = EventLoop.monotonicNanoseconds
                let never = try Timer(on: loop) { recorder.append("never") }
                never.arm(after: .milliseconds(1))
                never.disarm()
                let late = LoopBound<Timer?>(nil, loop: loop)
                late.value = try Timer(on: loop) {
                    recorder.append(EventLoop.monotonicNanoseconds >= start + 5_000_000 ? "on time" : "early")
                    if recorder.elements.count == 1 { late.value?.arm(at: 0) } else { late.value = nil }
                }
                late.value?.arm(after: .seconds(3600))
                late.value?.arm(at: start + 5_000_000)
            }
            await recorder.wait { $0.count == 2 }
        }
        #expect(recorder.elements == ["on time", "on time"])
    }

    @Test func `Use outside the loop traps`() async {
        await #expect(processExitsWith: .failure) {
            let loop = try EventLoop()
            _ = try Timer(on: loop) {}
        }
    }

    @Test func `A numeric host resolves to itself and localhost to a loopback address`() async throws {
        let recorder = Recorder<Result<[SocketAddress], UVError>>()
        try await withLoop { loop in
            loop.enqueue {
                loop.resolve(host: "127.0.0.1", port: 7) { recorder.append($0) }
            }
            await recorder.wait { $0.count == 1 }
            loop.enqueue { loop.resolve(host: "::1", port: 8) { recorder.append($0) } }
            await recorder.wait { $0.count == 2 }
            loop.enqueue { loop.resolve(host: "localhost", port: 9) { recorder.append($0) } }
            await recorder.wait { $0.count == 3 }
        }
        #expect(try recorder.elements[0].get() == [SocketAddress(host: "127.0.0.1", port: 7)])
        #expect(try recorder.elements[1].get() == [SocketAddress(host: "::1", port: 8)])
        #expect(try recorder.elements[2].get().contains(SocketAddress(host: "127.0.0.1", port: 9)))
    }

    @Test func `A host that cannot exist is an error`() async throws {
        let recorder = Recorder<Result<[SocketAddress], UVError>>()
        try await withLoop { loop in
            loop.enqueue {
                loop.resolve(host: String(repeating: "a", count: 300), port: 7) { recorder.append($0) }
            }
            await recorder.wait { $0.count == 1 }
        }
        #expect(throws: UVError.self) { try recorder.elements[0].get() }
    }

    @Test(arguments: ["", "localhost", "1.2.3", "1.2.3.4.5", ":::", "12:34"])
    func `Text that is no numeric address is refused`(_ host: String) {
        #expect(throws: UVError.self) { try SocketAddress(host: host, port: 1) }
    }
}
