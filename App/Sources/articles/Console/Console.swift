import Foundation

/// Everything the program says goes through here, and is remembered, so that it can be searched for secrets.
///
/// With `--json`, standard output is for one object and what is meant for people is left out.
final class Console: Sendable {
    let terminal: Terminal
    private let isJSON: Bool
    private let said = Guarded("")

    init(isJSON: Bool, terminal: Terminal = .current()) {
        self.isJSON = isJSON
        self.terminal = terminal
    }

    /// All that was said so far, on both streams.
    var transcript: String { said.withLock { $0 } }

    /// Says a line to people.
    func say(_ line: String = "") {
        guard !isJSON else { return }
        write(line)
    }

    /// Draws a line again, where that is possible. ``say(_:)`` goes on below it once it `isLast`.
    func redraw(_ line: String, isLast: Bool) {
        guard !isJSON, terminal.isInteractive else { return }
        put("\r\u{1B}[K\(line)\(isLast ? "\n" : "")", to: .standardOutput)
    }

    /// Prints a value as one JSON object, if that was asked for.
    ///
    /// - Throws: `EncodingError`.
    func object(_ value: some Encodable) throws {
        guard isJSON else { return }
        write(String(decoding: try Self.encoder.encode(value), as: UTF8.self))
    }

    /// Prints a line whatever was asked for: help, or the program's version.
    func write(_ line: String) {
        put(line + "\n", to: .standardOutput)
    }

    /// Says in one line what went wrong; with `--json`, in an object too.
    func fail(_ failure: Failure) {
        complain(failure)
        // An error object is texts and numbers, which can always be encoded.
        try? object(["error": ErrorObject(failure)])
    }

    /// Says in one line what went wrong, for a command that prints an object of its own.
    func complain(_ failure: Failure) {
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
        said.withLock { said in
            said += text
            // Nobody is left to tell when the reader has gone.
            try? stream.write(contentsOf: Data(text.utf8))
        }
    }
}
