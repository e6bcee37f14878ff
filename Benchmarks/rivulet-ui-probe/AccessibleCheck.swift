import Foundation
import RivuletFlow
import RivuletModel
import RivuletUI
import Synchronization

/// A conversation that stays on screen while somebody looks at it through assistive technology or presses keys.
///
/// It says what is done with its rows, a line each, and ends with its input.
enum AccessibleCheck {
    static func run() {
        let host = ActionHost()
        let sample = SampleFlow(count: 8) { configuration in
            configuration.menu = MessageMenu(edit: { items, _, _ in
                items.append(
                    MessageMenuItem(id: MessageMenuItem.ID(rawValue: "translate"), title: "Translate"))
            })
        }
        sample.view.delegate = host
        sample.view.list.directory = host
        sample.view.themeChanged()
        Probe.report("ready")
        waitForEndOfInput()
        sample.close()
    }

    /// Lets the main loop work until the input ends, at most a minute.
    static func waitForEndOfInput() {
        let isDone = Mutex(false)
        FileHandle.standardInput.readabilityHandler = { handle in
            guard handle.availableData.isEmpty else { return }
            handle.readabilityHandler = nil
            isDone.withLock { $0 = true }
        }
        let end = ContinuousClock.now.advanced(by: .seconds(60))
        while !isDone.withLock({ $0 }), ContinuousClock.now < end {
            PlatformApplication.run(for: .milliseconds(20))
        }
    }

    private final class ActionHost: MessageFlowViewDelegate, MessageDirectory {
        func name(of user: UserID, in session: Session) -> String { "User \(user.rawValue)" }
        func role(of user: UserID, in session: Session) -> String? { nil }
        func message(uuid: String, in session: Session) -> Message? { nil }

        func flowView(_ view: MessageFlowView, perform item: MessageMenuItem, on message: Message) {
            Probe.report("performed \(item.id.rawValue) on \(message.id.rawValue)")
        }

        func flowView(_ view: MessageFlowView, react reaction: MessageReaction, to message: Message) {
            Probe.report("reacted to \(message.id.rawValue)")
        }
    }
}
