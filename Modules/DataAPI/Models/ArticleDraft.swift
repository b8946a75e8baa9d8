/// An article that is still to be created.
public struct ArticleDraft: Sendable, Hashable, Encodable {
    /// The headline: at least one character.
    public var title: String

    /// The text: at least one character.
    public var body: String

    /// Creates a draft.
    ///
    /// - Parameters:
    ///   - title: The headline.
    ///   - body: The text.
    public init(title: String, body: String) {
        self.title = title
        self.body = body
    }
}

/// What is to change in an article; what is `nil` stays as it is.
public struct ArticleChanges: Sendable, Hashable, Encodable {
    /// The new headline.
    public var title: String?

    /// The new text.
    public var body: String?

    /// Creates changes.
    ///
    /// - Parameters:
    ///   - title: The new headline.
    ///   - body: The new text.
    public init(title: String? = nil, body: String? = nil) {
        self.title = title
        self.body = body
    }
}
