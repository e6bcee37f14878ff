import RivuletModel

/// The stored word that a user shares a moving place, or has ended it:
/// `{"uuid":…,"live_location":{"session":"…","until_ms":…,"ended":1}}`.
struct LiveLocation: CustomContent {
    static let kind = MessageKind(rawValue: "live_location")

    /// The name of this sharing, which the positions carry.
    var session: String
    /// When it ends by itself, in milliseconds since 1970.
    var untilMilliseconds: Int64
    /// 1 when the user has ended it.
    var ended: Int?

    var summary: String { ended == 1 ? "📍 Location no longer shared" : "📍 Sharing the location" }

    enum CodingKeys: String, CodingKey {
        case session
        case untilMilliseconds = "until_ms"
        case ended
    }
}

/// Where the user is, sent live and never stored:
/// `{"position":{"session":"…","latitude":…,"longitude":…,"time_ms":…}}`.
struct Position: CustomContent {
    static let kind = MessageKind(rawValue: "position")
    static let behavior = ContentBehavior.control

    /// The sharing that it belongs to.
    var session: String
    /// Degrees north.
    var latitude: Double
    /// Degrees east.
    var longitude: Double
    /// How exact it is, in metres; nil when unknown.
    var accuracy: Double?
    /// Where the user is heading, in degrees from north; nil when unknown.
    var bearing: Double?
    /// When it was measured, in milliseconds since 1970.
    var timeMilliseconds: Int64

    var summary: String { "\(latitude), \(longitude)" }

    enum CodingKeys: String, CodingKey {
        case session, latitude, longitude, accuracy, bearing
        case timeMilliseconds = "time_ms"
    }
}
