public import AuthInterface
import Foundation

/// The query of a request: names and values in the order in which they were added. Values that are `nil` are left out.
///
/// ```swift
/// ["cursor": cursor, "limit": 20]     // ?limit=20 on the first page
/// ```
public struct QueryItems: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    private(set) var items: [Item] = []

    struct Item: Sendable, Hashable {
        let name: String
        let value: String
    }

    /// Creates a query without items.
    public init() {}

    /// Creates a query from names and values.
    ///
    /// - Parameter elements: Names and values. A name may occur more than once.
    public init(dictionaryLiteral elements: (String, (any CustomStringConvertible)?)...) {
        for (name, value) in elements {
            append(name, value)
        }
    }

    /// Appends an item, unless its value is `nil`.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - value: The value. A date is written as ISO 8601, any other value as its description.
    public mutating func append(_ name: String, _ value: (any CustomStringConvertible)?) {
        guard let value else { return }
        let text = (value as? Date).map { ISO8601.string(from: $0) } ?? value.description
        items.append(Item(name: name, value: text))
    }

    /// Whether there are no items.
    public var isEmpty: Bool { items.isEmpty }

    /// The items as `name=value&…`, percent-encoded (RFC 3986 §3.4); also valid as
    /// `application/x-www-form-urlencoded`, where `%20` and `+` both mean a space.
    var percentEncoded: String {
        items
            .map { "\($0.name.percentEncodedComponent)=\($0.value.percentEncodedComponent)" }
            .joined(separator: "&")
    }
}

extension QueryItems: RedactedDescription {
    /// The items, without the values whose names denote a secret (G17).
    public var description: String {
        items.map { item in
            let isShown = Redaction.isHarmless(item.name)
            return "\(item.name)=\(isShown ? Redaction.standard.text(item.value) : Redaction.placeholder)"
        }
        .joined(separator: "&")
    }
}
