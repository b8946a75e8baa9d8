import DataAPI
import Foundation

/// An article in the user's editor: the title is the first line, and the text follows an empty one.
final class Editor {
    private let file: URL
    private var isKept = false

    /// What the user has changed. `nil`: nothing.
    private(set) var changes: ArticleChanges?

    private init(_ text: String) throws {
        file = FileManager.default.temporaryDirectory.appending(path: "article-\(UUID().uuidString).md")
        let mode: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: file.path, contents: Data(text.utf8), attributes: mode) else {
            throw Failure("\(file.path) cannot be written; check TMPDIR", .output)
        }
    }

    deinit { if !isKept { try? FileManager.default.removeItem(at: file) } }

    /// Opens an article, and waits until the editor has ended.
    ///
    /// - Throws: ``Failure``.
    static func open(_ article: Article) throws -> Editor {
        let text = "\(article.title)\n\n\(article.content)\n"
        let editor = try Editor(text)
        let environment = ProcessInfo.processInfo.environment
        let command = ["VISUAL", "EDITOR"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "vi"
        guard run("\(command) \"$1\"", with: editor.file.path, environment) else {
            throw Failure("the editor '\(command)' has failed; set EDITOR to another one", .missingInput)
        }
        let (before, after) = (parts(of: text), parts(of: try InputFile(editor.file.path).text()))
        if before != after {
            editor.changes = ArticleChanges(
                title: before.title == after.title ? nil : after.title,
                content: before.content == after.content ? nil : after.content)
        }
        return editor
    }

    /// Keeps the file, and returns its path.
    func keep() -> String {
        isKept = true
        return file.path
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
