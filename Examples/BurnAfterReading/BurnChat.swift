import ExampleSupport
import Foundation
import RivuletEngine
import RivuletModel
import RivuletStore
import Synchronization

/// A chat in which `/burn SECONDS TEXT` sends a text that is gone so many seconds after it was read.
@main struct BurnChat {
    static func main() async throws {
        var kinds = ContentRegistry()
        try kinds.register(Burned.self)
        let chat = try ExampleChat(arguments: CommandLine.arguments, kinds: kinds)

        let screen = Screen(chat)
        // What was shown before the program ended last time burns, too.
        for message in try await chat.account.history(chat.session).messages { screen.show(message) }

        try await chat.run { line in
            let words = line.split(separator: " ", maxSplits: 2)
            if words.count == 3, words[0] == "/burn", let seconds = Int(words[1]) {
                try await chat.account.send(
                    .text(String(words[2])), to: chat.session, burnSeconds: seconds)
                chat.say("sent, burns \(seconds) s after reading")
            } else {
                try await chat.account.send(text: line, to: chat.session)
            }
        } change: { changes in
            for message in changes.inserted { screen.show(message) }
            for message in changes.updated where message.content == .erased {
                chat.say("burned: \(message.uuid ?? "")")
            }
        }
    }
}

/// What the reader has in front of the eyes.
final class Screen: Sendable {
    private let chat: ExampleChat
    private let shown = Mutex<Set<MessageID>>([])

    init(_ chat: ExampleChat) {
        self.chat = chat
    }

    /// Shows what another wrote, once; the countdown of what burns begins now.
    func show(_ message: Message) {
        guard !message.isOutgoing, shown.withLock({ $0.insert(message.id).inserted }) else { return }
        chat.say("\(message.sender.rawValue): \(message.content.summary)")
        guard let seconds = message.burnSeconds, let uuid = message.uuid else { return }
        Task { [chat] in
            try await Task.sleep(for: .seconds(seconds))
            // Sent through the outbox: it reaches the other side and the server even after a crash.
            try chat.account.post(.custom(Burned(msgid: uuid)), to: message.session)
        }
    }
}
