public import AuthInterface
import ConcurrencyPrimitives

/// A handler whose responses a test has scripted, in order. After the last one it responds as a rotating server.
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
        var current = 0
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
    ///   - replayTolerance: The replay tolerance that the handler declares.
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

    /// The replay tolerance that the handler declares. The server does not read it.
    public var replayTolerance: ReplayTolerance {
        get { state.withLock { $0.replayTolerance } }
        set { state.withLock { $0.replayTolerance = newValue } }
    }

    /// The calls so far, in order.
    public var calls: [Call] { state.withLock { $0.calls } }

    /// The largest number of concurrent calls. More than one breaks single flight.
    public var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }

    /// The number of scripted responses that are not used yet.
    public var unusedResponses: Int { state.withLock { $0.responses.count } }

    /// Adds responses after those that are not used yet.
    ///
    /// - Parameter responses: The responses, in order.
    public func enqueue(_ responses: Response...) {
        state.withLock { $0.responses += responses }
    }

    /// Waits until a number of calls have started. They may still wait for their responses.
    ///
    /// - Parameter count: The number, from the first call on.
    public func calls(atLeast count: Int) async {
        await door.arrivals(atLeast: count)
    }

    /// Responds as scripted.
    ///
    /// - Parameter request: The call.
    /// - Returns: The tokens of the response, or those that the server issues.
    /// - Throws: The error of the response; `CancellationError` for a response that ends with the call's task.
    public func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        let response = state.withLock { state in
            state.calls.append(Call(request))
            state.current += 1
            state.mostAtOnce = max(state.mostAtOnce, state.current)
            return state.responses.isEmpty ? fallback : state.responses.removeFirst()
        }
        defer { state.withLock { $0.current -= 1 } }
        await door.pass()
        return try await response.give(request, server)
    }
}
