extension InterfaceStrings.Key {
    // MARK: menus

    /// The entry that copies a text.
    public static let copy = Self("menu.copy")
    /// The entry that begins a reply.
    public static let reply = Self("menu.reply")
    /// The entry that sends a message on.
    public static let forward = Self("menu.forward")
    /// The entry that sends a failed message again.
    public static let resend = Self("menu.resend")
    /// The entry that withdraws a message.
    public static let revoke = Self("menu.revoke")
    /// The entry that removes a message.
    public static let delete = Self("menu.delete")
    /// The entry that plays a voice message.
    public static let play = Self("menu.play")
    /// The entry that stops it for a while.
    public static let pause = Self("menu.pause")

    // MARK: people and rows

    /// The reader, as the author of a message.
    public static let you = Self("row.you")
    /// What stands between the parts of a row's label.
    public static let separator = Self("row.separator")
    /// A message that is on its way.
    public static let sending = Self("row.sending")
    /// A message that the server has.
    public static let sent = Self("row.sent")
    /// A message that reached its receiver.
    public static let delivered = Self("row.delivered")
    /// A message that was read.
    public static let wasRead = Self("row.read")
    /// A message that several people read; a number.
    public static let readBy = Self("row.read-by")
    /// A message that did not go out.
    public static let notSent = Self("row.not-sent")
    /// The same with the reason.
    public static let notSentBecause = Self("row.not-sent-because")
    /// A message that burns.
    public static let burnsAfterReading = Self("row.burns")
    /// A row that is among the selected ones.
    public static let selected = Self("row.selected")
    /// A row that is not.
    public static let notSelected = Self("row.not-selected")
    /// The offer beside a message that did not go out.
    public static let notSentRetry = Self("state.not-sent-retry")
    /// Beside a message that was read.
    public static let read = Self("state.read")
    /// Beside a message that several people read; a number.
    public static let readCount = Self("state.read-count")

    // MARK: the flow

    /// The name of the list.
    public static let messages = Self("flow.messages")
    /// The line above what is unread.
    public static let newMessages = Self("flow.new-messages")
    /// The same with how many there are.
    public static let newMessageCount = Self("flow.new-message-count")
    /// The button that leads to the bottom.
    public static let goToNewest = Self("flow.go-to-newest")
    /// While the first page is fetched.
    public static let loadingMessages = Self("flow.loading")
    /// A conversation without messages.
    public static let emptyConversation = Self("flow.empty")
    /// The first page could not be had.
    public static let loadFailed = Self("flow.load-failed")
    /// The button under that.
    public static let tryAgain = Self("flow.try-again")
    /// A further page could not be had.
    public static let pageFailedRetry = Self("flow.page-failed-retry")
    /// Above a quoted message that is not at hand.
    public static let earlierMessage = Self("flow.earlier-message")

    // MARK: in place of a content

    /// A content that this build does not know and that brought no words.
    public static let unknownContent = Self("content.unknown")
    /// The reader withdrew a message.
    public static let revokedByYou = Self("content.revoked-by-you")
    /// Somebody withdrew a message.
    public static let revokedByOther = Self("content.revoked")
    /// A message is gone after it was read.
    public static let erased = Self("content.erased")
    /// A message that nobody got.
    public static let refused = Self("content.refused")

    // MARK: summaries, a line for lists and notifications

    /// A picture.
    public static let photo = Self("summary.photo")
    /// A voice message; its seconds.
    public static let voice = Self("summary.voice")
    /// A place.
    public static let location = Self("summary.location")
    /// A place with its address.
    public static let locationAt = Self("summary.location-at")
    /// A film.
    public static let video = Self("summary.video")
    /// A file with its name.
    public static let file = Self("summary.file")
    /// A page with its title.
    public static let link = Self("summary.link")
    /// A call with pictures.
    public static let videoCall = Self("summary.video-call")
    /// A call.
    public static let call = Self("summary.call")
    /// A call in a group.
    public static let groupCall = Self("summary.group-call")
    /// A message that only its receiver's device can read.
    public static let secret = Self("summary.secret")
    /// A class.
    public static let classroom = Self("summary.classroom")
    /// A conference.
    public static let conference = Self("summary.conference")
    /// A record of other messages with its title.
    public static let record = Self("summary.record")
    /// A user's card with the name.
    public static let card = Self("summary.card")
    /// A sticker.
    public static let sticker = Self("summary.sticker")
    /// A poll with its question.
    public static let poll = Self("summary.poll")
    /// Somebody asks to join, with the reason.
    public static let joinRequest = Self("summary.join-request")

    // MARK: what happened in a group

    /// It was made; its name.
    public static let groupCreated = Self("group.created")
    /// It is no more.
    public static let groupDisbanded = Self("group.disbanded")
    /// Somebody left.
    public static let memberLeft = Self("group.left")
    /// Somebody came.
    public static let memberJoined = Self("group.joined")
    /// It has another name.
    public static let groupRenamed = Self("group.renamed")
    /// It has another notice.
    public static let groupNotice = Self("group.notice")
    /// It became a super group.
    public static let groupUpgraded = Self("group.upgraded")
    /// Something else.
    public static let groupChanged = Self("group.changed")

    // MARK: bubbles

    /// What a voice message is called; its seconds.
    public static let voiceLabel = Self("bubble.voice-label")
    /// A sound that cannot be played.
    public static let soundFailed = Self("bubble.sound-failed")
    /// A file without a name.
    public static let unnamedFile = Self("bubble.unnamed-file")
    /// A size in bytes.
    public static let bytes = Self("bubble.bytes")
    /// What is said of a file.
    public static let fileKind = Self("bubble.file")
    /// A place without an address.
    public static let unnamedPlace = Self("bubble.unnamed-place")
    /// What is said of a user's card.
    public static let cardKind = Self("bubble.card")
    /// A card without a name; the user's number.
    public static let unnamedUser = Self("bubble.unnamed-user")
    /// A record without a title.
    public static let unnamedRecord = Self("bubble.unnamed-record")
    /// How many messages a record has.
    public static let recordCount = Self("bubble.record-count")
    /// A voice call.
    public static let voiceCallTitle = Self("bubble.voice-call")
    /// A call with pictures.
    public static let videoCallTitle = Self("bubble.video-call")
    /// A call that the caller ended before an answer.
    public static let callCancelled = Self("bubble.call-cancelled")
    /// A call that was declined.
    public static let callDeclined = Self("bubble.call-declined")
    /// A call that nobody answered.
    public static let callMissed = Self("bubble.call-missed")
    /// A call that ended, of which nothing else is known.
    public static let callEnded = Self("bubble.call-ended")
    /// A call that goes on.
    public static let callGoesOn = Self("bubble.call-goes-on")
    /// A call in a group.
    public static let groupCallTitle = Self("bubble.group-call")

    // MARK: why something cannot be done

    /// What burns stays where it is.
    public static let burningStays = Self("failure.burning")
    /// A check did not let it pass.
    public static let vetoed = Self("failure.vetoed")
    /// It was refused.
    public static let wasRefused = Self("failure.refused")
    /// The conversation is closed.
    public static let closed = Self("failure.closed")
    /// No answer came.
    public static let timedOut = Self("failure.timed-out")
    /// It is not offered here.
    public static let unsupported = Self("failure.unsupported")
    /// The message is gone.
    public static let notFound = Self("failure.not-found")
    /// It is on its way already.
    public static let busy = Self("failure.busy")
    /// It is not possible with this message.
    public static let notPossible = Self("failure.not-possible")
    /// It was given up.
    public static let cancelled = Self("failure.cancelled")
    /// Too many messages for one record; the most there may be.
    public static let recordTooLong = Self("failure.record-too-long")
    /// Records in records in records.
    public static let recordTooDeep = Self("failure.record-too-deep")
    /// A record of too many bytes.
    public static let recordTooLarge = Self("failure.record-too-large")
}
