import ConcurrencyPrimitives
public import NetworkCore

/// A transport that responds with stubs. Each stub serves one request, in order.
///
/// ```swift
/// let transport = StubTransport(.get("articles") ~> .status(401), .get("articles") ~> .json(articles)) {
///     XCTFail("\($0)", file: $0.file, line: $0.line)
/// }
/// ```
///
/// A request uses the first stub that matches it and is not used up.
///
/// Two things are issues. A stub that is left is one when the transport is deallocated, or when ``recordLeftovers()``
/// is called. An unexpected request is one at the stub that comes closest, which has the same path; without one, at the
/// test.
public final class StubTransport: HTTPTransport {
    private struct State {
        var stubs: [Stub]
        var requests: [SentRequest] = []
    }

    private let state: Locked<State>
    private let place: StubPlace
    private let onIssue: StubIssue.Handler

    /// Creates a transport.
    public convenience init(
        _ stubs: Stub..., file: StaticString = #filePath, line: UInt = #line, onIssue: @escaping StubIssue.Handler
    ) { self.init(stubs, file: file, line: line, onIssue: onIssue) }

    /// Creates a transport.
    public init(
        _ stubs: [Stub], file: StaticString = #filePath, line: UInt = #line, onIssue: @escaping StubIssue.Handler
    ) {
        state = Locked(State(stubs: stubs))
        place = StubPlace(file: file, line: line)
        self.onIssue = onIssue
    }

    deinit { recordLeftovers() }

    /// Adds a stub after the others.
    public func add(_ stub: Stub) { state.withLock { $0.stubs.append(stub) } }

    /// The requests so far, in order, unexpected ones included.
    public var requests: [SentRequest] { state.withLock { $0.requests } }

    /// The stubs that no request has used yet. A repeated stub is never one of them.
    public var leftovers: [Stub] { state.withLock { $0.stubs }.filter { !$0.isRepeated } }

    /// Removes all stubs, so that those that are left are no issues.
    public func removeStubs() { state.withLock { $0.stubs = [] } }

    /// Reports an issue for each stub that is left, and removes it. A test calls it at its end if the transport may
    /// outlive it.
    public func recordLeftovers() {
        let leftovers = leftovers
        removeStubs()
        for stub in leftovers {
            onIssue(StubIssue("no request used this stub: \(stub.request)", at: stub.request.place ?? place))
        }
    }

    /// Responds with the first stub that matches.
    ///
    /// - Throws: The error of the stub; `HTTPTransportError` with code `unstubbed` when no stub matches;
    ///   `CancellationError` when the task is cancelled.
    public func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        try Task.checkCancellation()
        let sent = try await SentRequest(request)
        if let total = sent.body.map({ Int64($0.count) }) {
            let progress = TransferProgress(completed: total, total: total)
            request.onEvent?(HTTPTransportEvent(.sent, progress: progress))
        }
        return try await stub(for: sent).response.respond(sent)
    }

    private func stub(for request: SentRequest) throws -> Stub {
        let (stub, remaining) = state.withLock { state -> (Stub?, [Stub]) in
            state.requests.append(request)
            guard let index = state.stubs.firstIndex(where: { $0.request.matches(request) }) else {
                return (nil, state.stubs)
            }
            let stub = state.stubs[index]
            if !stub.isRepeated { state.stubs.remove(at: index) }
            return (stub, state.stubs)
        }
        if let stub { return stub }
        let list = remaining.isEmpty ? "none" : remaining.map(\.request.description).joined(separator: ", ")
        let reason = "unexpected request \(request); remaining stubs: \(list)"
        let closest = remaining.first { $0.request.matchesPath(of: request) }?.request.place
        onIssue(StubIssue(reason, at: closest ?? place, belongsToTest: closest == nil))
        throw HTTPTransportError(.unstubbed, reason: reason)
    }
}

extension NetworkError.Code {
    /// A test double has no stub for the request.
    public static let unstubbed = Self(rawValue: "unstubbed")
}
