/// The content of an article to create.
public struct ArticleDraft: Sendable, Hashable, Encodable {
    /// The title: at least one character.
    public var title: String

    /// The text: at least one character.
    public var body: String

    /// Creates a draft.
    ///
    /// - Parameters:
    ///   - title: The title.
    ///   - body: The text.
    public init(title: String, body: String) {
        self.title = title
        self.body = body
    }
}
