import NetworkCore

/// The items of a list that comes in pages, fetched as they are needed.
///
/// It can be read more than once; each reading starts with the first page.
public struct PagedSequence<Item: Sendable>: AsyncSequence, Sendable {
    /// An item.
    public typealias Element = Item

    /// Fetches the page that begins at a cursor.
    public typealias Fetch = @Sendable (Page<Item>.Cursor?) async throws -> Page<Item>

    private let fetch: Fetch

    /// Creates a list.
    ///
    /// - Parameter fetch: Fetches the page that begins at a cursor; `nil` is the first one.
    public init(fetch: @escaping Fetch) {
        self.fetch = fetch
    }

    /// Starts with the first page.
    ///
    /// - Returns: The iterator. It has fetched nothing yet.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(fetch: fetch) }

    /// Goes through the items.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private enum Position {
            case start
            case next(Page<Item>.Cursor)
            case end
        }

        private let fetch: Fetch
        private var items: ArraySlice<Item> = []
        private var position = Position.start

        fileprivate init(fetch: @escaping Fetch) {
            self.fetch = fetch
        }

        /// The next item, of the next page where the last one is read to its end.
        ///
        /// After an error the same page can be asked for again.
        ///
        /// - Returns: The item, or `nil` at the end of the list.
        /// - Throws: What fetching a page throws; `NetworkError` with code `decodingFailed` when the server names the
        ///   page it has just sent as the next one, which would never end.
        public mutating func next() async throws -> Item? {
            while items.isEmpty {
                let cursor: Page<Item>.Cursor?
                switch position {
                case .start: cursor = nil
                case .next(let next): cursor = next
                case .end: return nil
                }
                let page = try await fetch(cursor)
                if let next = page.nextCursor, next == cursor {
                    throw NetworkError(.decodingFailed, reason: "the list's next page is the one just read")
                }
                items = page.items[...]
                position = page.nextCursor.map(Position.next) ?? .end
            }
            return items.popFirst()
        }
    }
}
