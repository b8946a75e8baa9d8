import ConcurrencyPrimitives
public import NetworkCore
public import Testing

/// A network service that returns the values of stubs, without requests and without decoding.
///
/// ```swift
/// let network = StubNetworkService()
/// network.on(.article(7), return: .fixture(title: "Hello"))
/// let article = try await ArticleService(network: network).article(7)
/// ```
///
/// Each stub serves one call, in order. A stub matches an endpoint by its method, path, query and response type.
///
/// Two things are recorded as issues of the test. A stub that is left is recorded where it was added: when the service
/// is deallocated, or when a test with the trait `.stubs(…)` ends, even if a task still holds the service. An unexpected
/// call is recorded at the stub that comes closest, which has the same path; without one, at the test. (A call does not
/// say where it was made: `send` is a requirement of `NetworkService`.)
public final class StubNetworkService: UnauthenticatedNetworkService, StubHolder {
    private struct Entry {
        let key: Key
        let name: String
        let sourceLocation: SourceLocation
        let respond: @Sendable () async throws -> any Sendable
    }

    private struct Key: Hashable {
        let method: HTTPMethod
        let path: EndpointPath
        let query: QueryItems
        let response: ObjectIdentifier

        init<Response, Value>(_ endpoint: Endpoint<Response>, as type: Value.Type) {
            method = endpoint.method
            path = endpoint.path
            query = endpoint.query
            response = ObjectIdentifier(type)
        }
    }

    private struct State {
        var entries: [Entry] = []
        var sent: [any Sendable & CustomStringConvertible] = []
    }

    private let state = Locked(State())
    private let sourceLocation: SourceLocation

    /// Creates a service without stubs.
    ///
    /// - Parameter sourceLocation: Where unexpected calls are recorded that no stub comes close to, and that no test
    ///   makes: a task that is detached belongs to none.
    public init(sourceLocation: SourceLocation = #_sourceLocation) {
        self.sourceLocation = sourceLocation
        StubScope.current?.add(self)
    }

    deinit { recordLeftovers() }

    /// Records an issue for each stub that is left, and removes it. A test calls it at its end if the service may outlive
    /// it and the test has no trait `.stubs(…)`.
    public func recordLeftovers() {
        let leftovers = state.withLock { state in
            defer { state.entries = [] }
            return state.entries
        }
        for entry in leftovers {
            Issue.record("no call used this stub: \(entry.name)", sourceLocation: entry.sourceLocation)
        }
    }

    /// Adds a stub that returns a value.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint to expect.
    ///   - value: The value.
    ///   - sourceLocation: Where issues about the stub are recorded.
    public func on<Response>(
        _ endpoint: Endpoint<Response>,
        return value: Response,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        on(endpoint, sourceLocation: sourceLocation) { value }
    }

    /// Adds a stub that throws an error.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint to expect.
    ///   - error: The error.
    ///   - sourceLocation: Where issues about the stub are recorded.
    public func on<Response>(
        _ endpoint: Endpoint<Response>,
        throw error: any Error,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        on(endpoint, sourceLocation: sourceLocation) { throw error }
    }

    /// Adds a stub that runs a closure, which may wait at a gate, for instance.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint to expect.
    ///   - sourceLocation: Where issues about the stub are recorded.
    ///   - respond: Returns the value.
    public func on<Response>(
        _ endpoint: Endpoint<Response>,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ respond: @escaping @Sendable () async throws -> Response
    ) {
        let name = "\(endpoint) as \(Response.self)"
        let entry = Entry(
            key: Key(endpoint, as: Response.self), name: name, sourceLocation: sourceLocation, respond: respond)
        state.withLock { $0.entries.append(entry) }
    }

    /// Adds a stub for a call whose response is streamed.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint.
    ///   - response: The head and the body.
    ///   - sourceLocation: Where issues about the stub are recorded.
    public func on<Response>(
        _ endpoint: Endpoint<Response>,
        stream response: HTTPTransportResponse,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let key = Key(endpoint, as: HTTPTransportResponse.self)
        let entry = Entry(key: key, name: "\(endpoint) as a stream", sourceLocation: sourceLocation) { response }
        state.withLock { $0.entries.append(entry) }
    }

    /// The endpoints of one response type that were sent so far, in order.
    ///
    /// - Parameter type: The response type.
    /// - Returns: The endpoints.
    public func sent<Response>(_ type: Response.Type = Response.self) -> [Endpoint<Response>] {
        state.withLock { $0.sent }.compactMap { $0 as? Endpoint<Response> }
    }

    /// The endpoints that were sent so far, as text: `["GET articles/7"]`.
    public var log: [String] { state.withLock { $0.sent }.map(\.description) }

    /// How many stubs no call has used yet.
    public var leftoverCount: Int { state.withLock { $0.entries.count } }

    /// Removes all stubs, so that those that are left are not recorded as issues.
    public func removeStubs() {
        state.withLock { $0.entries = [] }
    }

    /// Responds with the first stub that matches.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint.
    ///   - options: The options; their progress handler is called once, with everything sent.
    /// - Returns: The value of the stub.
    /// - Throws: The error of the stub; `NetworkError` with code `unstubbed` when no stub matches;
    ///   `CancellationError` when the task is cancelled.
    public func send<Response>(
        _ endpoint: Endpoint<Response>,
        options: RequestOptions
    ) async throws -> Response {
        try await respond(to: endpoint, as: Response.self, options)
    }

    /// Responds with the first streamed stub that matches.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint.
    ///   - options: The options; their progress handler is called once, with everything sent.
    /// - Returns: The response of the stub.
    /// - Throws: As ``send(_:options:)``.
    public func stream<Response>(
        _ endpoint: Endpoint<Response>,
        options: RequestOptions
    ) async throws -> HTTPTransportResponse {
        try await respond(to: endpoint, as: HTTPTransportResponse.self, options)
    }

    private func respond<Response, Value>(
        to endpoint: Endpoint<Response>,
        as type: Value.Type,
        _ options: RequestOptions
    ) async throws -> Value {
        try Task.checkCancellation()
        let key = Key(endpoint, as: type)
        let (entry, remaining) = state.withLock { state -> (Entry?, [Entry]) in
            state.sent.append(endpoint)
            let entry = state.entries.firstIndex { $0.key == key }.map { state.entries.remove(at: $0) }
            return (entry, state.entries)
        }
        guard let entry else {
            let list = remaining.isEmpty ? "none" : remaining.map(\.name).joined(separator: ", ")
            let reason = "unexpected call \(endpoint) as \(type); remaining stubs: \(list)"
            let closest = remaining.first { $0.key.path == endpoint.path }?.sourceLocation
            Issue.record(
                "\(reason)", sourceLocation: closest ?? Test.current?.sourceLocation ?? sourceLocation)
            throw NetworkError(.unstubbed, reason: reason)
        }
        guard let value = try await entry.respond() as? Value else {
            throw NetworkError(.unstubbed, reason: "the stub of \(endpoint) returned another type")
        }
        options.progress?(TransferProgress(completed: 1, total: 1))
        return value
    }
}
