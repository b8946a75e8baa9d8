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
    public var path: String {
        parts.reduce(into: "") { text, part in
            switch part {
            case .index(let index): text += "[\(index)]"
            case .declared(let name), .received(let name): text += text.isEmpty ? name : ".\(name)"
            }
        }
    }

    /// The type that was expected, if the decoder names it.
    public let expected: String?

    /// The parts of the path: indices, names that a type declares, and names that come from the response.
    private enum Part: Hashable {
        case index(Int)
        case declared(String)
        case received(String)
    }

    private var parts: [Part]

    init(_ error: DecodingError) {
        let (kind, path, expected): (Kind, [any CodingKey], Any.Type?) =
            switch error {
            case .keyNotFound(let key, let context): (.keyNotFound, context.codingPath + [key], nil)
            case .valueNotFound(let type, let context): (.valueNotFound, context.codingPath, type)
            case .typeMismatch(let type, let context): (.typeMismatch, context.codingPath, type)
            case .dataCorrupted(let context): (.dataCorrupted, context.codingPath, nil)
            @unknown default: (.dataCorrupted, [], nil)
            }
        self.kind = kind
        self.expected = expected.map { "\($0)" }
        parts = path.map(Self.part)
    }

    /// The failure without secrets in its path: the keys of a dictionary are texts of the response.
    func redacted(by redaction: Redaction) -> DecodingFailure {
        var copy = self
        copy.parts = parts.map { part in
            guard case .received(let name) = part else { return part }
            return .received(redaction.responseText(name, limit: Self.maximumName))
        }
        return copy
    }

    /// The most bytes of a name that comes from the response.
    private static let maximumName = 256

    /// A case of an enumeration is written in the program. A dictionary makes its keys of what it reads.
    private static func part(_ key: any CodingKey) -> Part {
        if let index = key.intValue { return .index(index) }
        let mirror = Mirror(reflecting: key)
        let isDeclared = mirror.displayStyle == .enum && mirror.children.isEmpty
        return isDeclared ? .declared(key.stringValue) : .received(key.stringValue)
    }
}

extension DecodingFailure: CustomStringConvertible {
    /// One line: `typeMismatch at data.id, expected Int`.
    public var description: String {
        let position = path.isEmpty ? "the top level" : path
        return "\(kind.rawValue) at \(position)" + (expected.map { ", expected \($0)" } ?? "")
    }
}
