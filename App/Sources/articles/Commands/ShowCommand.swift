import ArgumentParser
import Composition
import DataAPI
import NetworkCore

struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one article.",
        examples: ["articles show 7", "articles show 7 --json title,content"])

    @OptionGroup var article: ArticleArgument
    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions<ArticleObject>

    func run() async throws {
        try await connection.withGraph { graph in
            try output.console.print(try await graph.network.send(.article(article.id)))
        }
    }
}

/// The article that a command is about.
struct ArticleArgument: ParsableArguments {
    @Argument(help: "The article's identifier.", transform: { Article.ID(rawValue: $0) })
    var id: Article.ID

    func validate() throws {
        guard !id.rawValue.isEmpty else { throw ValidationError("the identifier must not be empty") }
    }
}
