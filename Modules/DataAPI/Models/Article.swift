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
    public let content: String

    /// The author; `nil` if the server does not name one.
    public let author: Author?

    /// When it was created, on the server's clock; `nil` if not known.
    public let createdAt: Date?

    /// When it was last changed, on the server's clock; `nil` if not known.
    public let updatedAt: Date?

    /// Creates an article.
    public init(
        id: ID,
        title: String,
        content: String,
        author: Author? = nil,
        createdAt: Date? = nil,
        updatedAt: Date? = nil
    ) {
        self.id = id
        self.title = title
        self.content = content
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
    public var content: String?

    /// Creates changes.
    public init(title: String? = nil, content: String? = nil) {
        self.title = title
        self.content = content
    }
}

/// The content of an article to create.
public struct ArticleDraft: Sendable, Hashable, Encodable {
    /// The title: at least one character.
    public var title: String

    /// The text: at least one character.
    public var content: String

    /// Creates a draft.
    public init(title: String, content: String) {
        self.title = title
        self.content = content
    }
}
