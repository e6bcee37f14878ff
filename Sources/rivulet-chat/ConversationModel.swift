import Foundation
import RivuletEngine
import RivuletFlow
import RivuletModel
import RivuletStore
import RivuletUI

/// One conversation as its view needs it: the session's `DataManager`, and words for what went wrong.
///
/// Paging, sending, receipts, drafts and menus are the interaction layer's; this only asks it and listens to it.
final class ConversationModel: DataManagerDelegate {
    /// How long the reader pauses before what is being written is kept.
    static let draftPause = Duration.milliseconds(600)

    let session: Session
    let account: AccountModel
    let manager: DataManager
    let registry = MessageViewRegistry()
    /// Hears that the draft is another than what was written here last.
    var onDraft: ((Draft) -> Void)?
    /// Hears that other messages are selected.
    var onSelection: ((MessageSelection) -> Void)?

    /// What is being written, before the session's draft has it.
    private var written: String?
    private var keeping: Task<Void, Never>?
    private var typing = TypingPace()

    /// The message at which the conversation opens; nil for where the reader was.
    private let target: MessageID?

    init(account: AccountModel, session: Session, target: MessageID? = nil) {
        self.target = target
        self.account = account
        self.session = session
        manager = DataManager(
            session: session, engine: account.engines.engine(for: session),
            configuration: account.configuration(of: session, registry: registry),
            codec: account.account.codec, now: ChatAccount.systemTime, makeUUID: ChatAccount.systemUUID)
        manager.delegate = self
    }

    /// Where to open: where the reader was, unless there is news.
    var opening: FlowOpening {
        if let target { return .message(target, .center) }
        guard account.conversation(session)?.unreadCount ?? 0 == 0, let position = account.positions[session]
        else { return .latest }
        return .position(position)
    }

    func stop() {
        if let isOn = typing.stop(at: account.live.elapsed) { account.live.tell(isOn, in: session) }
        account.positions[session] = manager.position
        keepDraft()
    }

    /// Goes to a message and lights it up.
    func jump(to id: MessageID) { manager.jump(to: id) }

    // MARK: writing

    /// Takes what was written; it is kept when the writer pauses.
    func write(_ text: String) {
        guard text != (written ?? manager.draft.text) else { return }
        written = text
        tellTyping(text)
        keeping?.cancel()
        keeping = Task { [weak self] in
            do { try await Task.sleep(for: Self.draftPause) } catch { return }
            self?.keepDraft()
        }
    }

    /// Tells the other side, now and then, that somebody types here.
    private func tellTyping(_ text: String) {
        guard TypingPace.applies(to: session) else { return }
        if let isOn = typing.write(isEmpty: text.isEmpty, at: account.live.elapsed) {
            account.live.tell(isOn, in: session)
        }
    }

    /// Hands what was written to the session now.
    func keepDraft() {
        keeping?.cancel()
        guard let text = written else { return }
        written = nil
        manager.setDraftText(text)
    }

    /// Sends what was written.
    ///
    /// `/burn SECONDS TEXT` sends a text that burns so long after it was read.
    func send() {
        let words = (written ?? manager.draft.text).split(separator: " ", maxSplits: 2)
        if words.count == 3, words[0] == "/burn", let seconds = Int(words[1]), seconds > 0 {
            return sendBurning(String(words[2]), seconds: seconds)
        }
        typing.noteSent()
        keepDraft()
        attempt { try await $0.sendDraft() }
    }

    private func sendBurning(_ text: String, seconds: Int) {
        do {
            try account.account.post(.text(text), to: session, burnSeconds: seconds)
            keeping?.cancel()
            written = nil
            manager.setDraftText("")
            onDraft?(manager.draft)
        } catch {
            account.onProblem?(Words.say("The message could not be sent."))
        }
    }

    /// Sends files that are pictures.
    func sendPictures(_ paths: [String]) {
        for path in paths {
            let file = URL(filePath: path)
            account.images.allow(file)
            let picture = ImageContent(url: file.absoluteString, width: 0, height: 0)
            attempt { try await $0.send(.image(picture)) }
        }
    }

    func cancelReply() {
        keepDraft()
        manager.cancelReply()
    }

    // MARK: what is done with messages

    func edit(_ message: Message, text: String) {
        attempt(Words.say("The message could not be changed.")) {
            try await $0.edit(message: message, text: text)
        }
    }

    func react(to message: Message, with emoji: String) {
        let isOn = !message.reactions.contains {
            $0.emoji == emoji && $0.users.contains(account.account.user)
        }
        attempt(Words.say("The reaction could not be sent.")) {
            try await $0.react(to: message, with: emoji, isOn: isOn)
        }
    }

    /// Sends messages on to another conversation, the oldest first.
    func forward(_ messages: [Message], to target: Session) {
        let title = account.contacts.title(of: target)
        Task { [manager, weak self] in
            let results = await manager.forward(messages: messages, to: [target])
            let failedCount = results.count { if case .failure = $0.result { true } else { false } }
            if failedCount > 0 {
                self?.account.onProblem?(
                    Words.say(
                        "%1 of %2 could not be sent to %3.", "\(failedCount)", "\(results.count)", title))
            }
        }
    }

    func delete(_ messages: [Message]) {
        for message in messages { attempt { try await $0.delete(message: message) } }
    }

    /// Does something; what fails without a row that shows it, and is not told to the delegate, is told in these words.
    private func attempt(_ problem: String = "", _ work: @escaping (DataManager) async throws -> Void) {
        Task { [manager, weak self] in
            do {
                try await work(manager)
            } catch {
                guard !problem.isEmpty, !(error is CancellationError) else { return }
                self?.account.onProblem?(problem)
            }
        }
    }

    // MARK: what is told

    func dataManager(
        _ manager: DataManager, didVeto call: MessageServiceCall, of message: Message, reason: String?
    ) {
        account.onProblem?(reason ?? Words.say("This is not possible here."))
    }

    func dataManager(
        _ manager: DataManager, didFail call: MessageServiceCall, of message: Message, with error: any Error
    ) {
        switch call {
        // The row says so itself.
        case .send, .resend: break
        case .revoke: account.onProblem?(Words.say("The message could not be recalled."))
        case .delete: account.onProblem?(Words.say("The message could not be deleted."))
        // Forwarding tells of all its messages at once.
        case .forward: break
        case .save: account.onProblem?(Words.say("The message could not be kept."))
        }
    }

    func dataManager(_ manager: DataManager, didChange selection: MessageSelection) {
        onSelection?(selection)
    }

    func dataManager(_ manager: DataManager, didChange draft: Draft) {
        // What is on screen is newer than what comes back from the store.
        guard written == nil else { return }
        onDraft?(draft)
    }
}
