import DataAPI
import Foundation

/// An article in the user's editor: the title is the first line, and the text follows an empty one.
enum Editor {
    /// Opens an article, waits until the editor has ended, and gives on what has changed; `nil` is nothing. The file
    /// stays where that fails, and is named.
    static func edit(_ article: Article, _ save: (ArticleChanges?) async throws -> Void) async throws {
        let text = "\(article.title)\n\n\(article.content)\n"
        let file = FileManager.default.temporaryDirectory.appending(path: "article-\(UUID().uuidString).md").path
        let mode: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: file, contents: Data(text.utf8), attributes: mode) else {
            throw Failure("\(file) cannot be written; check TMPDIR", .output)
        }
        let environment = ProcessInfo.processInfo.environment
        let editor = ["VISUAL", "EDITOR"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "vi"
        guard run("\(editor) \"$1\"", with: file, environment) else {
            throw Failure("the editor '\(editor)' has failed; set EDITOR to another one", .missingInput)
        }
        let (before, after) = (parts(of: text), parts(of: try InputFile(file).text()))
        let changes = ArticleChanges(
            title: before.title == after.title ? nil : after.title,
            content: before.content == after.content ? nil : after.content)
        do {
            try await save(before == after ? nil : changes)
        } catch {
            let failure = Failure(error)
            throw Failure("\(failure.message); what you have written is in \(file)", failure.status)
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
    /// stopped at its first read.
    private static func run(_ script: String, with argument: String, _ environment: [String: String]) -> Bool {
        let arguments = ["sh", "-c", script, "sh", argument]
        let words = arguments.map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var process: pid_t = 0
        guard posix_spawn(&process, "/bin/sh", nil, nil, words, variables) == 0 else { return false }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 { if errno != EINTR { return false } }
        return status == 0
    }
}
