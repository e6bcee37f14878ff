extension InterfaceStrings {
    /// English.
    public static let english = InterfaceStrings(
        language: "en", times: .english,
        phrases: [
            .copy: "Copy", .reply: "Reply", .forward: "Forward", .resend: "Send Again", .revoke: "Recall",
            .delete: "Delete", .play: "Play", .pause: "Pause",

            .you: "You", .separator: ", ", .sending: "sending", .sent: "sent", .delivered: "delivered",
            .wasRead: "read", .readBy: "read by %1", .notSent: "not sent", .notSentBecause: "not sent: %1",
            .burnsAfterReading: "burns after reading", .selected: "selected", .notSelected: "not selected",
            .notSentRetry: "Not sent · Retry", .read: "read", .readCount: "%1 read",

            .messages: "Messages", .newMessages: "New messages",
            .newMessageCount: .plural("%1 new message", "%1 new messages"),
            .goToNewest: "Go to the newest messages", .loadingMessages: "Loading messages …",
            .emptyConversation: "No messages yet. Say hello!",
            .loadFailed: "The messages could not be loaded.", .tryAgain: "Try Again",
            .pageFailedRetry: "Could not load · Retry", .earlierMessage: "Earlier message",

            .unknownContent: "This message needs a newer version of the app.",
            .revokedByYou: "You recalled a message", .revokedByOther: "A message was recalled",
            .erased: "A message burned after it was read", .refused: "[Not delivered]",

            .photo: "[Photo]", .voice: "[Voice message, %1 s]", .location: "[Location]",
            .locationAt: "[Location] %1", .video: "[Video]", .file: "[File] %1", .link: "[Link] %1",
            .videoCall: "[Video call]", .call: "[Call]", .groupCall: "[Group call]",
            .secret: "[Encrypted message]", .classroom: "[Classroom]", .conference: "[Conference]",
            .record: "[Chat record] %1", .card: "[Card] %1", .sticker: "[Sticker]", .poll: "[Poll] %1",
            .joinRequest: "[Asks to join] %1",

            .groupCreated: "Group “%1” created", .groupDisbanded: "Group disbanded", .memberLeft: "%1 left",
            .memberJoined: "%1 joined", .groupRenamed: "Group renamed to “%1”",
            .groupNotice: "Group notice: %1", .groupUpgraded: "Group upgraded",
            .groupChanged: "Group changed",

            .voiceLabel: .plural("Voice message, %1 second", "Voice message, %1 seconds"),
            .soundFailed: "This sound cannot be played here", .unnamedFile: "Unnamed file",
            .bytes: .plural("%1 byte", "%1 bytes"), .fileKind: "File", .unnamedPlace: "A place on the map",
            .cardKind: "Contact card", .unnamedUser: "User %1", .unnamedRecord: "Chat record",
            .recordCount: .plural("%1 message", "%1 messages"), .voiceCallTitle: "Voice call",
            .videoCallTitle: "Video call", .callCancelled: "Cancelled", .callDeclined: "Declined",
            .callMissed: "Not answered", .callEnded: "Ended", .callGoesOn: "Still going on",
            .groupCallTitle: "Group call",

            .burningStays: "A message that burns after reading cannot be sent on.",
            .vetoed: "This is not allowed here.", .wasRefused: "It was refused.",
            .closed: "The conversation is closed.", .timedOut: "No answer came in time.",
            .unsupported: "This is not offered here.", .notFound: "The message is no longer there.",
            .busy: "The message is on its way already.",
            .notPossible: "This is not possible with this message.",
            .cancelled: "It was cancelled.",
            .recordTooLong: .plural(
                "At most %1 message can be sent on as one.", "At most %1 messages can be sent on as one."),
            .recordTooDeep: "Records lie too deeply in each other.",
            .recordTooLarge: "This is too much to be sent on as one.",
        ],
        pluralForm: { $0 == 1 ? 0 : 1 })
}
