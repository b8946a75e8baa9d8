public import AuthInterface

/// A handler that answers as a test has written down, in order, and then as a rotating server does.
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
    /// How a call is answered.
    public enum Answer: Sendable {
        /// As the server answers: the next pair, or *rejected* for a token it does not like.
        case rotate

        /// The server rotates at once and its answer is on the way until a gate opens. A call that is cancelled
        /// meanwhile loses it.
        case rotateThenHold(at: Gate)

        /// The server rotates and the answer is lost: the call throws.
        case rotateThenFail(any Error)

        /// These tokens, whatever the server thinks. It is not asked.
        case tokens(TokenRefreshResult)

        /// This error, of whatever type. The server is not asked.
        case failure(any Error)

        /// Nothing, until the call is cancelled.
        case hang

        /// The answer inside, once a gate is open. The wait is deaf to cancellation.
        indirect case held(at: Gate, then: Answer)
    }

    /// A call that was made. It tells which refresh token came, and never shows it.
    public struct Call: Sendable, Hashable {
        /// The login the refresh token belongs to, such as `ada1`; `nil` if the server has never issued it.
        public let login: String?

        /// How many rotations lie between the login and the refresh token; `nil` as above.
        public let ordinal: Int?
    }

    private struct State {
        var answers: [Answer]
        var calls: [Call] = []
        var underWay = 0
        var mostAtOnce = 0
    }

    /// The server that issues the tokens.
    public let server: RotatingTokenServer

    private let fallback: Answer
    private let state: Locked<State>
    private let door = Gate(isOpen: true)

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - answers: The answers to the first calls, in order.
    ///   - fallback: The answer to every call after that.
    ///   - server: The server that issues the tokens.
    public init(
        _ answers: Answer...,
        otherwise fallback: Answer = .rotate,
        server: RotatingTokenServer = RotatingTokenServer()
    ) {
        self.fallback = fallback
        self.server = server
        state = Locked(State(answers: answers))
    }

    /// The calls so far, in order.
    public var calls: [Call] { state.withLock { $0.calls } }

    /// The largest number of calls that were under way at once. Anything above one is what single flight forbids.
    public var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }

    /// How many of the answers given were not used yet.
    public var unusedAnswers: Int { state.withLock { $0.answers.count } }

    /// Adds answers for the next calls, behind those not used yet.
    ///
    /// - Parameter answers: The answers, in order.
    public func enqueue(_ answers: Answer...) {
        state.withLock { $0.answers += answers }
    }

    /// Waits until a number of calls have been made. They may not be answered yet.
    ///
    /// - Parameter count: How many, from the start.
    public func calls(atLeast count: Int) async {
        await door.arrivals(atLeast: count)
    }

    /// Answers as written down.
    ///
    /// - Parameter refreshToken: The refresh token.
    /// - Returns: The tokens that the answer holds or the server issues.
    /// - Throws: The error of the answer; `CancellationError` where the answer says so.
    public func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        let refreshToken = request.refreshToken
        let token = IssuedToken(refreshToken).flatMap { $0.kind == .refresh ? $0 : nil }
        let answer = state.withLock { state in
            state.calls.append(Call(login: token?.login, ordinal: token?.ordinal))
            state.underWay += 1
            state.mostAtOnce = max(state.mostAtOnce, state.underWay)
            return state.answers.isEmpty ? fallback : state.answers.removeFirst()
        }
        defer { state.withLock { $0.underWay -= 1 } }
        await door.pass()
        return try await give(answer, for: refreshToken)
    }

    private func give(_ answer: Answer, for refreshToken: String) async throws -> TokenRefreshResult {
        switch answer {
        case .rotate:
            return try server.refresh(refreshToken)
        case .rotateThenHold(let gate):
            let result = try server.refresh(refreshToken)
            try await gate.passUnlessCancelled()
            return result
        case .rotateThenFail(let error):
            _ = try server.refresh(refreshToken)
            throw error
        case .tokens(let result):
            return result
        case .failure(let error):
            throw error
        case .hang:
            try await Gate().passUnlessCancelled()
            throw CancellationError()
        case .held(let gate, let answer):
            await gate.pass()
            return try await give(answer, for: refreshToken)
        }
    }
}
