/// Why a response could not be decoded: the kind of mismatch and its position, never the value.
///
/// `DecodingError` is not kept, because its text quotes the body.
public struct DecodingFailure: Error, Sendable, Hashable {
    /// The kinds of mismatch.
    public enum Kind: String, Sendable {
        /// A key is missing.
        case keyNotFound
        /// A value is `null`.
        case valueNotFound
        /// A value has another type.
        case typeMismatch
        /// The body, or a value in it, is malformed.
        case dataCorrupted
    }

    /// The kind of mismatch.
    public let kind: Kind

    /// The position: `data.author.name`, with `[3]` for an element. Empty: the top level.
    public let path: String

    /// The type that was expected, if the decoder names it.
    public let expected: String?

    init(_ error: DecodingError) {
        switch error {
        case .keyNotFound(let key, let context):
            self.init(.keyNotFound, path: context.codingPath + [key], expected: nil)
        case .valueNotFound(let type, let context):
            self.init(.valueNotFound, path: context.codingPath, expected: "\(type)")
        case .typeMismatch(let type, let context):
            self.init(.typeMismatch, path: context.codingPath, expected: "\(type)")
        case .dataCorrupted(let context):
            self.init(.dataCorrupted, path: context.codingPath, expected: nil)
        @unknown default:
            self.init(.dataCorrupted, path: [], expected: nil)
        }
    }

    private init(_ kind: Kind, path: String, expected: String?) {
        (self.kind, self.path, self.expected) = (kind, path, expected)
    }

    /// The failure without secrets in its path: the keys of a dictionary are the server's.
    func redacted(by redaction: Redaction) -> DecodingFailure {
        DecodingFailure(kind, path: path.redacted(by: redaction), expected: expected)
    }

    private init(_ kind: Kind, path: [any CodingKey], expected: String?) {
        self.kind = kind
        self.expected = expected
        self.path = path.reduce(into: "") { text, key in
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
    }
}

extension DecodingFailure: CustomStringConvertible {
    /// One line: `typeMismatch at data.id, expected Int`.
    public var description: String {
        let position = path.isEmpty ? "the top level" : path
        return "\(kind.rawValue) at \(position)" + (expected.map { ", expected \($0)" } ?? "")
    }
}
