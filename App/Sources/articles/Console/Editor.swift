import Foundation

/// A text that the user writes in an editor: `$VISUAL`, else `$EDITOR`, else vi.
struct Editor {
    /// The file with the text, for its owner only.
    let file: String

    /// Whether an editor can be shown: standard input and output are terminals.
    static var isUsable: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 }

    /// Creates an empty file.
    ///
    /// - Throws: ``Failure`` when there is no room for it.
    init() throws {
        let folder = FileManager.default.temporaryDirectory.path
        var path = Array("\(folder)/article-XXXXXX.md".utf8CString)
        let descriptor = mkstemps(&path, 3)
        guard descriptor >= 0 else {
            throw Failure("no file can be created in \(folder); check that the disk is not full", .output)
        }
        close(descriptor)
        file = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Opens the editor, waits until it ends, and reads the text.
    ///
    /// - Throws: ``Failure`` when the editor fails, or the text is empty.
    func text() throws -> String {
        let environment = ProcessInfo.processInfo.environment
        let program = [environment["VISUAL"], environment["EDITOR"]].compactMap(\.self).first { !$0.isEmpty } ?? "vi"
        // The variable is a command with arguments, as for other programs.
        let argument = file.replacing("'", with: #"'\''"#)
        guard Self.run("\(program) '\(argument)'") == 0 else {
            throw Failure(
                "the editor '\(program)' failed; nothing was published, and the text is in \(file)", .unusableInput)
        }
        let text = try InputFile(file).text().trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty else {
            discard()
            throw Failure("the text is empty; nothing was published", .unusableInput)
        }
        return text
    }

    /// Removes the file.
    func discard() { unlink(file) }

    /// Runs a command of the shell on this terminal. Ctrl-C is the command's.
    private static func run(_ command: String) -> Int32 {
        // The threads of tasks block all signals, which a child inherits.
        var (none, blocked) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &blocked)
        defer { pthread_sigmask(SIG_SETMASK, &blocked, nil) }
        return system(command)
    }
}
