public import Foundation
public import NetworkCore

/// The items of a list that a server sends in pages. A page is fetched when its first item is read.
///
/// ```swift
/// let articles = PagedSequence { cursor in
///     let page = try await network.send(.articles(after: cursor))
///     return (page.items, next: page.nextCursor)
/// }
/// for try await article in articles { … }
/// ```
///
/// Each iteration starts with the first page.
public struct PagedSequence<Item: Sendable, Cursor: Hashable & Sendable>: AsyncSequence, Sendable {
    /// Fetches the page at a cursor; `nil` is the first page. It returns the items, and the cursor of the next page;
    /// `nil` after the last one.
    public typealias Fetch = @Sendable (Cursor?) async throws -> (items: [Item], next: Cursor?)

    /// The default of the most pages of one iteration.
    @usableFromInline static var defaultMaximumPages: Int { 100_000 }

    private let maximumPages: Int
    private let makeFetch: @Sendable () -> Fetch

    /// Creates a list. One page more than the maximum of an iteration is an error.
    public init(maximumPages: Int = Self.defaultMaximumPages, fetch: @escaping Fetch) {
        self.init(maximumPages: maximumPages) { fetch }
    }

    /// Creates a list whose iterations each have a fetch of their own.
    init(maximumPages: Int, makeFetch: @escaping @Sendable () -> Fetch) {
        self.maximumPages = maximumPages
        self.makeFetch = makeFetch
    }

    /// Starts an iteration. It fetches no page.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(fetch: makeFetch(), maximumPages: maximumPages) }

    /// Iterates over the items.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private enum Position {
            case start
            case next(Cursor)
            case end
        }

        private let fetch: Fetch
        private let maximumPages: Int
        private var items: ArraySlice<Item> = []
        private var position = Position.start
        private var seen: Set<Cursor> = []

        fileprivate init(fetch: @escaping Fetch, maximumPages: Int) {
            self.fetch = fetch
            self.maximumPages = maximumPages
        }

        /// Returns the next item, and fetches the next page first if it must. After an error, the next call fetches the
        /// same page again.
        ///
        /// - Returns: The item, or `nil` at the end of the list.
        /// - Throws: The errors of the fetch; `NetworkError` with code `decodingFailed` when the next page has been
        ///   fetched before, or there are more pages than the limit, after the items of the pages before it.
        public mutating func next() async throws -> Item? {
            while items.isEmpty {
                let cursor: Cursor?
                switch position {
                case .start: cursor = nil
                // `seen` has the pages after the first.
                case .next(let next) where seen.contains(next):
                    throw NetworkError(.decodingFailed, reason: "the pages form a loop")
                case .next where seen.count + 1 >= maximumPages:
                    throw NetworkError(.decodingFailed, reason: "there are more than \(maximumPages) pages")
                case .next(let next): cursor = next
                case .end: return nil
                }
                let page = try await fetch(cursor)
                if let cursor { seen.insert(cursor) }
                items = page.items[...]
                position = page.next.map(Position.next) ?? .end
            }
            return items.popFirst()
        }
    }
}

extension NetworkService {
    /// Reads a list whose responses name the next page in a `Link` field of relation `next` (RFC 8288).
    ///
    /// All pages are of the origin that was requested first, also where a page is redirected to another one, and of the
    /// session of the first page (G23). One page more than the maximum of an iteration is an error.
    ///
    /// - Returns: The items. Reading them throws `NetworkError`, with code `redirectRefused` when the next page is of
    ///   another origin.
    public func pages<Item>(
        _ endpoint: Endpoint<[Item]>, maximumPages: Int = PagedSequence<Item, URL>.defaultMaximumPages,
        options: RequestOptions = RequestOptions()
    ) -> PagedSequence<Item, URL> {
        PagedSequence(maximumPages: maximumPages) { () -> PagedSequence<Item, URL>.Fetch in
            var options = options
            options.continuity = options.continuity ?? SessionContinuity()
            return { [options] url in
                var (endpoint, options) = (endpoint, options)
                if let url { (endpoint.path, endpoint.query) = (.url(url, hiding: endpoint.path.secrets), [:]) }
                let sent = SentHead()
                options.interceptors.append(sent)
                let page = try await response(to: endpoint, options: options)
                return (page.value, next: try page.head.nextPage(after: sent.head?.url ?? url ?? page.head.url))
            }
        }
    }
}

extension HTTPResponseHead {
    /// The URL of the next page.
    ///
    /// The origin of the response does not count: a redirect may have led to it without the fields of the endpoint.
    ///
    /// - Returns: The URL. `nil`: this is the last page.
    /// - Throws: `NetworkError` with code `redirectRefused`: fields of the endpoint must not reach another origin; with
    ///   `decodingFailed` where there may be a link that cannot be read.
    fileprivate func nextPage(after requested: URL?) throws -> URL? {
        guard let next = link("next") else {
            guard !mayHaveUnread("next") else {
                throw NetworkError(.decodingFailed, reason: "the link to the next page cannot be read", response: self)
            }
            return nil
        }
        let (own, origin) = (requested.flatMap { Origin($0) }, Origin(next))
        guard own != nil, own == origin else {
            let reason = "the next page is of another origin\(origin?.hint(to: own) ?? "")"
            throw NetworkError(.redirectRefused, reason: reason, response: self)
        }
        return next
    }
}
