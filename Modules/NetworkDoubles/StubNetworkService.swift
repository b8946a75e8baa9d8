import ConcurrencyPrimitives
public import NetworkCore

/// A network service that returns the values of stubs, without requests and without decoding.
///
/// ```swift
/// let network = StubNetworkService { XCTFail("\($0)", file: $0.file, line: $0.line) }
/// network.on(.article(7), return: .fixture(title: "Hello"))
/// let article = try await ArticleService(network: network).article(7)
/// ```
///
/// Each stub serves one call, in order. A stub matches an endpoint by its method, path, query and response type.
///
/// Two things are issues. A stub that is left is one when the service is deallocated, or when ``recordLeftovers()`` is
/// called. An unexpected call is one at the stub that comes closest, which has the same path; without one, at the test.
/// (A call does not say where it was made: `send` is a requirement of `NetworkService`.)
public final class StubNetworkService: UnauthenticatedNetworkService {
    private struct Entry {
        let key: Key
        let name: String
        let place: StubPlace
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
    private let place: StubPlace
    private let onIssue: StubIssue.Handler

    /// Creates a service without stubs.
    public init(file: StaticString = #filePath, line: UInt = #line, onIssue: @escaping StubIssue.Handler) {
        place = StubPlace(file: file, line: line)
        self.onIssue = onIssue
    }

    deinit { recordLeftovers() }

    /// Reports an issue for each stub that is left, and removes it. A test calls it at its end if the service may
    /// outlive it.
    public func recordLeftovers() {
        let leftovers = state.withLock { state in
            defer { state.entries = [] }
            return state.entries
        }
        for entry in leftovers {
            onIssue(StubIssue("no call used this stub: \(entry.name)", at: entry.place))
        }
    }

    /// Adds a stub that returns a value.
    public func on<Response>(
        _ endpoint: Endpoint<Response>,
        return value: Response,
        file: StaticString = #filePath,
        line: UInt = #line
    ) {
        on(endpoint, file: file, line: line) { value }
    }

    /// Adds a stub that throws an error.
    public func on<Response>(
        _ endpoint: Endpoint<Response>,
        throw error: any Error,
        file: StaticString = #filePath,
        line: UInt = #line
    ) {
        on(endpoint, file: file, line: line) { throw error }
    }

    /// Adds a stub that runs a closure, which may wait at a gate, for instance.
    public func on<Response>(
        _ endpoint: Endpoint<Response>,
        file: StaticString = #filePath,
        line: UInt = #line,
        _ respond: @escaping @Sendable () async throws -> Response
    ) {
        let name = "\(endpoint) as \(Response.self)"
        let entry = Entry(
            key: Key(endpoint, as: Response.self), name: name, place: StubPlace(file: file, line: line),
            respond: respond)
        state.withLock { $0.entries.append(entry) }
    }

    /// Adds a stub for a call whose response is streamed.
    public func on<Response>(
        _ endpoint: Endpoint<Response>,
        stream response: HTTPTransportResponse,
        file: StaticString = #filePath,
        line: UInt = #line
    ) {
        let key = Key(endpoint, as: HTTPTransportResponse.self)
        let place = StubPlace(file: file, line: line)
        let entry = Entry(key: key, name: "\(endpoint) as a stream", place: place) { response }
        state.withLock { $0.entries.append(entry) }
    }

    /// The endpoints of one response type that were sent so far, in order.
    public func sent<Response>(_ type: Response.Type = Response.self) -> [Endpoint<Response>] {
        state.withLock { $0.sent }.compactMap { $0 as? Endpoint<Response> }
    }

    /// The endpoints that were sent so far, as text: `["GET articles/7"]`.
    public var log: [String] { state.withLock { $0.sent }.map(\.description) }

    /// How many stubs no call has used yet.
    package var leftoverCount: Int { state.withLock { $0.entries.count } }

    /// Removes all stubs, so that those that are left are no issues.
    public func removeStubs() { state.withLock { $0.entries = [] } }

    /// Responds with the first stub that matches. The progress handler is called once, with everything sent.
    ///
    /// - Throws: The error of the stub; `NetworkError` with code `unstubbed` when no stub matches;
    ///   `CancellationError` when the task is cancelled.
    public func send<Response>(_ endpoint: Endpoint<Response>, options: RequestOptions) async throws -> Response {
        try await respond(to: endpoint, as: Response.self, options)
    }

    /// Responds with the first streamed stub that matches. The progress handler is called once, with everything sent.
    ///
    /// - Throws: As ``send(_:options:)``.
    public func stream<Response>(
        _ endpoint: Endpoint<Response>, options: RequestOptions
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
            let closest = remaining.first { $0.key.path == endpoint.path }?.place
            onIssue(StubIssue(reason, at: closest ?? place, belongsToTest: closest == nil))
            throw NetworkError(.unstubbed, reason: reason)
        }
        guard let value = try await entry.respond() as? Value else {
            throw NetworkError(.unstubbed, reason: "the stub of \(endpoint) returned another type")
        }
        options.progress?(TransferProgress(completed: 1, total: 1))
        return value
    }
}
