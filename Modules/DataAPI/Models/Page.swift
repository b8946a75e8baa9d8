import NetworkCore

/// A part of a list, and the cursor of the next part.
public struct Page<Item: Sendable>: Sendable {
    /// A position in a list. The type of the items is part of it: the cursor of another list is not accepted.
    public struct Cursor: Sendable, Hashable, RawRepresentable, Codable, CustomStringConvertible {
        /// The cursor as the server wrote it. Only the server interprets it.
        public let rawValue: String

        /// Creates a cursor.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Reads a string or a whole number: `42` is the cursor `42`.
        ///
        /// - Throws: `DecodingError` for an empty string and for every other value.
        public init(from decoder: any Decoder) throws {
            rawValue = try JSONValue.identifier(from: decoder)
        }

        /// The cursor as the server wrote it.
        public var description: String { rawValue }
    }

    /// The items.
    public let items: [Item]

    /// The start of the next page; `nil` after the last page.
    public let nextCursor: Cursor?

    /// Creates a page.
    public init(items: [Item], nextCursor: Cursor? = nil) {
        self.items = items
        self.nextCursor = nextCursor
    }
}

extension Page: Equatable where Item: Equatable {}
extension Page: Hashable where Item: Hashable {}

extension Page: Decodable where Item: Decodable {
    private enum CodingKeys: String, CodingKey { case items, nextCursor }

    /// Reads an object with `items` and `nextCursor`, or an array: a list that has one page. No cursor, `null`, `false`
    /// and an empty one mean the last page.
    ///
    /// - Throws: `DecodingError` when an item cannot be read.
    public init(from decoder: any Decoder) throws {
        if (try? decoder.unkeyedContainer()) != nil {
            self.init(items: try decoder.singleValueContainer().decode([Item].self))
        } else {
            let object = try decoder.container(keyedBy: CodingKeys.self)
            let next = try object.decodeIfPresent(JSONValue.self, forKey: .nextCursor)
            let isLast = [nil, .flag(false), .text("")].contains(next)
            let cursor = isLast ? nil : try object.decode(Cursor.self, forKey: .nextCursor)
            self.init(items: try object.decode([Item].self, forKey: .items), nextCursor: cursor)
        }
    }
}
