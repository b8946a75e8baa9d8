import ArgumentParser
import Composition
import DataAPI
import Foundation
import NetworkCore

struct EditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Change the title or the text of your article.",
        examples: [
            "articles edit 7 --title 'Names for rain'", "articles edit 7 --body - <rain.txt",
        ])

    @OptionGroup var article: ArticleArgument

    @Option(help: "The new title.")
    var title: String?

    @Option(help: "The new text; - reads it from standard input.")
    var body: String?

    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions<ArticleObject>

    func validate() throws {
        guard title != nil || body != nil else { throw ValidationError("give --title, --body or both") }
    }

    func run() async throws {
        let text = body == "-" ? try InputFile("-").text() : body
        try await connection.withGraph { graph in
            let changes = ArticleChanges(title: title, content: text)
            try output.console.print(try await graph.network.send(.update(article.id, changes)))
        }
    }
}

struct DeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete your article.",
        examples: ["articles delete 7"])

    @OptionGroup var article: ArticleArgument
    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions<WholeObject>

    func run() async throws {
        try await connection.withGraph { graph in
            try await graph.network.send(.delete(article.id))
            output.console.print("deleted article \(article.id.description.onOneLine)")
            try output.console.printObject(["deleted": article.id.rawValue])
        }
    }
}
