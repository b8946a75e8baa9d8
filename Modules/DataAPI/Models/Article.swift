public import struct Foundation.Date

/// An article with its text and author.
public struct Article: Sendable, Hashable, Identifiable, Decodable {
    /// The identifier of an article.
    public typealias ID = Identifier<Article>

    /// The author of an article.
    public struct Author: Sendable, Hashable, Identifiable, Codable {
        /// The user identifier of the author.
        public let id: User.ID

        /// The display name.
        public let name: String

        /// Creates an author.
        ///
        /// - Parameters:
        ///   - id: The user identifier of the author.
        ///   - name: The display name.
        public init(id: User.ID, name: String) {
            self.id = id
            self.name = name
        }
    }

    /// A position in the list of articles.
    public typealias Cursor = Page<Article>.Cursor

    /// The identifier.
    public let id: ID

    /// The title.
    public let title: String

    /// The text.
    public let body: String

    /// The author.
    public let author: Author

    /// When it was created, on the server's clock.
    public let createdAt: Date

    /// When it was last changed, on the server's clock.
    public let updatedAt: Date

    /// Creates an article.
    ///
    /// - Parameters:
    ///   - id: The identifier.
    ///   - title: The title.
    ///   - body: The text.
    ///   - author: The author.
    ///   - createdAt: When it was created.
    ///   - updatedAt: When it was last changed; `nil` means at its creation.
    public init(id: ID, title: String, body: String, author: Author, createdAt: Date, updatedAt: Date? = nil) {
        self.id = id
        self.title = title
        self.body = body
        self.author = author
        self.createdAt = createdAt
        self.updatedAt = updatedAt ?? createdAt
    }
}

/// The changes to an article. A member that is `nil` stays as it is.
public struct ArticleChanges: Sendable, Hashable, Encodable {
    /// The new title.
    public var title: String?

    /// The new text.
    public var body: String?

    /// Creates changes.
    ///
    /// - Parameters:
    ///   - title: The new title.
    ///   - body: The new text.
    public init(title: String? = nil, body: String? = nil) {
        self.title = title
        self.body = body
    }
}

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
