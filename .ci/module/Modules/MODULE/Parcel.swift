/// One parcel, as the server sends it.
public struct Parcel: Sendable, Hashable, Identifiable, Decodable {
    /// The server's identifier.
    public let id: String

    /// The title.
    public let title: String

    /// Creates the value.
    public init(id: String, title: String) {
        self.id = id
        self.title = title
    }
}

/// The content of the parcel to create.
public struct ParcelDraft: Sendable, Hashable, Encodable {
    /// The title: at least one character.
    public var title: String

    /// Creates a draft.
    public init(title: String) {
        self.title = title
    }
}
