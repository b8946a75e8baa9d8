import ArgumentParser
import Composition
import DataAPI
import Foundation

struct CreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "create", abstract: "Create an article.")

    @Option(help: "The title.")
    var title: String

    @Option(help: "The text; - reads it from standard input.")
    var body: String

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions<ArticleObject>

    func run() async throws {
        let text = body == "-" ? String(decoding: try InputFile("-").data(), as: UTF8.self) : body
        try await connection.withGraph { graph in
            try output.console.print(await graph.articles.create(ArticleDraft(title: title, content: text)))
        }
    }
}
