/// A part of a list, and where the next part begins.
public struct Page<Item: Sendable>: Sendable {
    /// A place in a list of items. The type of the items is part of it: a cursor of another list does not compile.
    public struct Cursor: Sendable, Hashable, RawRepresentable, Codable, CustomStringConvertible {
        /// The cursor as the server wrote it. Its meaning is the server's business.
        public let rawValue: String

        /// Takes a cursor.
        ///
        /// - Parameter rawValue: The cursor as the server wrote it.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The cursor as the server wrote it.
        public var description: String { rawValue }
    }

    /// The items.
    public let items: [Item]

    /// Where the next page begins. `nil`: this was the last one.
    public let nextCursor: Cursor?

    /// Creates a page.
    ///
    /// - Parameters:
    ///   - items: The items.
    ///   - nextCursor: Where the next page begins.
    public init(items: [Item], nextCursor: Cursor? = nil) {
        self.items = items
        self.nextCursor = nextCursor
    }
}

extension Page: Equatable where Item: Equatable {}
extension Page: Hashable where Item: Hashable {}
extension Page: Decodable where Item: Decodable {}
