public import AuthInterface
import ConcurrencyPrimitives

/// The code under test in a race: anything that returns access tokens and refreshes them, existing code included.
///
/// ```swift
/// let report = await RaceKit.run { scene in
///     let old = OldTokenManager(refresh: { try await scene.handler.refresh(TokenRefreshRequest(refreshToken: $0)) })
///     return RaceSubject(
///         signIn: { await old.set(access: $0.accessToken, refresh: $0.refreshToken) },
///         signOut: { await old.clear() },
///         token: { try await old.validToken() },
///         replacement: { try await old.refreshAfter401(failed: $0) }
///     )
/// }
/// print(report)
/// ```
public struct RaceSubject: Sendable {
    /// Starts a session with these tokens.
    public var signIn: @Sendable (TokenRefreshResult) async throws -> Void

    /// Signs the user out.
    public var signOut: @Sendable () async throws -> Void

    /// Returns the access token for a request that starts now.
    public var token: @Sendable () async throws -> String

    /// Returns the access token to use after a server has refused one.
    public var replacement: @Sendable (_ refused: String) async throws -> String

    /// Returns how many times the user was notified of the session's end. With `nil`, no race counts it.
    public var endings: (@Sendable () async -> Int)?

    /// Creates a subject from closures.
    public init(
        signIn: @escaping @Sendable (TokenRefreshResult) async throws -> Void,
        signOut: @escaping @Sendable () async throws -> Void, token: @escaping @Sendable () async throws -> String,
        replacement: @escaping @Sendable (_ refused: String) async throws -> String,
        endings: (@Sendable () async -> Int)? = nil
    ) {
        self.signIn = signIn
        self.signOut = signOut
        self.token = token
        self.replacement = replacement
        self.endings = endings
    }

    /// Creates a subject from an engine. As in a real client, a refused request is retried with the token it was sent
    /// with.
    public init(_ engine: some AuthSession & TokenProvider) {
        let given = Locked<[String: SessionToken]>([:])
        let note: @Sendable (SessionToken) -> String = { token in
            given.withLock { $0[token.value] = token }
            return token.value
        }
        let states = engine.states
        let endings = Locked(0)
        Task {
            for await case .signedOut in states { endings.withLock { $0 += 1 } }
        }
        self.init(
            signIn: { try await engine.signIn($0) },
            signOut: { try await engine.signOut() },
            token: { note(try await engine.token()) },
            replacement: { refused in
                guard let token = given.withLock({ $0[refused] }) else { throw AuthenticationError(.sessionEnded) }
                return note(try await engine.replacement(for: token))
            },
            endings: { endings.withLock { $0 } })
    }
}
