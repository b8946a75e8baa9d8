public import AuthInterface
import ConcurrencyPrimitives

/// A handler that responses as a test has written down, in order, and then as a rotating server does.
///
/// ```swift
/// let gate = Gate()
/// let handler = ScriptedRefreshHandler(.held(at: gate, then: .rotate), .failure(TokenRefreshError.unavailable))
/// // … start requests …
/// await handler.calls(atLeast: 1)          // the first call is at the gate
/// gate.open()
/// #expect(handler.calls.map(\.ordinal) == [0])
/// ```
public final class ScriptedRefreshHandler: TokenRefreshHandler {
    private struct State {
        var responses: [Response]
        var replayTolerance: ReplayTolerance
        var calls: [Call] = []
        var underWay = 0
        var mostAtOnce = 0
    }

    /// The server that issues the tokens.
    public let server: RotatingTokenServer

    private let fallback: Response
    private let state: Locked<State>
    private let door = Gate(isOpen: true)

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - responses: The responses to the first calls, in order.
    ///   - fallback: The response to every call after that.
    ///   - replayTolerance: What the handler declares that its server forgives.
    ///   - server: The server that issues the tokens.
    public init(
        _ responses: Response...,
        otherwise fallback: Response = .rotate,
        replayTolerance: ReplayTolerance = .none,
        server: RotatingTokenServer = RotatingTokenServer()
    ) {
        self.fallback = fallback
        self.server = server
        state = Locked(State(responses: responses, replayTolerance: replayTolerance))
    }

    /// What the handler declares that its server forgives. It says nothing about what the server does.
    public var replayTolerance: ReplayTolerance {
        get { state.withLock { $0.replayTolerance } }
        set { state.withLock { $0.replayTolerance = newValue } }
    }

    /// The calls so far, in order.
    public var calls: [Call] { state.withLock { $0.calls } }

    /// The largest number of calls that were under way at once. Anything above one is what single flight forbids.
    public var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }

    /// How many of the responses given were not used yet.
    public var unusedResponses: Int { state.withLock { $0.responses.count } }

    /// Adds responses for the next calls, behind those not used yet.
    ///
    /// - Parameter responses: The responses, in order.
    public func enqueue(_ responses: Response...) {
        state.withLock { $0.responses += responses }
    }

    /// Waits until a number of calls have been made. They may not be answered yet.
    ///
    /// - Parameter count: How many, from the start.
    public func calls(atLeast count: Int) async {
        await door.arrivals(atLeast: count)
    }

    /// Answers as written down.
    ///
    /// - Parameter request: The call.
    /// - Returns: The tokens that the response holds or the server issues.
    /// - Throws: The error of the response; `CancellationError` where the response says so.
    public func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        let response = state.withLock { state in
            state.calls.append(Call(request))
            state.underWay += 1
            state.mostAtOnce = max(state.mostAtOnce, state.underWay)
            return state.responses.isEmpty ? fallback : state.responses.removeFirst()
        }
        defer { state.withLock { $0.underWay -= 1 } }
        await door.pass()
        return try await response.give(request, server)
    }
}
