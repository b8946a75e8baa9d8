import ArgumentParser
import Composition
import DataAPI
import Foundation
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
            try await output.console.print(graph.articles.article(article.id))
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

struct CreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Create an article.",
        examples: [
            "articles create --title Hello --body 'First lines'", "articles create --title Hello --body - <hello.txt",
        ])

    @Option(help: "The title.")
    var title: String

    @Option(help: "The text; - reads it from standard input.")
    var body: String

    @Option(
        help: """
            The key by which the server recognizes a repeated command: with the key of an earlier one, no second \
            article is created (default: random).
            """)
    var idempotencyKey: String?

    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions<ArticleObject>

    func validate() throws {
        if let idempotencyKey, !idempotencyKey.isVisibleASCII || idempotencyKey.utf8.count > 255 {
            throw ValidationError("--idempotency-key must be 1 to 255 visible ASCII characters")
        }
    }

    func run() async throws {
        let text = try body == "-" ? InputFile("-").text() : body
        // One key for all attempts of this command.
        let key = idempotencyKey ?? UUID().uuidString
        try await connection.withGraph { graph in
            let draft = ArticleDraft(title: title, content: text)
            do {
                try output.console.print(await graph.network.send(.create(draft).idempotent(key: key)))
            } catch let error as NetworkError where error.authentication == nil && error.isOutcomeUnknown {
                output.console.note("the article may have been created; repeat with --idempotency-key \(key)")
                throw error
            }
        }
    }
}

extension NetworkError {
    /// Whether the server may have done the work: there was no response, or a transient one.
    fileprivate var isOutcomeUnknown: Bool { status.map { $0 >= 500 } ?? true }
}

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
