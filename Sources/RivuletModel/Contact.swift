/// A person whom the user knows.
public struct Contact: Hashable, Sendable, Identifiable, Codable {
    /// The user.
    public var id: UserID
    /// The name that the person gave.
    public var name: String
    /// The name that the user of this account gave the person; nil for none.
    public var remark: String?
    /// Where the picture is; nil for none.
    public var avatar: String?
    /// Whether the user wants to hear nothing from this person.
    public var isBlocked: Bool

    /// Makes a contact.
    public init(
        id: UserID, name: String, remark: String? = nil, avatar: String? = nil, isBlocked: Bool = false
    ) {
        self.id = id
        self.name = name
        self.remark = remark
        self.avatar = avatar
        self.isBlocked = isBlocked
    }

    /// The name to show: the user's own for the person before the person's.
    public var displayName: String { remark ?? name }
}
