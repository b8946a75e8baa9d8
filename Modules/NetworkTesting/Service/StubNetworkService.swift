import Foundation
public import NetworkCore

/// A network service that answers what a test tells it to, without requests and without decoding.
///
/// ```swift
/// let network = StubNetworkService()
/// network.on(.article(7), return: .fixture(title: "Hello"))
/// let article = try await ArticleService(network: network).article(7)
/// ```
///
/// Each stub answers once, in order of their making. An endpoint is
/// recognised by its method, path and query, and by what its answer is read as.
public final class StubNetworkService: UnauthenticatedNetworkService, @unchecked Sendable {  // `lock` guards it
    private struct Entry {
        let key: Key
        let respond: @Sendable () async throws -> any Sendable
    }

    private struct Key: Hashable {
        let method: HTTPMethod
        let path: EndpointPath
        let query: QueryItems
        let response: ObjectIdentifier

        init<Response>(_ endpoint: Endpoint<Response>) {
            method = endpoint.method
            path = endpoint.path
            query = endpoint.query
            response = ObjectIdentifier(Response.self)
        }
    }

    private let lock = NSLock()
    private var entries: [Entry] = []
    private var sent: [any Sendable & CustomStringConvertible] = []

    /// Creates a service that knows no answer.
    public init() {}

    /// Answers an endpoint once with a value.
    ///
    /// - Parameters:
    ///   - endpoint: The call.
    ///   - value: The answer.
    public func on<Response>(_ endpoint: Endpoint<Response>, return value: Response) {
        on(endpoint) { value }
    }

    /// Fails an endpoint once.
    ///
    /// - Parameters:
    ///   - endpoint: The call.
    ///   - error: Why it fails.
    public func on<Response>(_ endpoint: Endpoint<Response>, throw error: any Error) {
        on(endpoint) { throw error }
    }

    /// Answers an endpoint once with what a closure works out: after waiting at a gate, for instance.
    ///
    /// - Parameters:
    ///   - endpoint: The call.
    ///   - respond: Works out the answer.
    public func on<Response>(
        _ endpoint: Endpoint<Response>,
        _ respond: @escaping @Sendable () async throws -> Response
    ) {
        lock.withLock { entries.append(Entry(key: Key(endpoint), respond: respond)) }
    }

    /// The endpoints that were sent so far and are read as a type, in order.
    ///
    /// - Parameter type: What their answers are read as.
    /// - Returns: The endpoints.
    public func sent<Response>(_ type: Response.Type = Response.self) -> [Endpoint<Response>] {
        lock.withLock { sent }.compactMap { $0 as? Endpoint<Response> }
    }

    /// Everything that was sent so far, as text: `["GET articles/7"]`.
    public var log: [String] { lock.withLock { sent }.map(\.description) }

    /// How many stubs nobody has asked for yet.
    public var leftoverCount: Int { lock.withLock { entries.count } }

    /// Answers from the stubs.
    ///
    /// - Parameters:
    ///   - endpoint: The call.
    ///   - progress: Hears that everything is sent.
    /// - Returns: The answer.
    /// - Throws: What the stub throws; ``NetworkError`` with code `unstubbed` when there is none; `CancellationError`
    ///   when the task is cancelled.
    public func send<Response>(
        _ endpoint: Endpoint<Response>,
        progress: ProgressHandler?
    ) async throws -> Response {
        try Task.checkCancellation()
        let key = Key(endpoint)
        let entry = lock.withLock {
            sent.append(endpoint)
            return entries.firstIndex { $0.key == key }.map { entries.remove(at: $0) }
        }
        guard let entry, let value = try await entry.respond() as? Response else {
            throw NetworkError(.unstubbed, reason: "no stub is left for \(endpoint) read as \(Response.self)")
        }
        progress?(TransferProgress(completed: 1, total: 1))
        return value
    }
}
