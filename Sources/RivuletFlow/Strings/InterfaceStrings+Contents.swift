public import RivuletModel

extension InterfaceStrings {
    /// One line for lists and notifications, as `MessageContent.summary` says it in English.
    public func summary(of content: MessageContent) -> String {
        switch content {
        case .image: self[.photo]
        case .audio(let sound): self[.voice, String(sound.durationSeconds)]
        case .location(let place): place.address.map { self[.locationAt, $0] } ?? self[.location]
        case .video: self[.video]
        case .file(let file): self[.file, file.filename]
        case .link(let page): self[.link, page.title]
        case .groupNotification(let notification): summary(of: notification)
        case .call(let call): self[call.isVideo ? .videoCall : .call]
        case .groupCall: self[.groupCall]
        case .secret: self[.secret]
        case .refusal: self[.refused]
        case .classroom: self[.classroom]
        case .conference: self[.conference]
        case .merged(let record): self[.record, record.title]
        case .card(let card): self[.card, card.name]
        case .sticker(let sticker): sticker.emoji ?? self[.sticker]
        case .poll(let poll): self[.poll, poll.question]
        case .joinRequest(let request): self[.joinRequest, request.reason]
        case .revoked: self[.revokedByOther]
        case .erased: self[.erased]
        case .unknown(_, let fallback): fallback ?? self[.unknownContent]
        // What people or an app's own kinds wrote themselves, and what says nothing.
        case .text, .notice, .headline, .custom, .p2pSession, .attachment, .timeBase: content.summary
        }
    }

    /// One line about what happened in a group.
    public func summary(of notification: GroupNotification) -> String {
        switch notification.change {
        case .created(_, let name, _): self[.groupCreated, name]
        case .disbanded: self[.groupDisbanded]
        case .memberLeft(let user, let name): self[.memberLeft, name ?? String(user.rawValue)]
        case .memberAdded(let user, let name): self[.memberJoined, name ?? String(user.rawValue)]
        case .renamed(let name): self[.groupRenamed, name]
        case .noticeChanged(let notice): self[.groupNotice, notice]
        case .upgraded: self[.groupUpgraded]
        case .unknown: self[.groupChanged]
        }
    }

    /// What stands in a row: a text itself, a summary or a notice for anything else.
    public func text(of message: Message) -> String {
        switch message.content {
        case .text(let content): content.text
        case .revoked: self[message.isOutgoing ? .revokedByYou : .revokedByOther]
        default: summary(of: message.content)
        }
    }

    /// What a standard entry of a menu is called; the name itself for entries of the app's own.
    public func title(of item: MessageMenuItem.ID) -> String {
        switch item {
        case .copy: self[.copy]
        case .reply: self[.reply]
        case .forward: self[.forward]
        case .resend: self[.resend]
        case .revoke: self[.revoke]
        case .delete: self[.delete]
        case .play: self[.play]
        default: item.rawValue
        }
    }

    /// The words for why something could not be done.
    func reason(for error: any Error) -> String {
        switch error {
        case let error as InteractionError where error.reason.isEmpty || error.code == .burning:
            sentence(for: error.code)
        case let error as any PresentableFailure: error.failureReason
        case is CancellationError: self[.cancelled]
        default: "\(error)"
        }
    }

    private func sentence(for code: InteractionError.Code) -> String {
        switch code {
        case .burning: self[.burningStays]
        case .vetoed: self[.vetoed]
        case .refused: self[.wasRefused]
        case .closed: self[.closed]
        case .timedOut, .callbackLost: self[.timedOut]
        case .unsupported: self[.unsupported]
        case .notFound: self[.notFound]
        case .busy: self[.busy]
        case .invalid: self[.notPossible]
        default: code.rawValue
        }
    }
}
