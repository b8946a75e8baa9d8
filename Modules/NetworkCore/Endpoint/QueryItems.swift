public import AuthInterface
import Foundation

/// The query of a request: names and values in the order in which they were added. Values that are `nil` are left out.
///
/// ```swift
/// ["cursor": cursor, "limit": 20]     // ?limit=20 on the first page
/// ["tag": ["tea", "milk"]]            // ?tag=tea&tag=milk
/// ```
///
/// A date is written as ISO 8601 in UTC, another value as its description. An array or a set is one item for each
/// element that is not `nil`, a set in the order of its texts; ``append(_:_:separatedBy:)`` writes it as one item.
public struct QueryItems: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    private(set) var items: [Item] = []

    struct Item: Sendable, Hashable {
        let name: String
        let value: String
    }

    /// Creates a query without items.
    public init() {}

    /// Creates a query from names and values.
    public init(dictionaryLiteral elements: (String, (any CustomStringConvertible)?)...) {
        for (name, value) in elements { append(name, value) }
    }

    /// Appends an item, unless its value is `nil`.
    public mutating func append(_ name: String, _ value: (any CustomStringConvertible)?) {
        guard let value else { return }
        for text in Self.texts(of: value) { items.append(Item(name: name, value: text)) }
    }

    /// Appends the elements of a list as one item: `?id=7,8`. The separator is percent-encoded too. Without values,
    /// nothing is appended.
    public mutating func append(_ name: String, _ values: [any CustomStringConvertible], separatedBy separator: String)
    {
        let texts = values.flatMap(Self.texts)
        if !texts.isEmpty { items.append(Item(name: name, value: texts.joined(separator: separator))) }
    }

    package mutating func append(contentsOf other: QueryItems) { items += other.items }

    package var names: [String] { items.map(\.name) }

    /// The items without those of some names.
    package func without(_ names: [String]) -> QueryItems {
        var rest = self
        rest.items.removeAll { names.contains($0.name) }
        return rest
    }

    private static func texts(of value: any CustomStringConvertible) -> [String] {
        if let date = value as? Date { return [ISO8601.string(from: date)] }
        let mirror = Mirror(reflecting: value)
        guard let style = mirror.displayStyle, [.collection, .set].contains(style) else { return [value.description] }
        let texts = mirror.children.compactMap { $0.value as? any CustomStringConvertible }.flatMap(Self.texts)
        return style == .set ? texts.sorted() : texts
    }

    /// Whether there are no items.
    public var isEmpty: Bool { items.isEmpty }

    /// The items as `name=value&…`, percent-encoded (RFC 3986 §3.4); also valid as
    /// `application/x-www-form-urlencoded`, where `%20` and `+` both mean a space.
    package var percentEncoded: String {
        items
            .map { "\($0.name.percentEncodedComponent)=\($0.value.percentEncodedComponent)" }
            .joined(separator: "&")
    }
}

extension QueryItems: RedactedDescription {
    /// The items, without the values whose names denote a secret (G17).
    public var description: String {
        items.map { item in
            let isShown = Redaction.isHarmless(item.name, item.value)
            return "\(item.name)=\(isShown ? Redaction.standard.text(item.value) : Redaction.placeholder)"
        }
        .joined(separator: "&")
    }
}
