import ExampleSupport
import Foundation
import RivuletEngine
import RivuletModel
import RivuletStore
import Synchronization

/// A chat in which `/nudge` shakes the other's window.
@main struct NudgeChat {
    static func main() async throws {
        var kinds = ContentRegistry()
        try kinds.register(Nudge.self)
        let chat = try ExampleChat(arguments: CommandLine.arguments, kinds: kinds)
        let throttle = Mutex(NudgeThrottle())

        try await chat.run { line in
            if line == "/nudge" {
                try await chat.account.send(.custom(Nudge(target: chat.partner.rawValue)), to: chat.session)
                chat.say("You nudged \(chat.partner.rawValue)")
            } else {
                try await chat.account.send(text: line, to: chat.session)
            }
        } change: { changes in
            for message in changes.inserted where !message.isOutgoing {
                let sender = message.sender
                guard case .custom(let box) = message.content, let nudge = box.cast(to: Nudge.self) else {
                    chat.say("\(sender.rawValue): \(message.content.summary)")
                    continue
                }
                chat.say("\(sender.rawValue) nudges \(nudge.target)")
                guard nudge.target == chat.account.user.rawValue else { continue }
                let now = Int64(ProcessInfo.processInfo.systemUptime * 1_000)
                // A terminal has no window to shake; it has a bell.
                if throttle.withLock({ $0.shakes(for: sender, at: now) }) { chat.say("\u{7}*shake*") }
            }
        }
    }
}
