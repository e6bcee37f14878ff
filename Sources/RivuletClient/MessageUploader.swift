public import RivuletClientCore
public import RivuletWire

/// Puts what a message refers to, such as a picture, where the receivers can get it, before the message is sent.
///
/// A message that needs an upload is stored at once and survives a restart; it keeps back the later messages of its
/// conversation, and no others. The upload is asked for again after each start until it succeeds.
public protocol MessageUploader: Sendable {
    /// Whether a message still refers to something on this device; asked at the send and after each restart.
    ///
    /// Must be fast and answer the same for the same message.
    func needsUpload(_ command: Command, _ body: PacketBody) -> Bool

    /// Uploads, and gives the body that refers to what was uploaded; the message's identity stays.
    ///
    /// Waits through a lost network by itself.
    ///
    /// - Throws: `CancellationError` when the service stops or the message is withdrawn; any other error gives the
    ///   message up, as `SendFailure.uploadFailed`.
    func upload(_ entry: OutboxEntry) async throws -> PacketBody
}
