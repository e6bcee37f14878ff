/// A picture in a message.
public struct ImageContent: Hashable, Sendable {
    /// Where the picture is.
    public var url: String
    /// Its width in pixels; 0 when unknown.
    public var width: Int
    /// Its height in pixels; 0 when unknown.
    public var height: Int

    /// Makes a picture.
    public init(url: String, width: Int, height: Int) {
        self.url = url
        self.width = width
        self.height = height
    }
}

/// A voice message.
public struct AudioContent: Hashable, Sendable {
    /// Where the recording is.
    public var url: String
    /// How long it is.
    public var durationSeconds: Int

    /// Makes a voice message.
    public init(url: String, durationSeconds: Int) {
        self.url = url
        self.durationSeconds = durationSeconds
    }
}

/// A film.
public struct VideoContent: Hashable, Sendable {
    /// Where the film is.
    public var url: String
    /// Where its first picture is.
    public var thumbnail: String
    /// The width in pixels; 0 when unknown.
    public var width: Int
    /// The height in pixels; 0 when unknown.
    public var height: Int
    /// How long it is.
    public var durationSeconds: Int
    /// The size of the file; 0 when unknown.
    public var byteCount: Int

    /// Makes a film.
    public init(
        url: String, thumbnail: String, width: Int, height: Int, durationSeconds: Int, byteCount: Int = 0
    ) {
        self.url = url
        self.thumbnail = thumbnail
        self.width = width
        self.height = height
        self.durationSeconds = durationSeconds
        self.byteCount = byteCount
    }
}

/// A file.
public struct FileContent: Hashable, Sendable {
    /// Where the file is.
    public var url: String
    /// Its name.
    public var filename: String
    /// Its size; 0 when unknown.
    public var byteCount: Int

    /// Makes a file.
    public init(url: String, filename: String, byteCount: Int) {
        self.url = url
        self.filename = filename
        self.byteCount = byteCount
    }
}

/// A sticker.
public struct StickerContent: Hashable, Sendable {
    /// Where the picture is.
    public var url: String
    /// The width in pixels.
    public var width: Int
    /// The height in pixels.
    public var height: Int
    /// An emoji with a like meaning.
    public var emoji: String?

    /// Makes a sticker.
    public init(url: String, width: Int, height: Int, emoji: String? = nil) {
        self.url = url
        self.width = width
        self.height = height
        self.emoji = emoji
    }
}

/// A local side record of another message: the result of a geocoder or an upload (docs/protocol.md, section 16.2).
public struct AttachmentContent: Hashable, Sendable {
    /// The local number of the other message.
    public var messageNumber: Int64
    /// The address found for a location.
    public var address: String?
    /// The address of an uploaded file.
    public var url: String?

    /// Makes a side record.
    public init(messageNumber: Int64, address: String? = nil, url: String? = nil) {
        self.messageNumber = messageNumber
        self.address = address
        self.url = url
    }
}
