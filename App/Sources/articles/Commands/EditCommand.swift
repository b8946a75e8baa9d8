import ArgumentParser
import Composition
import DataAPI

struct EditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Change the title or the text of your article.",
        discussion: "Without --title and --body your editor opens: $VISUAL, $EDITOR or vi.",
        examples: [
            "articles edit 7", "articles edit 7 --title 'Names for rain'", "articles edit 7 --body - <rain.txt",
        ])

    @OptionGroup var article: ArticleArgument

    @Option(help: "The new title.")
    var title: String?

    @Option(help: "The new text; - reads it from standard input.")
    var body: String?

    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions<ArticleObject>

    func run() async throws {
        let console = output.console
        let isGiven = title != nil || body != nil
        guard isGiven || console.isAttended else {
            throw Failure("give --title, --body or both: without a terminal no editor opens", .usage)
        }
        let text = body == "-" ? try InputFile("-").text() : body
        try await connection.withGraph { graph in
            func save(_ changes: ArticleChanges?) async throws {
                guard let changes else { return console.print("nothing was changed") }
                try await console.print(graph.articles.update(article.id, changes))
            }
            if isGiven { return try await save(ArticleChanges(title: title, content: text)) }
            try await Editor.edit(try await graph.articles.article(article.id), save)
        }
    }
}

struct DeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete your article.",
        examples: ["articles delete 7", "articles delete 7 --yes"])

    @OptionGroup var article: ArticleArgument

    @Flag(help: "Do not ask. Without a terminal, it is needed.")
    var yes = false

    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions<WholeObject>

    func run() async throws {
        try await connection.withGraph { graph in
            let name = "article \(article.id.description.onOneLine)"
            if !yes {
                let title = try await graph.articles.article(article.id).title.onOneLine
                guard let reply = output.console.ask("delete \(name), '\(title)'? [y/N] ") else {
                    throw Failure("add --yes to delete \(name) without a question", .usage)
                }
                guard reply else { throw Failure("\(name) was not deleted", .refused) }
            }
            try await graph.articles.delete(article.id)
            output.console.print("deleted \(name)")
            try output.console.printObject(["deleted": article.id.rawValue])
        }
    }
}
