import ArgumentParser
import Composition
import DataAPI
import Foundation

struct ListCommand: AsyncParsableCommand {
    /// The most pages that are requested.
    private static let maximumPages = 10_000

    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List articles, newest first.",
        discussion: "On a terminal it is a table, elsewhere lines with tabs.",
        examples: ["articles list --limit 5", "articles list --all --json id,title", "articles list | cut -f 2"])

    @Option(help: "The most articles to list.")
    var limit = 20

    @Flag(help: "List all articles.")
    var all = false

    @Option(help: "Start where an earlier list has ended.")
    var cursor: String?

    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions<ArticleObject>

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be at least 1") }
    }

    func run() async throws {
        try await connection.withGraph { graph in
            let console = output.console
            let wanted = all ? Int.max : limit
            var articles: [Article] = []
            var next = cursor.map { Article.Cursor(rawValue: $0) }
            var seen: Set<Article.Cursor?> = [next]
            repeat {
                // The page size avoids a request for articles beyond the limit.
                let page = try await graph.articles.page(after: next, limit: min(wanted - articles.count, 50))
                Self.print(page.items, on: console)
                articles += page.items
                guard !Console.outputHasFailed else { break }
                next = page.nextCursor
                guard next == nil || seen.insert(next).inserted else {
                    throw Failure("the server's pages lead in a circle; stopped after \(seen.count) pages", .refused)
                }
                guard seen.count <= Self.maximumPages else {
                    throw Failure("the server's pages do not end; stopped after \(Self.maximumPages)", .refused)
                }
            } while next != nil && articles.count < wanted
            if articles.isEmpty { console.note("no articles; create one with 'articles create'") }
            if let next {
                let cursor = next.rawValue.onOneLine
                let count = articles.count == 1 ? "1 article" : "\(articles.count) articles"
                console.note("\(count), and more follow: use --all, --limit, or --cursor \(cursor)")
            }
            try console.printObject(
                ListObject(articles: articles.map { ArticleObject($0) }, nextCursor: next?.rawValue),
                selectingIn: "articles")
        }
    }

    /// Prints the identifier, the title, the author and the date of each article.
    private static func print(_ articles: [Article], on console: Console) {
        let titleWidth = max(20, console.terminal.width - 42)
        for article in articles {
            let date = article.createdAt.map(console.time) ?? ""
            console.printRow([article.id.description, article.title, article.author?.name ?? "", date]) { cells in
                let facts = console.terminal.faint("\(cells[2].fitted(to: 18))  \(cells[3])")
                return "\(cells[0].fitted(to: 6))\(cells[1].fitted(to: titleWidth))  \(facts)"
            }
        }
    }

    /// A list as `--json` prints one. Without a cursor it is complete.
    private struct ListObject: Encodable {
        let articles: [ArticleObject]
        let nextCursor: String?
    }
}
