import ArticlesWeb
import Foundation
import NIOConcurrencyHelpers

/// Prints all output of the program, and keeps a transcript of the newest that can be searched for secrets.
///
/// With `--json`, standard output is one object, and text for people is left out.
final class Console: Sendable {
    let terminal: Terminal
    /// The abilities of standard error, where progress is drawn.
    let progressTerminal: Terminal
    private let isJSON: Bool
    private let fields: [String]?
    private let printed = NIOLockedValueBox("")

    /// Creates a console. Objects are printed with the named fields; `nil` is all.
    init(
        isJSON: Bool, fields: [String]? = nil, terminal: Terminal = .current(),
        progressTerminal: Terminal = .current(STDERR_FILENO)
    ) {
        self.isJSON = isJSON
        self.fields = fields
        self.terminal = terminal
        self.progressTerminal = progressTerminal
    }

    /// Whether output of this process could not be written, for the exit status: a full disk must not look like
    /// success.
    static var outputHasFailed: Bool { state.withLockedValue { $0 != .works } }

    /// Whether the reader of a pipe has gone, as `head` does: no error of this program.
    static var outputHasNoReader: Bool { state.withLockedValue { $0 == .hasNoReader } }

    private enum OutputState { case works, hasNoReader, fails }

    private static let state = NIOLockedValueBox(OutputState.works)

    /// Whether a console has printed an object: no second one follows for a failure.
    private static let hasPrintedObject = NIOLockedValueBox(false)

    /// The most bytes of a transcript. Of a longer one, the newer half stays.
    static let longestTranscript = 4 * 1_024 * 1_024

    /// The output so far, of both streams: the newest of it.
    var transcript: String { printed.withLockedValue { $0 } }

    func print(_ line: String = "") {
        guard !isJSON else { return }
        write(line)
    }

    /// Prints a remark for people on standard error, so that it is no part of the output.
    func note(_ line: String) {
        guard !isJSON else { return }
        put("\(line)\n", to: .standardError)
    }

    /// Prints a line on standard error, with and without `--json`.
    func log(_ line: String) {
        put("\(line)\n", to: .standardError)
    }

    /// Prints a row of a table: aligned on a terminal, else with a tab between cells, for other programs.
    ///
    /// A cell is one line without control characters: text from a server must not change the table or the terminal.
    func printRow(_ cells: [String], aligned: ([String]) -> String) {
        let cells = cells.map(\.onOneLine)
        print(terminal.isTerminal ? aligned(cells) : cells.joined(separator: "\t"))
    }

    /// Whether a person can reply: standard input and error are terminals.
    var isAttended: Bool { isatty(STDIN_FILENO) == 1 && progressTerminal.isTerminal }

    /// Asks for a line on standard error. `nil`: no person can reply, or the command was cancelled.
    func reply(to question: String) -> String? {
        guard isAttended else { return nil }
        put(question, to: .standardError)
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        // Ctrl-C may cancel the command, which does not end a read.
        while poll(&input, 1, 100) <= 0 { if Task.isCancelled { return nil } }
        return readLine()?.trimmingCharacters(in: .whitespaces)
    }

    /// Asks a question. Returns whether the reply is yes; `nil` when no person can reply.
    func ask(_ question: String) -> Bool? {
        isAttended ? ["y", "yes"].contains(reply(to: question)?.lowercased()) : nil
    }

    /// A time: on a terminal how far away it is, elsewhere in ISO 8601, for other programs.
    func time(_ date: Date) -> String { terminal.isTerminal ? date.inWords : date.formatted(.iso8601) }

    /// Draws a line again on standard error, if it is an interactive terminal.
    func redraw(_ line: String, isLast: Bool) {
        guard !isJSON, progressTerminal.isInteractive else { return }
        put("\r\u{1B}[K\(line)\(isLast ? "\n" : "")", to: .standardError)
    }

    /// Prints a value as one JSON object, with `--json`. Fields are selected of the object, or of each object of the
    /// list, that has a key; `nil` is the value itself.
    func printObject(_ value: some Encodable, selectingIn key: String? = nil) throws {
        guard isJSON else { return }
        var data = try Self.encoder.encode(value)
        if let fields {
            var object = try JSONSerialization.jsonObject(with: data)
            if let key, var container = object as? [String: Any] {
                container[key] = container[key].map { Self.selection(fields, of: $0) }
                object = container
            } else {
                object = Self.selection(fields, of: object)
            }
            let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
            data = try JSONSerialization.data(withJSONObject: object, options: options)
        }
        Self.hasPrintedObject.withLockedValue { $0 = true }
        // Of the control characters the coder escapes C0 only. All others have one code unit, and are in strings.
        let json = String(decoding: data, as: UTF8.self).unicodeScalars
        write(json.reduce(into: "") { $0 += $1.isInvisibleControl ? String(format: "\\u%04x", $1.value) : String($1) })
    }

    /// The fields of an object, or of each object of a list. A field without a value is `null`.
    private static func selection(_ fields: [String], of value: Any) -> Any {
        switch value {
        case let list as [Any]: list.map { selection(fields, of: $0) }
        case let object as [String: Any]:
            Dictionary(uniqueKeysWithValues: Set(fields).map { ($0, object[$0] ?? NSNull()) })
        default: value
        }
    }

    /// Prints a line, with and without `--json`: help, or the program's version.
    func write(_ line: String) {
        put(line + "\n", to: .standardOutput)
    }

    /// Prints the body of a response, with a line break after text that has none: on a terminal as text for people,
    /// else as it is.
    func write(_ body: Data) {
        let shown = terminal.isTerminal ? String(decoding: body, as: UTF8.self).withoutControls : nil
        guard let text = shown ?? String(data: body, encoding: .utf8) else { return put(body, to: .standardOutput) }
        put(text.isEmpty || text.hasSuffix("\n") ? text : text + "\n", to: .standardOutput)
    }

    /// Prints a failure on standard error; with `--json`, as an object too, unless the command has printed one.
    func printFailure(_ failure: Failure) {
        printError(failure)
        guard !Self.hasPrintedObject.withLockedValue({ $0 }) else { return }
        let response = failure.response
        let object = ErrorObject(
            message: failure.message, status: failure.status.rawValue, httpStatus: response.status,
            code: response.code, requestId: response.requestID)
        // It consists of strings and numbers, which can always be encoded.
        try? printObject(["error": object])
    }

    /// Prints a failure on standard error, for a command that prints an object of its own.
    func printError(_ failure: Failure) {
        put("articles: \(failure.message)\n", to: .standardError)
    }

    private struct ErrorObject: Encodable {
        let message: String
        let status: Int32
        let httpStatus: Int?
        let code: String?
        let requestId: String?
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }

    private func put(_ text: String, to stream: FileHandle) {
        printed.withLockedValue { printed in
            printed += text
            guard printed.utf8.count > Self.longestTranscript else { return }
            printed = String(decoding: printed.utf8.suffix(Self.longestTranscript / 2), as: UTF8.self)
        }
        put(Data(text.utf8), to: stream)
    }

    private func put(_ data: Data, to stream: FileHandle) {
        // One lock for all consoles: a line is never in the middle of another.
        Self.state.withLockedValue { state in
            do {
                try stream.write(contentsOf: data)
            } catch {
                // The library keeps the system's error number in `errno` only.
                state = errno == EPIPE && state != .fails ? .hasNoReader : .fails
            }
        }
    }
}

extension String {
    /// Whether the text is of visible ASCII characters only, and has one.
    var isVisibleASCII: Bool { !isEmpty && utf8.allSatisfy { (0x21...0x7E).contains($0) } }

    /// The text on one line, without control characters.
    var onOneLine: String { String(map { $0.isControl ? " " : $0 }) }

    /// The text for people, with its line breaks and tabs. Other control characters are replaced: a server's text must
    /// not act on the terminal.
    var withoutControls: String {
        let scalars = replacing("\r\n", with: "\n").unicodeScalars
        let shown = scalars.map { $0 == "\n" || $0 == "\t" || !$0.isInvisibleControl ? $0 : "\u{FFFD}" }
        return String(String.UnicodeScalarView(shown))
    }
}

extension Date {
    /// How long ago it was, or how soon it is; beyond a month the day, in the user's zone.
    var inWords: String {
        let seconds = timeIntervalSinceNow
        guard abs(seconds) < 30 * 86_400 else { return formatted(date: .abbreviated, time: .omitted) }
        let size = Int(abs(seconds))
        let (length, unit) = size < 3_600 ? (60, "minute") : size < 86_400 ? (3_600, "hour") : (86_400, "day")
        let count = size / length
        guard count > 0 else { return "now" }
        let text = "\(count) \(unit)\(count == 1 ? "" : "s")"
        return seconds < 0 ? "\(text) ago" : "in \(text)"
    }
}

extension Character {
    /// Whether a terminal could act on the character instead of showing it: a line separator, or a control character.
    var isControl: Bool { isNewline || unicodeScalars.contains(where: \.isInvisibleControl) }
}
