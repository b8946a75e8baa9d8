import DataAPI
import Foundation

/// An article as `--json` prints one.
struct ArticleObject: Encodable, PrintedObject {
    static let fields = ["id", "title", "content", "author", "createdAt", "updatedAt"]

    struct Author: Encodable {
        let id: String
        let name: String
    }

    let id: String
    let title: String
    let content: String
    let author: Author?
    let createdAt: Date?
    let updatedAt: Date?

    init(_ article: Article) {
        id = article.id.rawValue
        title = article.title
        content = article.content
        author = article.author.map { Author(id: $0.id.rawValue, name: $0.name) }
        createdAt = article.createdAt
        updatedAt = article.updatedAt
    }
}

extension Console {
    /// Prints an article.
    func print(_ article: Article) throws {
        print(terminal.bold(article.title.onOneLine))
        let facts = [
            "article \(article.id.description.onOneLine)", article.author.map { "by \($0.name.onOneLine)" },
            article.createdAt.map(time),
        ]
        print(terminal.faint(facts.compactMap(\.self).joined(separator: ", ")))
        print()
        print(article.content.replacing("\r\n", with: "\n").withoutControls)
        try printObject(["article": ArticleObject(article)], selectingIn: "article")
    }
}

/// A user as `--json` prints one.
struct UserObject: Encodable {
    let id: String
    let name: String
    let profileURL: String?

    init(_ user: User) {
        id = user.id.rawValue
        name = user.name
        profileURL = user.profileURL?.absoluteString
    }
}
