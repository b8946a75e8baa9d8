import ConcurrencyPrimitives
import Foundation
public import NetworkCore

/// A network service that returns the values of stubs, without requests and without decoding.
///
/// ```swift
/// let network = StubNetworkService { XCTFail("\($0)", file: $0.file, line: $0.line) }
/// network.on(.article(7), return: .fixture(title: "Hello"))
/// let article = try await ArticleService(network: network).article(7)
/// ```
///
/// Each stub serves one call, in order. A stub matches an endpoint by its method, path, query and response type. It
/// serves `send(_:)` and `response(to:)`; the pages of a list have a stub each.
///
/// Two things are issues. A stub that is left is one when the service is deallocated, or when ``recordLeftovers()`` is
/// called. An unexpected call is one at the stub that comes closest, which has the same path; without one, at the test.
/// (A call does not say where it was made: `send` is a requirement of `NetworkService`.)
public final class StubNetworkService: UnauthenticatedNetworkService {
    private struct Entry {
        let key: Key
        /// The type of the value, and that of the value with its head, if there is one.
        let types: [ObjectIdentifier]
        let name: String
        let place: StubPlace
        let respond: @Sendable (_ isWithHead: Bool) async throws -> any Sendable
    }

    private struct Key: Hashable {
        let method: HTTPMethod
        let path: EndpointPath
        let query: QueryItems

        init<Response>(_ endpoint: Endpoint<Response>) {
            method = endpoint.method
            path = endpoint.path
            query = endpoint.query
        }
    }

    private struct State {
        var entries: [Entry] = []
        var calls: [any Sendable & CustomStringConvertible] = []
        var lists = 0
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

    /// Adds a stub that returns a value. The fields are those of the head that `response(to:)` returns beside it.
    public func on<Response>(
        _ endpoint: Endpoint<Response>, return value: Response, headers: HTTPHeaders = [:],
        file: StaticString = #filePath, line: UInt = #line
    ) { on(endpoint, headers: headers, file: file, line: line) { value } }

    /// Adds a stub that throws an error.
    public func on<Response>(
        _ endpoint: Endpoint<Response>, throw error: any Error, file: StaticString = #filePath, line: UInt = #line
    ) { on(endpoint, file: file, line: line) { throw error } }

    /// Adds a stub for each page of a list that `pages(_:)` of `NetworkTransfers` reads.
    public func on<Item>(
        _ endpoint: Endpoint<[Item]>, pages: [[Item]], file: StaticString = #filePath, line: UInt = #line
    ) {
        let list = state.withLock { state in
            state.lists += 1
            return state.lists
        }
        var endpoint = endpoint
        for (index, items) in pages.enumerated() {
            let next = "\(Self.origin)/lists/\(list)?page=\(index + 2)"
            let isLast = index == pages.count - 1
            on(endpoint, return: items, headers: isLast ? [:] : ["Link": "<\(next)>; rel=next"], file: file, line: line)
            guard let url = URL(string: next) else { continue }
            endpoint.path = .url(url, hiding: endpoint.path.secrets)
            endpoint.query = [:]
        }
    }

    /// Adds a stub that runs a closure, which may wait at a gate, for instance.
    public func on<Response>(
        _ endpoint: Endpoint<Response>, headers: HTTPHeaders = [:],
        file: StaticString = #filePath, line: UInt = #line, _ respond: @escaping @Sendable () async throws -> Response
    ) {
        let head = HTTPResponseHead(status: 200, headers: headers, url: URL(string: Self.origin))
        let types = [ObjectIdentifier(Response.self), ObjectIdentifier(ResponseValue<Response>.self)]
        add(endpoint, types, name: "\(Response.self)", StubPlace(file: file, line: line)) { isWithHead in
            let value = try await respond()
            guard isWithHead else { return value }
            return ResponseValue(value: value, head: head)
        }
    }

    /// Adds a stub for a call whose response is streamed.
    public func on<Response>(
        _ endpoint: Endpoint<Response>, stream response: HTTPTransportResponse,
        file: StaticString = #filePath, line: UInt = #line
    ) {
        let types = [ObjectIdentifier(HTTPTransportResponse.self)]
        add(endpoint, types, name: "a stream", StubPlace(file: file, line: line)) { _ in response }
    }

    /// Where the responses are from. No request is sent there: the name is reserved (RFC 2606).
    private static let origin = "https://stub.invalid"

    private func add<Response>(
        _ endpoint: Endpoint<Response>, _ types: [ObjectIdentifier], name: String, _ place: StubPlace,
        _ respond: @escaping @Sendable (Bool) async throws -> any Sendable
    ) {
        let entry = Entry(
            key: Key(endpoint), types: types, name: "\(endpoint) as \(name)", place: place, respond: respond)
        state.withLock { $0.entries.append(entry) }
    }

    /// The endpoints that were called so far, in order, as text: `["GET articles/7"]`.
    public var calls: [String] { state.withLock { $0.calls }.map(\.description) }

    /// The endpoints of one response type that were called so far, in order.
    public func calls<Response>(returning type: Response.Type) -> [Endpoint<Response>] {
        state.withLock { $0.calls }.compactMap { $0 as? Endpoint<Response> }
    }

    /// The stubs that no call has used yet, as text: `["GET articles/7 as Article"]`.
    public var leftovers: [String] { state.withLock { $0.entries }.map(\.name) }

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
        to endpoint: Endpoint<Response>, as _: Value.Type, _ options: RequestOptions
    ) async throws -> Value {
        try Task.checkCancellation()
        let (key, type) = (Key(endpoint), ObjectIdentifier(Value.self))
        let (entry, remaining) = state.withLock { state -> (Entry?, [Entry]) in
            state.calls.append(endpoint)
            let index = state.entries.firstIndex { $0.key == key && $0.types.contains(type) }
            return (index.map { state.entries.remove(at: $0) }, state.entries)
        }
        guard let entry else {
            let list = remaining.isEmpty ? "none" : remaining.map(\.name).joined(separator: ", ")
            let reason = "unexpected call \(endpoint) as \(Value.self); remaining stubs: \(list)"
            let closest = remaining.first { $0.key.path == endpoint.path }?.place
            onIssue(StubIssue(reason, at: closest ?? place, belongsToTest: closest == nil))
            throw NetworkError(.unstubbed, reason: reason)
        }
        guard let value = try await entry.respond(type != entry.types[0]) as? Value else {
            throw NetworkError(.unstubbed, reason: "the stub of \(endpoint) returned another type")
        }
        options.progress?(TransferProgress(completed: 1, total: 1))
        return value
    }
}
