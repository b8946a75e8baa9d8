import NetworkCore

/// The items of a paged list. A page is fetched when its first item is read.
///
/// Each iteration starts with the first page.
public struct PagedSequence<Item: Sendable>: AsyncSequence, Sendable {
    /// An item.
    public typealias Element = Item

    /// Fetches the page that starts at a cursor; `nil` is the first page.
    public typealias Fetch = @Sendable (Page<Item>.Cursor?) async throws -> Page<Item>

    private let fetch: Fetch

    /// Creates a list.
    ///
    /// - Parameter fetch: Fetches a page.
    public init(fetch: @escaping Fetch) {
        self.fetch = fetch
    }

    /// Starts an iteration. It fetches no page.
    ///
    /// - Returns: The iterator.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(fetch: fetch) }

    /// Iterates over the items.
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

        /// Returns the next item, and fetches the next page first if it must. After an error, the next call fetches the
        /// same page again.
        ///
        /// - Returns: The item, or `nil` at the end of the list.
        /// - Throws: The errors of the fetch; `NetworkError` with code `decodingFailed` when a page names itself as the
        ///   next one.
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
                    throw NetworkError(.decodingFailed, reason: "the page names itself as the next page")
                }
                items = page.items[...]
                position = page.nextCursor.map(Position.next) ?? .end
            }
            return items.popFirst()
        }
    }
}
