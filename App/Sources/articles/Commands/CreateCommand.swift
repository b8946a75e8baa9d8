import ArgumentParser
import Composition
import DataAPI
import Foundation
import NetworkCore

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
