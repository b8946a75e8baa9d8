public import AuthInterface
import ConcurrencyPrimitives

/// What is put through the races: anything that hands out access tokens and refreshes them, old code included.
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
    /// Begins a session with these tokens.
    public var signIn: @Sendable (TokenRefreshResult) async throws -> Void

    /// Ends the session at the user's wish.
    public var signOut: @Sendable () async throws -> Void

    /// The access token for a request that starts now.
    public var token: @Sendable () async throws -> String

    /// An access token to try instead of one that a server has refused.
    public var replacement: @Sendable (_ refused: String) async throws -> String

    /// How often the user was told so far that the session is over. `nil`: nobody counts.
    public var endings: (@Sendable () async -> Int)?

    /// Makes a subject of closures.
    ///
    /// - Parameters:
    ///   - signIn: Begins a session with these tokens.
    ///   - signOut: Ends the session at the user's wish.
    ///   - token: The access token for a request that starts now.
    ///   - replacement: An access token to try instead of one that a server has refused.
    ///   - endings: How often the user was told so far that the session is over, if somebody counts.
    public init(
        signIn: @escaping @Sendable (TokenRefreshResult) async throws -> Void,
        signOut: @escaping @Sendable () async throws -> Void,
        token: @escaping @Sendable () async throws -> String,
        replacement: @escaping @Sendable (_ refused: String) async throws -> String,
        endings: (@Sendable () async -> Int)? = nil
    ) {
        self.signIn = signIn
        self.signOut = signOut
        self.token = token
        self.replacement = replacement
        self.endings = endings
    }

    /// Makes a subject of an engine. A request goes on with the token it was given, as in a real client.
    ///
    /// - Parameter engine: The engine.
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
            endings: { endings.withLock { $0 } }
        )
    }
}

/// The world a subject races in. Give it the parts it can use: a subject that has no store, or looks at no clock, fails
/// the races that are about them.
public struct RaceScene: Sendable {
    /// The server that issues every token.
    public let server: RotatingTokenServer

    /// The call that refreshes.
    public let handler: ScriptedRefreshHandler

    /// The store.
    public let store: FaultyTokenStore<RecordingTokenStore>

    /// The clocks. They stand still until the race moves them.
    public let clock: ManualTimeSource

    init() {
        let clock = ManualTimeSource()
        server = RotatingTokenServer(lifetime: .seconds(86_400))
        handler = ScriptedRefreshHandler(server: server)
        store = FaultyTokenStore(RecordingTokenStore(clock: clock))
        self.clock = clock
    }
}
