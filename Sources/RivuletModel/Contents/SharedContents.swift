/// A place on the map.
public struct LocationContent: Hashable, Sendable {
    /// Degrees north.
    public var latitude: Double
    /// Degrees east.
    public var longitude: Double
    /// The address, when known.
    public var address: String?

    /// Makes a place.
    public init(latitude: Double, longitude: Double, address: String? = nil) {
        self.latitude = latitude
        self.longitude = longitude
        self.address = address
    }
}

/// A page on the web.
public struct LinkContent: Hashable, Sendable {
    /// Where the page is.
    public var url: String
    /// Its title.
    public var title: String
    /// What it is about.
    public var content: String
    /// Where a picture of it is.
    public var image: String

    /// Makes a link.
    public init(url: String, title: String, content: String = "", image: String = "") {
        self.url = url
        self.title = title
        self.content = content
        self.image = image
    }
}

/// A user's card.
public struct CardContent: Hashable, Sendable {
    /// The user.
    public var user: UserID
    /// The user's name.
    public var name: String
    /// Where the user's picture is.
    public var avatar: String?

    /// Makes a card.
    public init(user: UserID, name: String, avatar: String? = nil) {
        self.user = user
        self.name = name
        self.avatar = avatar
    }
}

/// A forwarded stretch of another conversation; long ones are a file elsewhere.
public struct MergedContent: Hashable, Sendable {
    /// One message of the stretch.
    public struct Item: Hashable, Sendable {
        /// The author.
        public var sender: UserID
        /// The author's name.
        public var name: String
        /// Seconds since 1970.
        public var time: Int64
        /// The original JSON text.
        public var content: String

        /// Makes an item.
        public init(sender: UserID, name: String, time: Int64, content: String) {
            self.sender = sender
            self.name = name
            self.time = time
            self.content = content
        }
    }

    /// Where a stretch is that is too long to be sent in place.
    public struct Upload: Hashable, Sendable {
        /// Its address.
        public var url: String
        /// How many messages it has.
        public var count: Int
        /// The digest of the file.
        public var digest: String

        /// Makes a reference.
        public init(url: String, count: Int, digest: String) {
            self.url = url
            self.count = count
            self.digest = digest
        }
    }

    /// How many items a message may carry in place.
    public static let itemsMax = 100

    /// The heading.
    public var title: String
    /// The messages; empty when they are elsewhere.
    public var items: [Item]
    /// Where the messages are; nil when they are here.
    public var upload: Upload?

    /// Makes a stretch.
    public init(title: String, items: [Item], upload: Upload? = nil) {
        self.title = title
        self.items = items
        self.upload = upload
    }
}

/// A poll.
public struct PollContent: Hashable, Sendable {
    /// What is asked.
    public var question: String
    /// What can be answered.
    public var options: [String]
    /// Whether a user may choose several options.
    public var allowsMultiple: Bool
    /// When it closes, in milliseconds since 1970; nil for never.
    public var closesMilliseconds: Int64?

    /// Makes a poll.
    public init(
        question: String, options: [String], allowsMultiple: Bool = false, closesMilliseconds: Int64? = nil
    ) {
        self.question = question
        self.options = options
        self.allowsMultiple = allowsMultiple
        self.closesMilliseconds = closesMilliseconds
    }
}

/// Somebody asks to join a group.
public struct JoinRequestContent: Hashable, Sendable {
    /// The group.
    public var groupID: Int64
    /// What the user says about it.
    public var reason: String

    /// Makes a request.
    public init(groupID: Int64, reason: String) {
        self.groupID = groupID
        self.reason = reason
    }
}
