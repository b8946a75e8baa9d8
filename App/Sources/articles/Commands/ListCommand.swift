import ArgumentParser
import Composition
import DataAPI

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List articles, newest first.")

    @Option(help: "The most articles to list.")
    var limit = 20

    @Flag(help: "List all articles.")
    var all = false

    @Option(help: "Start where an earlier list has ended.")
    var cursor: String?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be at least 1") }
    }

    func run() async throws {
        try await connection.withGraph { graph in
            let console = output.console
            let wanted = all ? Int.max : limit
            var articles: [Article] = []
            var next = cursor.map { Article.Cursor(rawValue: $0) }
            repeat {
                // The page size avoids a request for articles beyond the limit.
                let page = try await graph.articles.page(after: next, limit: min(wanted - articles.count, 50))
                for article in page.items { console.print(Self.line(article)) }
                articles += page.items
                guard page.nextCursor == nil || page.nextCursor != next else { break }
                next = page.nextCursor
            } while next != nil && articles.count < wanted
            if articles.isEmpty { console.print("no articles; create one with 'articles create'") }
            if let next {
                console.note("\(articles.count) articles, and more follow: use --all, --limit, or --cursor \(next)")
            }
            try console.printObject(ListObject(articles: articles.map(ArticleObject.init), nextCursor: next?.rawValue))
        }
    }

    private static func line(_ article: Article) -> String {
        let author = article.author.map { "  (\($0.name))" } ?? ""
        return "\(article.id.description.leftPadded(to: 6))  \(article.title)\(author)"
    }

    /// A list as `--json` prints one. Without a cursor it is complete.
    private struct ListObject: Encodable {
        let articles: [ArticleObject]
        let nextCursor: String?
    }
}
