/// The era of the protocol that an endpoint speaks (docs/protocol.md, section 1).
///
/// A profile is configured on both ends and never guessed from bytes: command 64 means a call in one and a customer
/// message in the other, and the header's version cannot tell them apart.
public enum Profile: String, Sendable, Hashable, CaseIterable {
    /// March 2015 to October 2016: commands 1–25, and 64 = VOIP control. Every stored message is acknowledged.
    case seed
    /// September 2019 onwards: sync keys, METADATA, and 64 = customer message of the second generation.
    case current

    /// The version that an endpoint of this profile writes into its headers: 1 or 2.
    public var version: UInt8 {
        switch self {
        case .seed: 1
        case .current: 2
        }
    }
}

/// Which end of a connection an endpoint is; it decides limits, allowed commands and what an error costs.
public enum Role: String, Sendable, Hashable, CaseIterable {
    /// Receives what clients send. Closes the connection on any malformed packet.
    case server
    /// Receives what servers send. Skips frames that it cannot use and closes only on a malformed length.
    case client

    /// The longest body that this end accepts by default, in bytes: 32,767 or 1,048,575.
    public var bodyBytesMax: Int {
        switch self {
        case .server: 32_767
        case .client: 1_048_575
        }
    }
}

/// The bits of header byte 10 (docs/protocol.md, section 4).
public struct PacketFlags: OptionSet, Hashable, Sendable {
    /// The byte as it travels.
    public let rawValue: UInt8

    /// Makes the flags of this byte, undefined bits included.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// 0x01: the content is text; the server may filter words in it.
    public static let text = PacketFlags(rawValue: 0x01)
    /// 0x02: relay without storing (first-generation customer messages of 2018–2021 only).
    public static let unpersistent = PacketFlags(rawValue: 0x02)
    /// 0x04: internal to servers.
    public static let group = PacketFlags(rawValue: 0x04)
    /// 0x08: this user sent the message from this device; set while syncing.
    public static let isSelf = PacketFlags(rawValue: 0x08)
    /// 0x10: a live copy; valid only right after its METADATA.
    public static let push = PacketFlags(rawValue: 0x10)
    /// 0x20: the METADATA speaks of the super group's key.
    public static let superGroup = PacketFlags(rawValue: 0x20)
}

/// The kind of device that logs in (docs/protocol.md, section 7).
///
/// The set is open. Only ``iOS`` and ``android`` count as mobile; 4 meant *Windows* to one client and *server* to
/// another, so it gets no rights of its own.
public struct PlatformID: RawRepresentable, Hashable, Sendable {
    /// The signed byte as it travels.
    public let rawValue: Int8

    /// Makes the platform with this number.
    public init(rawValue: Int8) {
        self.rawValue = rawValue
    }

    /// 1, `PLATFORM_IOS`.
    public static let iOS = PlatformID(rawValue: 1)
    /// 2, `PLATFORM_ANDROID`.
    public static let android = PlatformID(rawValue: 2)
    /// 3, `PLATFORM_WEB`.
    public static let web = PlatformID(rawValue: 3)
    /// 4, Windows in the web library.
    public static let windows = PlatformID(rawValue: 4)
    /// 5, macOS in the web library.
    public static let macOS = PlatformID(rawValue: 5)
    /// 6, Linux: Rivulet's own number, outside the numbers in use.
    public static let linux = PlatformID(rawValue: 6)

    /// Whether push notifications go to this device while it is not connected.
    public var isMobile: Bool {
        self == .iOS || self == .android
    }
}
