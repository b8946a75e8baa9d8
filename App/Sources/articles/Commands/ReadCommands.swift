import ArgumentParser
import Composition
import DataAPI
import Foundation
import NetworkCore
import NetworkTransfers

struct ListCommand: AsyncParsableCommand {
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

struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one article.",
        examples: ["articles show 7", "articles show 7 --json title,content"])

    @OptionGroup var article: ArticleArgument
    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions<ArticleObject>

    func run() async throws {
        try await connection.withGraph { graph in
            try await output.console.print(graph.articles.article(article.id))
        }
    }
}

struct ArticleArgument: ParsableArguments {
    @Argument(help: "The article's identifier.", transform: { Article.ID(rawValue: $0) })
    var id: Article.ID

    func validate() throws {
        guard !id.rawValue.isEmpty else { throw ValidationError("the identifier must not be empty") }
    }
}

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print each change of the articles as it happens, until Ctrl-C.",
        discussion: """
            A line has the event, what happened (created, changed, deleted) and the article. A lost connection is \
            opened again, and no change is lost or repeated.
            """,
        examples: ["articles watch", "articles watch --after 0 --json-lines"])

    @Option(help: "Start after this event of an earlier run; 0 is the oldest that the server keeps.")
    var after: String?

    @Flag(help: "Print one JSON object on each line.")
    var jsonLines = false

    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions

    private struct Change: Encodable {
        struct Data: Decodable { let id: Article.ID }

        let event: String
        let kind: String
        let article: Article.ID
    }

    func validate() throws {
        if let after, !after.isVisibleASCII {
            throw ValidationError("--after must be the event of an earlier line")
        }
    }

    func run() async throws {
        try await connection.withGraph { graph in
            let console = Console(isJSON: jsonLines)
            var options = EventStreamOptions()
            options.lastEventID = after ?? ""
            for try await event in graph.network.events(Endpoint<Void>.get("articles/events"), options: options) {
                let data = try? JSONDecoder().decode(Change.Data.self, from: Data(event.data.utf8))
                // A kind of event that this program does not know.
                guard let data else { continue }
                let change = Change(event: event.id, kind: event.type, article: data.id)
                let row = [change.event, change.kind, change.article.rawValue]
                console.printRow(row) { "\($0[0].leftPadded(to: 6))  \($0[1].fitted(to: 8))  article \($0[2])" }
                try console.printObject(change)
                guard !Console.outputHasFailed else { return }
            }
        }
    }
}

struct ArticleObject: Encodable, PrintedObject {
    static let fields = ["id", "title", "content", "author", "createdAt", "updatedAt"]

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
}

extension Console {
    func print(_ article: Article) throws {
        print(terminal.bold(article.title.onOneLine))
        let facts = [
            "article \(article.id.description.onOneLine)", article.author.map { "by \($0.name.onOneLine)" },
            article.createdAt.map(time),
        ]
        print(terminal.faint(facts.compactMap(\.self).joined(separator: ", ")))
        print()
        print(article.content.withoutControls)
        try printObject(["article": ArticleObject(article)], selectingIn: "article")
    }
}
