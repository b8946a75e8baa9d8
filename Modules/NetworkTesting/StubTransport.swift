import ConcurrencyPrimitives
public import NetworkCore
public import Testing

/// A transport that responds with stubs. Each stub serves one request, in order.
///
/// ```swift
/// let transport = StubTransport(.get("articles") ~> .status(401), .get("articles") ~> .envelope(articles))
/// ```
///
/// A request uses the first stub that matches it and is not used up.
///
/// Two things are recorded as issues of the test. A stub that is left is recorded where it was created: when the
/// transport is deallocated, or when a test with the trait `.stubs(…)` ends, even if a task still holds the transport. An
/// unexpected request is recorded at the stub that comes closest, which has the same path; without one, at the test.
public final class StubTransport: HTTPTransport, StubHolder {
    private struct State {
        var stubs: [Stub]
        var requests: [SentRequest] = []
    }

    /// The transport of the current test, if it has the trait `.stubs(…)`. Without the trait, a new transport without
    /// stubs: tests have none in common.
    public static var current: StubTransport { StubScope.current?.transport ?? StubTransport([], recordsAt: nil) }

    private let state: Locked<State>
    private let sourceLocation: SourceLocation?

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - stubs: The stubs, in order.
    ///   - sourceLocation: Where unexpected requests are recorded that no stub comes close to, and that no test makes.
    public convenience init(_ stubs: Stub..., sourceLocation: SourceLocation = #_sourceLocation) {
        self.init(stubs, recordsAt: sourceLocation)
    }

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - stubs: The stubs, in order.
    ///   - sourceLocation: Where unexpected requests are recorded that no stub comes close to, and that no test makes.
    public convenience init(_ stubs: [Stub], sourceLocation: SourceLocation = #_sourceLocation) {
        self.init(stubs, recordsAt: sourceLocation)
    }

    private init(_ stubs: [Stub], recordsAt sourceLocation: SourceLocation?) {
        state = Locked(State(stubs: stubs))
        self.sourceLocation = sourceLocation
        StubScope.current?.add(self)
    }

    deinit { recordLeftovers() }

    /// Adds a stub after the others.
    ///
    /// - Parameter stub: The stub.
    public func add(_ stub: Stub) {
        state.withLock { $0.stubs.append(stub) }
    }

    /// The requests so far, in order, unexpected ones included.
    public var requests: [SentRequest] { state.withLock { $0.requests } }

    /// The stubs that no request has used yet. A repeated stub is never one of them.
    public var leftovers: [Stub] { state.withLock { $0.stubs }.filter { !$0.isRepeated } }

    /// Removes all stubs, so that those that are left are not recorded as issues.
    public func removeStubs() {
        state.withLock { $0.stubs = [] }
    }

    /// Records an issue for each stub that is left, and removes it. A test calls it at its end if the transport may
    /// outlive it and the test has no trait `.stubs(…)`.
    public func recordLeftovers() {
        let leftovers = leftovers
        removeStubs()
        for stub in leftovers {
            Issue.record("no request used this stub: \(stub.request)", sourceLocation: stub.sourceLocation)
        }
    }

    /// Responds with the first stub that matches.
    ///
    /// - Parameter request: The request.
    /// - Returns: The response of the stub.
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
        let closest = remaining.first { $0.request.matchesPath(of: request) }?.sourceLocation
        let test = Test.current?.sourceLocation
        Issue.record("\(reason)", sourceLocation: closest ?? test ?? sourceLocation ?? #_sourceLocation)
        throw HTTPTransportError(.unstubbed, reason: reason)
    }
}

extension NetworkError.Code {
    /// A test double has no stub for the request.
    public static let unstubbed = Self(rawValue: "unstubbed")
}
