/// Exchanges a refresh token for new tokens: the one call that differs between servers.
///
/// This is the seam to swap. The engine that calls it makes sure that it is called once however many requests wait,
/// that its result outlives the request that needed it, and that a call which hangs is given up; an implementation only
/// makes the call and says what the response means.
///
/// ```swift
/// struct PartnerRefresh: TokenRefreshHandler {
///     func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
///         let pair = try await partner.renew(request.refreshToken)
///         return TokenRefreshResult(accessToken: pair.access, refreshToken: pair.refresh)
///     }
/// }
/// ```
///
/// Run the contract suite of `AuthTesting` against every implementation.
public protocol TokenRefreshHandler: Sendable {
    /// Exchanges a refresh token for new tokens.
    ///
    /// The task is cancelled when the call has passed its last limit; an implementation that notices may throw any
    /// error. It must not ask a ``TokenProvider`` for a token: that fails at once, as it would wait for itself (G20).
    ///
    /// - Parameter request: What the call needs.
    /// - Returns: The new tokens.
    /// - Throws: ``TokenRefreshError`` with code `rejected` if, and only if, the authorization server itself refused
    ///   this refresh token: that ends the session. `ambiguous` for a refusal that may come from something else. Any
    ///   other error, of any type, means *unavailable*: the session stays and the refresh is tried again later.
    func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult

    /// What the server forgives when the same refresh token comes again because a response was lost (G12).
    ///
    /// The default is ``ReplayTolerance/none``.
    var replayTolerance: ReplayTolerance { get }
}

extension TokenRefreshHandler {
    /// The server is not known to forgive anything.
    public var replayTolerance: ReplayTolerance { .none }
}

/// What a refresh is made with.
public struct TokenRefreshRequest: Sendable, Hashable {
    /// The current refresh token. It is never empty.
    public let refreshToken: String

    /// The access token that is to be replaced: some servers want both.
    public let accessToken: String

    /// The login that the tokens belong to.
    public let session: SessionID

    /// A random text that stays the same until a response has been applied, through lost responses and restarts. A
    /// server that is sent it with the call, as `Idempotency-Key` for example, can return its first result again.
    public let idempotencyKey: String

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - refreshToken: The current refresh token.
    ///   - accessToken: The access token that is to be replaced.
    ///   - session: The login that the tokens belong to.
    ///   - idempotencyKey: The key that stays the same until a response has been applied.
    public init(
        refreshToken: String,
        accessToken: String = "",
        session: SessionID = SessionID(),
        idempotencyKey: String = ""
    ) {
        self.refreshToken = refreshToken
        self.accessToken = accessToken
        self.session = session
        self.idempotencyKey = idempotencyKey
    }
}

extension TokenRefreshRequest: SecretBearing {
    /// The session; never a token or the key.
    public var description: String { "TokenRefreshRequest(session: \(session))" }
}

/// What a server forgives when it is sent a refresh token that it has already replaced.
public enum ReplayTolerance: Sendable, Hashable {
    /// Nothing: a second use may end the session.
    case none

    /// A second use within a time after the first.
    case within(Duration)

    /// A second use with the same idempotency key: the server returns its first result again.
    case sameKey
}
