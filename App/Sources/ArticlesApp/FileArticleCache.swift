import ArticlesUI
package import AuthInterface
package import DataAPI
package import Foundation

/// Stores the articles of the last session in a file that only this user can read.
///
/// A file that cannot be read or written is as good as none: the articles come from the server.
package actor FileArticleCache: ArticleCache {
    private struct Stored: Codable {
        let session: SessionID
        let articles: [StoredArticle]
    }

    /// An article as it is stored.
    private struct StoredArticle: Codable {
        let id: Article.ID
        let title: String
        let content: String
        let author: Article.Author?
        let createdAt: Date?
        let updatedAt: Date?

        init(_ article: Article) {
            id = article.id
            title = article.title
            content = article.content
            author = article.author
            createdAt = article.createdAt
            updatedAt = article.updatedAt
        }

        var article: Article {
            Article(id: id, title: title, content: content, author: author, createdAt: createdAt, updatedAt: updatedAt)
        }
    }

    /// The most articles that are stored.
    private static let articleLimit = 100

    /// The largest file that is read, in bytes.
    private static let sizeLimit = 16 * 1024 * 1024

    private let file: URL

    /// - Parameter folder: A folder for this cache only. It is created when it is needed.
    package init(folder: URL) {
        file = folder.appendingPathComponent("articles.json")
    }

    package func articles(of session: SessionID) -> [Article] {
        guard let stored = read(), stored.session == session else { return [] }
        return stored.articles.map(\.article)
    }

    package func store(_ articles: [Article], of session: SessionID) {
        let stored = Stored(session: session, articles: articles.prefix(Self.articleLimit).map(StoredArticle.init))
        guard let data = try? JSONEncoder().encode(stored) else { return }
        let folder = file.deletingLastPathComponent()
        try? FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        // The file has the permissions of new files, so the folder must not be open to other users.
        guard (try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)) != nil
        else { return }
        try? data.write(to: file, options: .atomic)
    }

    package func remove(of session: SessionID) {
        guard let stored = read(), stored.session == session else { return }
        try? FileManager.default.removeItem(at: file)
    }

    private func read() -> Stored? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
        guard let size = attributes?[.size] as? NSNumber, size.intValue <= Self.sizeLimit,
            let data = try? Data(contentsOf: file)
        else { return nil }
        return try? JSONDecoder().decode(Stored.self, from: data)
    }
}
