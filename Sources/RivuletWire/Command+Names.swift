extension Command {
    /// The protocol's name of the command without `MSG_`, such as `GROUP_IM`; nil for a number that has none.
    ///
    /// The profile decides what 64 is called.
    public func name(in profile: Profile) -> String? {
        if self == .voipControl { return profile == .seed ? "VOIP_CONTROL" : "CUSTOMER_V2" }
        if self == .voipData { return "VOIP_DATA" }
        let index = Int(rawValue) - 1
        return Self.names.indices.contains(index) ? Self.names[index] : nil
    }

    /// The names of 1, 2, 3 and so on (docs/protocol.md, section 5).
    private static let names = [
        "HEARTBEAT", "AUTH", "AUTH_STATUS", "IM", "ACK", "RST", "GROUP_NOTIFICATION", "GROUP_IM", "PEER_ACK",
        "INPUTING", "SUBSCRIBE_ONLINE_STATE", "ONLINE_STATE", "PING", "PONG", "AUTH_TOKEN", "LOGIN_POINT",
        "RT",
        "ENTER_ROOM", "LEAVE_ROOM", "ROOM_IM", "SYSTEM", "UNREAD_COUNT", "CUSTOMER_SERVICE", "CUSTOMER",
        "CUSTOMER_SUPPORT", "SYNC", "SYNC_BEGIN", "SYNC_END", "SYNC_NOTIFY", "SYNC_GROUP", "SYNC_GROUP_BEGIN",
        "SYNC_GROUP_END", "SYNC_GROUP_NOTIFY", "SYNC_KEY", "GROUP_SYNC_KEY", "NOTIFICATION", "METADATA",
    ]
}
