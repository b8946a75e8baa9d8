import ArgumentParser
import Composition
import DataAPI

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List articles, newest first.")

    @Option(help: "The most articles to list.")
    var limit = 20

    @Flag(help: "List all articles.")
    var all = false

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
            // The page size avoids a request for articles beyond the limit.
            for try await article in graph.articles.all(pageSize: min(wanted, 50)) {
                articles.append(article)
                let author = article.author.map { "  (\($0.name))" } ?? ""
                console.print("\(article.id.description.leftPadded(to: 6))  \(article.title)\(author)")
                if articles.count == wanted { break }
            }
            if articles.isEmpty { console.print("no articles; create one with 'articles create'") }
            try console.printObject(["articles": articles.map(ArticleObject.init)])
        }
    }
}
