import DataAPI
import Foundation

/// An article as `--json` prints one.
struct ArticleObject: Encodable {
    struct Author: Encodable {
        let id: Int64
        let name: String
    }

    let id: Int64
    let title: String
    let body: String
    let author: Author
    let createdAt: Date
    let updatedAt: Date

    init(_ article: Article) {
        id = article.id.rawValue
        title = article.title
        body = article.body
        author = Author(id: article.author.id.rawValue, name: article.author.name)
        createdAt = article.createdAt
        updatedAt = article.updatedAt
    }
}

extension Console {
    /// Prints an article.
    ///
    /// - Throws: `EncodingError`.
    func print(_ article: Article) throws {
        print(terminal.bold(article.title))
        let date = article.createdAt.formatted(.iso8601)
        print(terminal.faint("article \(article.id), by \(article.author.name), \(date)"))
        print()
        print(article.body)
        try printObject(["article": ArticleObject(article)])
    }
}

/// A user as `--json` prints one.
struct UserObject: Encodable {
    let id: Int64
    let name: String
    let profileURL: String?

    init(_ user: User) {
        id = user.id.rawValue
        name = user.name
        profileURL = user.profileURL?.absoluteString
    }
}
