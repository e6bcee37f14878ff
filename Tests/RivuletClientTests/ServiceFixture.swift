import RivuletClient
import RivuletClientCore
import RivuletWire
import Testing

/// A storage that knows messages by their uuid, which the tests put at the front of each content.
func makeStorage(restored: RestoredState = RestoredState()) -> MemoryClientStorage {
    MemoryClientStorage(restored: restored) { message in
        guard case .im(let body) = message.body else { return nil }
        return uuid(in: body.content)
    }
}

/// The content of a test's message: JSON with a uuid that is made of the text.
func content(_ text: String) -> String {
    "{\"uuid\":\"uuid-\(text)\",\"text\":\"\(text)\"}"
}

func uuid(in content: String) -> String? {
    content.split(separator: "\"").first { $0.hasPrefix("uuid-") }.map(String.init)
}

func peerMessage(_ text: String, from sender: Int64, to receiver: Int64, id: Int32 = 0) -> OutgoingMessage {
    let message = IMMessage(sender: sender, receiver: receiver, msgLocalID: id, content: content(text))
    return .peer(message, uuid: "uuid-\(text)", flags: .text)
}

extension MemoryClientStorage {
    /// The contents of the messages of others.
    func contents(from sender: Int64) -> [String] {
        received.compactMap {
            guard case .im(let body) = $0.body, body.sender == sender else { return nil }
            return body.content
        }
    }
}

/// Reads a stream until an element fits.
@discardableResult
func first<Element: Sendable>(
    of stream: AsyncStream<Element>, where fits: (Element) -> Bool
) async throws -> Element {
    for await element in stream where fits(element) { return element }
    throw EndOfStream()
}

/// Reads this many elements of a stream.
func take<Element: Sendable>(_ count: Int, of stream: AsyncStream<Element>) async throws -> [Element] {
    var elements: [Element] = []
    guard count > 0 else { return elements }
    for await element in stream {
        elements.append(element)
        if elements.count == count { return elements }
    }
    throw EndOfStream()
}

struct EndOfStream: Error {}

extension IMService {
    /// Starts and returns when it is logged in and its first round is stored.
    func startAndSync() async throws {
        let stream = notifications()
        start()
        try await first(of: stream) { $0 == .roundFinished(.peer) }
    }
}
