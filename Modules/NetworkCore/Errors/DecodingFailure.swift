/// What was wrong with an answer that could not be read: the kind of mismatch and where it is, never what was there.
///
/// `DecodingError` is not kept, because its text quotes the body.
public struct DecodingFailure: Error, Sendable, Hashable {
    /// The kinds of mismatch.
    public enum Kind: String, Sendable {
        /// A member is absent.
        case keyNotFound
        /// A member is `null`.
        case valueNotFound
        /// A member is of another type.
        case typeMismatch
        /// The body, or a member, is malformed.
        case dataCorrupted
    }

    /// The kind of mismatch.
    public let kind: Kind

    /// Where it is: `data.author.name`, with `[3]` for an element. Empty: at the top.
    public let path: String

    /// The type that was expected, where the decoder says.
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
        let place = path.isEmpty ? "the top" : path
        return "\(kind.rawValue) at \(place)" + (expected.map { ", expected \($0)" } ?? "")
    }
}
