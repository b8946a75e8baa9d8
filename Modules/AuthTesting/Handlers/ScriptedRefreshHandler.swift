public import AuthInterface
import ConcurrencyPrimitives
public import ContractTesting

/// A handler whose responses a test has scripted, in order. After the last one it responds as a rotating server.
///
/// ```swift
/// let gate = Gate()
/// let handler = ScriptedRefreshHandler(.held(at: gate, then: .rotate), .failure(TokenRefreshError.unavailable))
/// // … start requests …
/// try await handler.calls(atLeast: 1)      // the first call is at the gate
/// gate.open()
/// #expect(handler.calls.map(\.ordinal) == [0])
/// ```
public final class ScriptedRefreshHandler: TokenRefreshHandler {
    private struct State {
        var responses: [Response]
        var calls: [Call] = []
        var current = 0
        var mostAtOnce = 0
    }

    /// The server that issues the tokens.
    public let server: RotatingTokenServer

    /// The replay tolerance that the handler declares. The server does not read it.
    public let replayTolerance: ReplayTolerance

    private let fallback: Response
    private let state: Locked<State>
    private let door = Gate(isOpen: true)

    /// Creates a handler: the responses to the first calls, in order, and the one to every call after that.
    public init(
        _ responses: Response..., otherwise fallback: Response = .rotate, replayTolerance: ReplayTolerance = .none,
        server: RotatingTokenServer = RotatingTokenServer()
    ) {
        self.fallback = fallback
        self.server = server
        self.replayTolerance = replayTolerance
        state = Locked(State(responses: responses))
    }

    /// The calls so far, in order.
    public var calls: [Call] { state.withLock { $0.calls } }

    /// The largest number of concurrent calls. More than one breaks single flight.
    package var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }

    /// The scripted responses that no call has used yet.
    public var leftovers: [Response] { state.withLock { $0.responses } }

    /// Adds responses after those that are not used yet.
    public func add(_ responses: Response...) { state.withLock { $0.responses += responses } }

    /// Waits until a number of calls have started, from the first one on. They may still wait for their responses.
    public func calls(atLeast count: Int) async throws { try await door.arrivals(atLeast: count) }

    /// Responds as scripted.
    ///
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

extension ScriptedRefreshHandler {
    /// The response to a call.
    public struct Response: Sendable {
        let give: @Sendable (TokenRefreshRequest, RotatingTokenServer) async throws -> TokenRefreshResult

        /// The server's response: the next pair, or *rejected*. The server sees the idempotency key of the call.
        public static let rotate = Response { try $1.refresh($0) }

        /// The server rotates immediately, and its response arrives when a gate opens. A cancellation of the call loses
        /// the response.
        package static func rotateThenHold(at gate: Gate) -> Response {
            Response { request, server in
                let result = try server.refresh(request)
                try await gate.passUnlessCancelled()
                return result
            }
        }

        /// These tokens. The server is not called.
        public static func tokens(_ result: TokenRefreshResult) -> Response { Response { _, _ in result } }

        /// This error, of any type. The server is not called.
        public static func failure(_ error: any Error) -> Response { Response { _, _ in throw error } }

        /// No response, until the call is cancelled.
        public static let hang = Response { _, _ in
            try await Gate().passUnlessCancelled()
            throw CancellationError()
        }

        /// Another response, once a gate is open. The wait ignores cancellation.
        public static func held(at gate: Gate, then response: Response) -> Response {
            Response { request, server in
                await gate.pass()
                return try await response.give(request, server)
            }
        }

        /// The result of a closure, for a handler that asks the session for a token, or that calls twice.
        public static func custom(
            _ response:
                @escaping @Sendable (TokenRefreshRequest, RotatingTokenServer) async throws -> TokenRefreshResult
        ) -> Response { Response(give: response) }
    }

    /// A call. It identifies the refresh token, and shows neither token nor key.
    public struct Call: Sendable, Hashable {
        /// The login of the refresh token, such as `ada1`; `nil` if the server did not issue it.
        public let login: String?

        /// The number of rotations before the refresh token was issued; `nil` if the server did not issue it.
        public let ordinal: Int?

        /// The idempotency key of the call.
        public let idempotencyKey: String

        init(_ request: TokenRefreshRequest) {
            let token = IssuedToken(request.refreshToken).flatMap { $0.kind == .refresh ? $0 : nil }
            login = token?.login
            ordinal = token?.ordinal
            idempotencyKey = request.idempotencyKey
        }
    }
}

extension ScriptedRefreshHandler.Call: RedactedDescription {
    /// The login and the number of the token; never the token or the key.
    public var description: String {
        let token = login.map { "\($0), \(ordinal ?? 0)" } ?? "unknown token"
        return "Call(\(token), \(idempotencyKey.isEmpty ? "no key" : "with a key"))"
    }
}
