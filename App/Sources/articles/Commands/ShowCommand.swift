import ArgumentParser
import Composition
import DataAPI

struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Show one article.")

    @Argument(help: "The article's identifier.")
    var id: String

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions<ArticleObject>

    func validate() throws {
        guard !id.isEmpty else { throw ValidationError("the identifier must not be empty") }
    }

    func run() async throws {
        try await connection.withGraph { graph in
            try output.console.print(await graph.articles.article(Article.ID(rawValue: id)))
        }
    }
}
