import AuthInterface
public import NetworkCore

/// A transport that answers from a list: each stub once, in order, and what is left over can be asked for.
///
/// ```swift
/// let transport = StubTransport(.get("articles") ~> .status(401), .get("articles") ~> .envelope(articles))
/// …
/// #expect(transport.leftovers.isEmpty)
/// ```
///
/// A request takes the first stub that is for it and not used up. For one that no stub is for, there is no answer:
/// an error says so and names what is left.
public final class StubTransport: HTTPTransport {
    /// The transport of the test that runs, where it has the trait `.stubs(…)`; elsewhere one that knows no answer.
    @TaskLocal public static var current = StubTransport()

    private struct State {
        var stubs: [Stub]
        var requests: [SentRequest] = []
    }

    private let state: Locked<State>

    /// Creates a transport.
    ///
    /// - Parameter stubs: What to answer.
    public convenience init(_ stubs: Stub...) {
        self.init(stubs)
    }

    /// Creates a transport.
    ///
    /// - Parameter stubs: What to answer.
    public init(_ stubs: [Stub]) {
        state = Locked(State(stubs: stubs))
    }

    /// Adds a stub after the others.
    ///
    /// - Parameter stub: What to answer.
    public func add(_ stub: Stub) {
        state.withLock { $0.stubs.append(stub) }
    }

    /// What was sent so far, in order, also what no stub was for.
    public var requests: [SentRequest] { state.withLock { $0.requests } }

    /// The stubs that nobody has asked for yet.
    public var leftovers: [Stub] { state.withLock { $0.stubs } }

    /// Answers from the list.
    ///
    /// - Parameter request: What to send.
    /// - Returns: The answer.
    /// - Throws: What the stub throws; ``HTTPTransportError`` with code `unstubbed` when no stub is for the request;
    ///   `CancellationError` when the task is cancelled.
    public func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        try Task.checkCancellation()
        let sent = try SentRequest(request)
        if let total = sent.body.map({ Int64($0.count) }) {
            request.progress?(TransferProgress(completed: total, total: total))
        }
        let (stub, left) = state.withLock { state -> (Stub?, [Stub]) in
            state.requests.append(sent)
            guard let index = state.stubs.firstIndex(where: { $0.request.matches(sent) }) else {
                return (nil, state.stubs)
            }
            return (state.stubs.remove(at: index), [])
        }
        guard let stub else {
            let left = left.isEmpty ? "none is left" : "left are \(left.map(\.request.description))"
            throw HTTPTransportError(.unstubbed, reason: "no stub is for \(sent); \(left)")
        }
        return try await stub.answer.respond(sent)
    }
}

extension NetworkError.Code {
    /// A double was asked for something nobody told it about.
    public static let unstubbed = Self(rawValue: "unstubbed")
}
