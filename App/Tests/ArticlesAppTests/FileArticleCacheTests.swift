import ArticlesApp
import AuthInterface
import DataAPI
import Foundation
import Testing

@Suite struct FileArticleCacheTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    private let first = SessionID(rawValue: "first")
    private let second = SessionID(rawValue: "second")

    private func article(_ number: Int) -> Article {
        Article(
            id: Article.ID(integerLiteral: Int64(number)), title: "Title \(number)", content: "Text",
            author: Article.Author(id: 1, name: "Ada"), createdAt: Date(timeIntervalSince1970: 1))
    }

    @Test func `articles are there after a restart, for their session only`() async {
        defer { try? FileManager.default.removeItem(at: folder) }
        await FileArticleCache(folder: folder).store([article(1), article(2)], of: first)
        let cache = FileArticleCache(folder: folder)
        #expect(await cache.articles(of: first) == [article(1), article(2)])
        #expect(await cache.articles(of: second).isEmpty)
        await cache.remove(of: second)
        #expect(await cache.articles(of: first).count == 2)
        await cache.remove(of: first)
        #expect(await cache.articles(of: first).isEmpty)
    }

    @Test func `other users cannot open the folder of the articles`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        await FileArticleCache(folder: folder).store([article(1)], of: first)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o700)
    }

    @Test func `a file that cannot be read counts as none, and is replaced`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("damaged".utf8).write(to: folder.appendingPathComponent("articles.json"))
        let cache = FileArticleCache(folder: folder)
        #expect(await cache.articles(of: first).isEmpty)
        await cache.store([article(1)], of: first)
        #expect(await cache.articles(of: first).count == 1)
    }

    @Test func `a long list is stored in part`() async {
        defer { try? FileManager.default.removeItem(at: folder) }
        let cache = FileArticleCache(folder: folder)
        await cache.store((1...150).map(article), of: first)
        #expect(await cache.articles(of: first).count == 100)
    }
}
