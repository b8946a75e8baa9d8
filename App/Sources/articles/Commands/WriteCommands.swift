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
            func save(_ changes: ArticleChanges) async throws {
                try await console.print(graph.articles.update(article.id, changes))
            }
            if isGiven { return try await save(ArticleChanges(title: title, content: text)) }
            let found = try await graph.articles.article(article.id)
            try await Editor.edit(found, on: console) { changes in
                if let changes { return try await save(changes) }
                console.print("nothing was changed")
                try console.printObject(["article": ArticleObject(found)], selectingIn: "article")
            }
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

/// An article in the user's editor: the title is the first line, and the text follows an empty one.
enum Editor {
    /// Opens an article, waits until the editor has ended, and gives on what has changed; `nil` is nothing. The file
    /// stays where that fails, and is named.
    static func edit(
        _ article: Article, on console: Console, _ save: (ArticleChanges?) async throws -> Void
    ) async throws {
        let text = "\(article.title)\n\n\(article.content)\n"
        let file = FileManager.default.temporaryDirectory.appending(path: "article-\(UUID().uuidString).md").path
        let mode: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: file, contents: Data(text.utf8), attributes: mode) else {
            throw Failure("\(file) cannot be written; check TMPDIR", .output)
        }
        let environment = ProcessInfo.processInfo.environment
        let editor = ["VISUAL", "EDITOR"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "vi"
        do {
            guard Interruption.ignoringKeys({ run("\(editor) \"$1\"", with: file, environment) }) else {
                throw Failure("the editor '\(editor)' has failed; set EDITOR to another one", .missingInput)
            }
            let (before, after) = (parts(of: text), parts(of: try InputFile(file).text()))
            let changes = ArticleChanges(
                title: before.title == after.title ? nil : after.title,
                content: before.content == after.content ? nil : after.content)
            try await save(before == after ? nil : changes)
        } catch {
            // On a line of its own: the error is still needed as it is.
            console.log("what you have written is in \(file)")
            throw error
        }
        try? FileManager.default.removeItem(atPath: file)
    }

    private static func parts(of text: String) -> (title: String, content: String) {
        let title = text.prefix { !$0.isNewline }
        var content = text.dropFirst(title.count).drop(while: \.isNewline)
        while content.last?.isNewline == true { content.removeLast() }
        return (String(title), String(content))
    }

    /// Runs a script of the shell in the group of this process, which has the terminal: a group of its own would be
    /// stopped at its first read. It blocks no signal, and each has its default action.
    private static func run(_ script: String, with argument: String, _ environment: [String: String]) -> Bool {
        let arguments = ["sh", "-c", script, "sh", argument]
        let words = arguments.map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + variables { free(text) } }
        #if canImport(Darwin)
        var attributes: posix_spawnattr_t?
        #else
        var attributes = posix_spawnattr_t()
        #endif
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var process: pid_t = 0
        guard posix_spawn(&process, "/bin/sh", nil, &attributes, words, variables) == 0 else { return false }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 { if errno != EINTR { return false } }
        return status == 0
    }
}
