import Foundation
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
public final class StubTransport: HTTPTransport, @unchecked Sendable {  // the lists are under `lock`
    /// The transport of the test that runs, where it has the trait `.stubs(…)`; elsewhere one that knows no answer.
    @TaskLocal public static var current = StubTransport()

    private let lock = NSLock()
    private var stubs: [Stub]
    private var sent: [SentRequest] = []

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
        self.stubs = stubs
    }

    /// Adds a stub after the others.
    ///
    /// - Parameter stub: What to answer.
    public func add(_ stub: Stub) {
        lock.withLock { stubs.append(stub) }
    }

    /// What was sent so far, in order, also what no stub was for.
    public var requests: [SentRequest] { lock.withLock { sent } }

    /// The stubs that nobody has asked for yet.
    public var leftovers: [Stub] { lock.withLock { stubs } }

    /// Answers from the list.
    ///
    /// - Parameter request: What to send.
    /// - Returns: The answer.
    /// - Throws: What the stub throws; ``HTTPTransportError`` with code `unstubbed` when no stub is for the request;
    ///   `CancellationError` when the task is cancelled.
    public func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        try Task.checkCancellation()
        let arrived = try await SentRequest(request)
        if let total = arrived.body.map({ Int64($0.count) }) {
            let progress = TransferProgress(completed: total, total: total)
            request.onEvent?(HTTPTransportEvent(.sent, progress: progress))
        }
        return try await take(for: arrived).answer.respond(arrived)
    }

    private func take(for request: SentRequest) throws -> Stub {
        lock.lock()
        defer { lock.unlock() }
        sent.append(request)
        guard let index = stubs.firstIndex(where: { $0.request.matches(request) }) else {
            let left = stubs.isEmpty ? "none is left" : "left are \(stubs.map(\.request.description))"
            throw HTTPTransportError(.unstubbed, reason: "no stub is for \(request); \(left)")
        }
        return stubs.remove(at: index)
    }
}

extension NetworkError.Code {
    /// A double was asked for something nobody told it about.
    public static let unstubbed = Self(rawValue: "unstubbed")
}
