import Foundation
import Testing
import UVKit

@Suite(.timeLimit(.minutes(3)))
struct ListenerTests {
    @Test func `Running out of file descriptors drops no connection`() async {
        // In a process of its own, whose limit can be lowered.
        await #expect(processExitsWith: .success) {
            let accepted = Recorder<TCPStream>()
            let opened = Recorder<Bool>()
            let troubles = Recorder<UVError>()
            try await withLoop { loop in
                let listener = try await loop.perform {
                    let listener = try Listener(on: SocketAddress(host: "127.0.0.1", port: 0), loop: loop) {
                        accepted.append($0)
                    }
                    listener.onTrouble = { troubles.append($0) }
                    listener.pauseAccepting()
                    for _ in 0..<10 {
                        try TCPStream.connect(to: listener.address, on: loop).onOpened = {
                            opened.append(true)
                        }
                    }
                    return listener
                }
                await opened.wait { $0.count == 10 }
                let hoard = exhaustDescriptors()
                try await loop.perform { listener.resumeAccepting() }
                await troubles.wait { !$0.isEmpty }
                guard accepted.elements.isEmpty, troubles.elements[0].code == .tooManyOpenFiles else {
                    exit(1)
                }
                for descriptor in hoard { close(descriptor) }
                await accepted.wait { $0.count == 10 }
            }
            exit(0)
        }
    }
}

/// Opens files until the process may open no more.
private func exhaustDescriptors() -> [Int32] {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = 256
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    var hoard: [Int32] = []
    while case let descriptor = open("/dev/null", O_RDONLY), descriptor >= 0 { hoard.append(descriptor) }
    return hoard
}
