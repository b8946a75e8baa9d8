public import struct Foundation.Date

/// An article, whole.
public struct Article: Sendable, Hashable, Identifiable, Decodable {
    /// What the server knows an article by.
    public struct ID: Sendable, Hashable, RawRepresentable, Codable, ExpressibleByIntegerLiteral {
        /// The number.
        public let rawValue: Int64

        /// Takes a number.
        ///
        /// - Parameter rawValue: The number.
        public init(rawValue: Int64) {
            self.rawValue = rawValue
        }

        /// Takes a number written in code.
        ///
        /// - Parameter value: The number.
        public init(integerLiteral value: Int64) {
            self.init(rawValue: value)
        }
    }

    /// Whoever wrote an article.
    public struct Author: Sendable, Hashable, Identifiable, Codable {
        /// What the server knows the author by.
        public let id: User.ID

        /// The name the author goes by.
        public let name: String

        /// Creates an author.
        ///
        /// - Parameters:
        ///   - id: What the server knows the author by.
        ///   - name: The name the author goes by.
        public init(id: User.ID, name: String) {
            self.id = id
            self.name = name
        }
    }

    /// A place in the list of articles.
    public typealias Cursor = Page<Article>.Cursor

    /// What the server knows the article by.
    public let id: ID

    /// The headline.
    public let title: String

    /// The text.
    public let body: String

    /// Whoever wrote it.
    public let author: Author

    /// When it was written, on the server's clock.
    public let createdAt: Date

    /// When it was last changed, on the server's clock.
    public let updatedAt: Date

    /// Creates an article.
    ///
    /// - Parameters:
    ///   - id: What the server knows the article by.
    ///   - title: The headline.
    ///   - body: The text.
    ///   - author: Whoever wrote it.
    ///   - createdAt: When it was written.
    ///   - updatedAt: When it was last changed; when it was written, if left out.
    public init(id: ID, title: String, body: String, author: Author, createdAt: Date, updatedAt: Date? = nil) {
        self.id = id
        self.title = title
        self.body = body
        self.author = author
        self.createdAt = createdAt
        self.updatedAt = updatedAt ?? createdAt
    }
}

extension Article.ID: CustomStringConvertible {
    /// The number as text.
    public var description: String { String(rawValue) }
}
