import Foundation
import NIOConcurrencyHelpers

/// Prints all output of the program, and keeps a transcript that can be searched for secrets.
///
/// With `--json`, standard output is one object, and text for people is left out.
final class Console: Sendable {
    let terminal: Terminal
    private let isJSON: Bool
    private let printed = NIOLockedValueBox("")

    init(isJSON: Bool, terminal: Terminal = .current()) {
        self.isJSON = isJSON
        self.terminal = terminal
    }

    /// Whether output of this process could not be written, for the exit status: a full disk must not look like success.
    static var outputHasFailed: Bool { failure.withLockedValue { $0 } }

    private static let failure = NIOLockedValueBox(false)

    /// The output so far, of both streams.
    var transcript: String { printed.withLockedValue { $0 } }

    /// Prints a line for people.
    func print(_ line: String = "") {
        guard !isJSON else { return }
        write(line)
    }

    /// Prints a remark for people on standard error, so that it is no part of the output.
    func note(_ line: String) {
        guard !isJSON else { return }
        put("\(line)\n", to: .standardError)
    }

    /// Draws a line again, on an interactive terminal. ``print(_:)`` continues below the last drawing.
    func redraw(_ line: String, isLast: Bool) {
        guard !isJSON, terminal.isInteractive else { return }
        put("\r\u{1B}[K\(line)\(isLast ? "\n" : "")", to: .standardOutput)
    }

    /// Prints a value as one JSON object, with `--json`.
    ///
    /// - Throws: `EncodingError`.
    func printObject(_ value: some Encodable) throws {
        guard isJSON else { return }
        write(String(decoding: try Self.encoder.encode(value), as: UTF8.self))
    }

    /// Prints a line, with and without `--json`: help, or the program's version.
    func write(_ line: String) {
        put(line + "\n", to: .standardOutput)
    }

    /// Prints a failure on standard error; with `--json`, as an object too.
    func printFailure(_ failure: Failure) {
        printError(failure)
        // An error object consists of strings and numbers, which can always be encoded.
        try? printObject(["error": ErrorObject(failure)])
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

        init(_ failure: Failure) {
            message = failure.message
            status = failure.status.rawValue
            httpStatus = failure.response.status
            code = failure.response.code
            requestId = failure.response.requestID
        }
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
            do {
                try stream.write(contentsOf: Data(text.utf8))
            } catch {
                Self.failure.withLockedValue { $0 = true }
            }
        }
    }
}
