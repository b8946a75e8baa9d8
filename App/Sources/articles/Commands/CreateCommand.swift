import ArgumentParser
import Composition
import DataAPI
import Foundation
import NetworkCore

struct CreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Create an article.",
        discussion: "Without --body, on a terminal, the text is written in the editor of $VISUAL or $EDITOR.",
        examples: [
            "articles create --title Hello --body 'First lines'", "articles create --title Hello --body - <hello.txt",
            "EDITOR=nano articles create --title Hello",
        ])

    @Option(help: "The title.")
    var title: String

    @Option(help: "The text; - reads it from standard input (default: opens an editor, on a terminal).")
    var body: String?

    @Option(
        help: """
            The key by which the server recognizes a repeated command: with the key of an earlier one, no second \
            article is created (default: random).
            """)
    var idempotencyKey: String?

    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions<ArticleObject>

    func validate() throws {
        guard body != nil || Editor.isUsable else {
            throw ValidationError("give --body; on a terminal, an editor opens without it")
        }
        if let idempotencyKey, !idempotencyKey.isVisibleASCII || idempotencyKey.utf8.count > 255 {
            throw ValidationError("--idempotency-key must be 1 to 255 visible ASCII characters")
        }
    }

    func run() async throws {
        let editor = try body == nil ? Editor() : nil
        let text = try body.map { try $0 == "-" ? InputFile("-").text() : $0 } ?? editor?.text() ?? ""
        do {
            try await publish(text)
        } catch {
            if let editor { output.console.note("the text is in \(editor.file)") }
            throw error
        }
        editor?.discard()
    }

    private func publish(_ text: String) async throws {
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
