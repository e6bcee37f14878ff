import Foundation
import RivuletClient
import RivuletEngine
import RivuletFlow
import RivuletModel

/// What the account hears and tells that nobody keeps: who is typing, and who is there.
final class LiveSigns {
    /// Hears that what is said of a conversation changed.
    var onChange: ((Session) -> Void)?

    /// Hears that who is typing anywhere changed.
    var onAny: (() -> Void)?

    private let account: ChatAccount
    private var typing = TypingBook()
    private var presences: [UserID: PeerPresence] = [:]
    private var watched: UserID?
    private var ending: Task<Void, Never>?
    private var tasks: [Task<Void, Never>] = []
    private let started = ContinuousClock.now

    init(account: ChatAccount) {
        self.account = account
    }

    /// The time since this began, in which typing is counted.
    var elapsed: Duration { ContinuousClock.now - started }

    func start() {
        let typings = account.service.typings()
        tasks.append(
            Task { [weak self] in
                for await sign in typings { self?.take(sign) }
            })
        let presences = account.service.presences()
        tasks.append(
            Task { [weak self] in
                for await presence in presences {
                    guard let self else { return }
                    let user = UserID(presence.uid)
                    self.presences = self.presences.filter { $0.key == self.watched }
                    self.presences[user] = presence
                    self.onChange?(.peer(user))
                }
            })
    }

    func stop() {
        for task in tasks { task.cancel() }
        tasks = []
        ending?.cancel()
    }

    // MARK: typing

    /// Those who are typing in a conversation, in the order in which they began.
    func typists(in session: Session) -> [UserID] { typing.users(in: session) }

    private func take(_ sign: PeerTyping) {
        let user = UserID(sign.uid)
        guard user != account.user else { return }
        if typing.note(user, in: sign.session, isOn: sign.isOn, at: elapsed) { tellChange(sign.session) }
        endWhenDue()
    }

    /// Takes note that messages came: their authors are done with typing.
    func noteMessages(_ messages: [Message]) {
        for message in messages where !message.isOutgoing {
            if typing.noteMessage(by: message.sender, in: message.session) { tellChange(message.session) }
        }
    }

    private func tellChange(_ session: Session) {
        onChange?(session)
        onAny?()
    }

    /// Wakes up when the next sign is over, as long as there are any.
    private func endWhenDue() {
        guard ending == nil, typing.nextEnd != nil else { return }
        ending = Task { [weak self] in
            while let self, let end = self.typing.nextEnd {
                do { try await Task.sleep(for: max(.zero, end - self.elapsed)) } catch { break }
                for session in self.typing.expire(at: self.elapsed) { self.tellChange(session) }
            }
            self?.ending = nil
        }
    }

    /// Tells the other side that the user types, or stopped; without a connection it is not told at all.
    func tell(_ isOn: Bool, in session: Session) {
        Task { [account] in
            do {
                try await account.sendTyping(in: session, isOn: isOn)
            } catch {
                // A sign that came late would say something wrong.
                return
            }
        }
    }

    // MARK: who is there

    /// What is known of a user who is watched.
    func presence(of user: UserID) -> PeerPresence? { presences[user] }

    /// Asks whether a user is there, from now on and instead of the one before; nil for nobody.
    func watch(_ user: UserID?) {
        guard user != watched else { return }
        watched = user
        askForPresence()
    }

    /// Asks anew: the server forgets who is watched when the connection ends.
    func askForPresence() {
        guard let watched else { return }
        Task { [account] in
            do {
                try await account.service.send(.onlineState(of: [watched.rawValue]))
            } catch {
                // Without a connection nobody knows; it is asked for again after the next login.
                return
            }
        }
    }

    /// Forgets who is there, as when the connection is lost.
    func forgetPresence() {
        guard !presences.isEmpty else { return }
        let known = presences.keys
        presences = [:]
        for user in known { onChange?(.peer(user)) }
    }
}
