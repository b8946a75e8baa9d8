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
            "articles edit 7 --title Hi --if-match \"$ETAG\"",
        ])

    @OptionGroup var article: ArticleArgument

    @Option(help: "The new title.")
    var title: String?

    @Option(help: "The new text; - reads it from standard input.")
    var body: String?

    @OptionGroup var version: VersionOption
    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions<ArticleObject>

    func validate() throws {
        guard title != nil || body != nil else { throw ValidationError("give --title, --body or both") }
    }

    func run() async throws {
        let text = body == "-" ? try InputFile("-").text() : body
        try await connection.withGraph { graph in
            let changes = ArticleChanges(title: title, content: text)
            let call = version.applied(to: Endpoint<Article>.update(article.id, changes))
            let (article, etag) = try await version.checking(article.id) {
                try await graph.network.send(call.map { ($0, $1.headers["ETag"]) })
            }
            try output.console.print(article, etag: etag)
        }
    }
}

struct DeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete your article.",
        examples: ["articles delete 7", "articles delete 7 --if-match \"$ETAG\""])

    @OptionGroup var article: ArticleArgument
    @OptionGroup var version: VersionOption
    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions<WholeObject>

    func run() async throws {
        try await connection.withGraph { graph in
            try await version.checking(article.id) {
                try await graph.network.send(version.applied(to: .delete(article.id)))
            }
            output.console.print("deleted article \(article.id.description.onOneLine)")
            try output.console.printObject(["deleted": article.id.rawValue])
        }
    }
}

/// The version that a change is made to.
struct VersionOption: ParsableArguments {
    @Option(help: "Only if this is still the version: the etag of 'articles show --json'.")
    var ifMatch: String?

    func validate() throws {
        if let ifMatch, !ifMatch.isVisibleASCII {
            throw ValidationError("--if-match must be an etag, in visible ASCII characters")
        }
    }

    /// The call under this condition (RFC 9110 §13.1.1).
    func applied<Response>(to call: Endpoint<Response>) -> Endpoint<Response> {
        guard let ifMatch else { return call }
        // The quotes are a part of the tag, and easily lost in a shell.
        return call.header("If-Match", ifMatch.hasSuffix("\"") || ifMatch == "*" ? ifMatch : "\"\(ifMatch)\"")
    }

    /// Says what to do when another change came first.
    func checking<Value>(_ id: Article.ID, _ change: () async throws -> Value) async throws -> Value {
        do {
            return try await change()
        } catch let error as NetworkError where error.status == 412 {
            var failure = Failure(
                "article \(id) has changed since that version; read it with 'articles show \(id)', and try again",
                .refused)
            failure.response = Failure(error).response
            throw failure
        }
    }
}
