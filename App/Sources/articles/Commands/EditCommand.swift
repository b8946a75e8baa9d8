import ArgumentParser
import Composition
import DataAPI
import Foundation

struct EditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Change the title or the text of your article.")

    @OptionGroup var article: ArticleArgument

    @Option(help: "The new title.")
    var title: String?

    @Option(help: "The new text; - reads it from standard input.")
    var body: String?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions<ArticleObject>

    func validate() throws {
        guard title != nil || body != nil else { throw ValidationError("give --title, --body or both") }
    }

    func run() async throws {
        let text = body == "-" ? String(decoding: try InputFile("-").data(), as: UTF8.self) : body
        try await connection.withGraph { graph in
            let changes = ArticleChanges(title: title, content: text)
            try output.console.print(await graph.articles.update(article.id, changes))
        }
    }
}

struct DeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "delete", abstract: "Delete your article.")

    @OptionGroup var article: ArticleArgument
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions<WholeObject>

    func run() async throws {
        try await connection.withGraph { graph in
            try await graph.articles.delete(article.id)
            output.console.print("deleted article \(article.id)")
            try output.console.printObject(["deleted": article.id.rawValue])
        }
    }
}
