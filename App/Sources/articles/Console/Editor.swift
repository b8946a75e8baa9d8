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
        guard try Self.run(["/bin/sh", "-c", "\(program) \"$1\"", "sh", file]) == 0 else {
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

    /// Runs a program on this terminal. Ctrl-C is the program's.
    private static func run(_ words: [String]) throws -> Int32 {
        let handlers = [SIGINT, SIGQUIT].map { ($0, signal($0, SIG_IGN)) }
        defer { for (number, handler) in handlers { signal(number, handler) } }
        #if canImport(Glibc)
        var attributes = posix_spawnattr_t()
        #else
        var attributes: posix_spawnattr_t?
        #endif
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The threads of tasks block all signals, which a child inherits.
        var (none, interrupts) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigemptyset(&interrupts)
        for (number, _) in handlers { sigaddset(&interrupts, number) }
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &interrupts)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var arguments = words.map { strdup($0) } + [nil]
        defer { for text in arguments { free(text) } }
        var identifier: pid_t = 0
        guard posix_spawn(&identifier, words[0], nil, &attributes, &arguments, environ) == 0 else { return -1 }
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        return status
    }
}
