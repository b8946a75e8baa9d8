public import AuthInterface
import ConcurrencyPrimitives

/// A session for tests and previews: it has the state that a test sets, fails as scripted, and records its calls. It
/// has no store and calls no server.
///
/// ```swift
/// let session = StubSession()                                       // signed in, with a token
/// session.fail(.refresh, with: AuthenticationError(.refreshUnavailable))
/// let model = AccountModel(session: session)
/// session.state = .signedOut(.expired())                            // every reader of `states` receives it
/// #expect(session.calls == [.refresh])
/// ```
///
/// What no script changes is as an engine does it: a refresh makes the next token of the session, a token that was
/// replaced already refreshes nothing (G2), and a token of an earlier session is never replaced (G23).
public final class StubSession: AuthSession, TokenProvider {
    private struct Contents {
        var state: SessionState
        var tokens: TokenRefreshResult
        var generation = 0
        var calls: [Operation] = []
        var signIns: [TokenRefreshResult] = []
        var scripts: [Operation: Script] = [:]
        let readers = Broadcast<SessionState>(keeping: .unbounded)

        /// Every reader receives a state once, in the order of the changes.
        mutating func change(to new: SessionState) {
            guard new != state else { return }
            state = new
            readers.send(new)
        }

        mutating func start(_ new: TokenRefreshResult) {
            tokens = new
            generation = 0
            change(to: .signedIn(SessionID()))
        }

        func token() throws -> SessionToken {
            guard case .signedIn(let session) = state else { throw AuthenticationError(.notSignedIn) }
            return SessionToken(
                value: tokens.accessToken, refreshToken: tokens.refreshToken, session: session, generation: generation)
        }

        mutating func rotate() throws {
            guard case .signedIn = state else { return }
            guard tokens.refreshToken != nil else { throw AuthenticationError(.noRefreshToken) }
            generation += 1
            let subject = tokens.subject
            tokens = .fixture(ordinal: generation)
            tokens.subject = subject
        }
    }

    /// A call of a session, by the name of its method.
    public enum Operation: Sendable, Hashable {
        /// The method of this name.
        case restore, signIn, stepUp, refresh, signOut, token, replacement
    }

    private struct Script {
        let action: @Sendable (StubSession) async throws -> Void
        var remaining: Int
    }

    private let contents: Locked<Contents>

    /// Creates a session. An `unknown` one turns out signed out. Without a refresh token, `noRefreshToken` is thrown.
    public init(
        _ state: SessionState = .signedIn(SessionID(rawValue: "stub")), tokens: TokenRefreshResult = .fixture()
    ) { contents = Locked(Contents(state: state, tokens: tokens)) }

    /// The state. A test sets it as an engine would change it: each reader of ``states`` receives the new one.
    public var state: SessionState {
        get { contents.withLock { $0.state } }
        set { contents.withLock { $0.change(to: newValue) } }
    }

    /// The states from now on, the current one first. The stream ends with its reader or with the session.
    public var states: AsyncStream<SessionState> { contents.withLock { $0.readers.stream(startingWith: $0.state) } }

    /// The calls so far, in order, failed ones included.
    public var calls: [Operation] { contents.withLock { $0.calls } }

    /// What the session was signed in with, in order, failed calls included.
    public var signIns: [TokenRefreshResult] { contents.withLock { $0.signIns } }

    /// Makes the next calls of an operation fail: a number of them, or all until ``recover(_:)``. A sign-out that fails
    /// ends the session nevertheless, as an engine's does.
    public func fail(_ operation: Operation, times count: Int? = nil, with error: any Error) {
        on(operation, times: count) { _ in throw error }
    }

    /// Runs a closure in the next calls of an operation, a number of them or all until ``recover(_:)``: before the
    /// operation has its effect; of a sign-out, afterwards. It may change the state, wait at a `Gate`, or throw.
    public func on(
        _ operation: Operation, times count: Int? = nil,
        _ action: @escaping @Sendable (StubSession) async throws -> Void
    ) {
        contents.withLock { $0.scripts[operation] = Script(action: action, remaining: count ?? .max) }
    }

    /// Removes the script of an operation.
    public func recover(_ operation: Operation) { contents.withLock { $0.scripts[operation] = nil } }

    /// Reads the state, which is no longer `unknown` then.
    ///
    /// - Throws: The scripted error.
    @discardableResult
    public func restore() async throws -> SessionState { try await perform(.restore) { $0.state } }

    /// Starts a session with the tokens.
    ///
    /// - Throws: The scripted error; `AuthenticationError` with code `invalidTokens`. The earlier session stays then.
    public func signIn(_ tokens: TokenRefreshResult) async throws {
        contents.withLock { $0.signIns.append(tokens) }
        try await perform(.signIn) { contents in
            guard tokens.accessToken.fitsHeaderField else { throw AuthenticationError(.invalidTokens) }
            contents.start(tokens)
        }
    }

    /// Goes on with the tokens where they have the subject of the session's, and else signs in (G32). They need a
    /// refresh token.
    ///
    /// - Throws: The scripted error; `AuthenticationError` with code `invalidTokens`. The session stays then.
    public func stepUp(_ tokens: TokenRefreshResult) async throws {
        contents.withLock { $0.signIns.append(tokens) }
        try await perform(.stepUp) { contents in
            guard tokens.accessToken.fitsHeaderField, tokens.bringsRefreshToken else {
                throw AuthenticationError(.invalidTokens)
            }
            guard case .signedIn = contents.state, let subject = contents.tokens.subject, subject == tokens.subject
            else { return contents.start(tokens) }
            contents.tokens = tokens
            contents.generation += 1
        }
    }

    /// Makes the next token of the session.
    ///
    /// - Throws: The scripted error; `AuthenticationError` with code `noRefreshToken`.
    @discardableResult
    public func refresh() async throws -> SessionState {
        try await perform(.refresh) { contents in
            try contents.rotate()
            return contents.state
        }
    }

    /// Ends the session.
    ///
    /// - Throws: The scripted error. The session has ended even then.
    public func signOut(reason: SignOutReason) async throws {
        contents.withLock { contents in
            if case .signedOut = contents.state { return }
            contents.change(to: .signedOut(reason))
        }
        try await perform(.signOut) { _ in }
    }

    /// The token of the session.
    ///
    /// - Throws: The scripted error; `AuthenticationError` with code `notSignedIn`.
    public func token() async throws -> SessionToken { try await perform(.token) { try $0.token() } }

    /// The current token, or the next one if the refused token is the current one.
    ///
    /// - Throws: The scripted error; `AuthenticationError` with code `sessionEnded` or `noRefreshToken`.
    public func replacement(after refusal: TokenRefusal) async throws -> SessionToken {
        try await perform(.replacement) { contents in
            guard contents.state == .signedIn(refusal.token.session) else { throw AuthenticationError(.sessionEnded) }
            if contents.generation == refusal.token.generation { try contents.rotate() }
            return try contents.token()
        }
    }

    /// Records the call, runs its script, and then changes the session.
    private func perform<Value: Sendable>(
        _ operation: Operation, _ change: (inout Contents) throws -> Value
    ) async throws -> Value {
        // A sign-in and a sign-out are completed.
        if ![.signIn, .stepUp, .signOut].contains(operation) { try Task.checkCancellation() }
        let action = contents.withLock { contents -> (@Sendable (StubSession) async throws -> Void)? in
            contents.calls.append(operation)
            guard let script = contents.scripts[operation], script.remaining > 0 else { return nil }
            contents.scripts[operation]?.remaining -= 1
            return script.action
        }
        try await action?(self)
        return try contents.withLock { contents in
            if contents.state == .unknown { contents.change(to: .signedOut(.never)) }
            return try change(&contents)
        }
    }
}
