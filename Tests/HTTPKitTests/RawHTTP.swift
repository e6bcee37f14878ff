import Foundation
import Glibc

/// A client that sends exactly the bytes it is told, and reads until the other side closes.
struct RawHTTP {
    let descriptor: Int32

    struct Failure: Error {}

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        // A test must end even when a server forgets it.
        var patience = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure() }
    }

    func send(_ text: String) {
        send(Array(text.utf8))
    }

    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Everything until the end.
    func readAll() -> String {
        var collected: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 {
            collected += buffer[..<count]
        }
        return String(decoding: collected, as: UTF8.self)
    }

    /// Reads until this text has come, or the end.
    func read(until text: String) -> String {
        var collected: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1)
        while case let count = recv(descriptor, &buffer, 1, 0), count > 0 {
            collected += buffer[..<count]
            if String(decoding: collected, as: UTF8.self).hasSuffix(text) { break }
        }
        return String(decoding: collected, as: UTF8.self)
    }

    func close() {
        Glibc.close(descriptor)
    }

    /// One request that asks for the connection's end, and its whole answer.
    static func ask(_ request: String, port: UInt16) throws -> String {
        let client = try RawHTTP(port: port)
        defer { client.close() }
        client.send(request)
        return client.readAll()
    }
}
