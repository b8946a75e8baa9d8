public import struct Foundation.Date

/// Exchanges a refresh token for new tokens: the one call that differs between servers.
///
/// The engine calls it once however many requests wait, keeps its result when all of them are cancelled, and abandons a
/// call that does not end. An implementation makes the call and interprets the response.
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
/// - Important: The call spends the refresh token, so it must not be sent twice, and a late response has the only valid
///   token. Use a new connection, an idle timeout of 120 seconds (the call limit of the engine) and no automatic retry.
///   Never use `URLSession.shared`: on Linux it hangs on a warm connection which the server closes, and sends the call a
///   second time. <doc:WritingARefreshHandler> has a handler to copy.
///
/// Run the contract suite of `AuthTesting` against every implementation.
public protocol TokenRefreshHandler: Sendable {
    /// Exchanges a refresh token for new tokens.
    ///
    /// The cancellation of requests does not reach the call. Its task is cancelled only when it has passed its last
    /// limit; it should then end soon, with any error.
    ///
    /// It must not ask a ``TokenProvider`` for a token: that fails at once, as it would wait for itself (G20).
    ///
    /// - Parameter request: What the call needs.
    /// - Returns: The new tokens. A new refresh token is returned even where the access token beside it is empty: the
    ///   server has spent the old one.
    /// - Throws: ``TokenRefreshError`` with code `rejected` if, and only if, the authorization server itself refused
    ///   this refresh token: that ends the session. `ambiguous` for a refusal that may come from something else, such
    ///   as a bare 401. Any other error, of any type, means *unavailable*: the session stays and the refresh is tried
    ///   again later. An error without a status means that no whole response arrived: the engine treats the response as
    ///   lost.
    func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult

    /// Whether the server accepts the same refresh token again after a response was lost (G12).
    ///
    /// Declare only what the server does: a second use that it does not accept ends the session. The default is
    /// ``ReplayTolerance/none``.
    var replayTolerance: ReplayTolerance { get }
}

extension TokenRefreshHandler {
    /// The server is not known to accept a second use.
    public var replayTolerance: ReplayTolerance { .none }
}

/// The argument of a refresh.
public struct TokenRefreshRequest: Sendable, Hashable {
    /// The current refresh token. It is never empty.
    public let refreshToken: String

    /// The access token that is to be replaced: some servers require both.
    public let accessToken: String

    /// The login that the tokens belong to.
    public let session: SessionID

    /// A random text that stays the same until a response has been applied, through lost responses and restarts. A
    /// server that receives it with the call, for example as `Idempotency-Key`, can return its first result again.
    public let idempotencyKey: String

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - refreshToken: The current refresh token.
    ///   - accessToken: The access token that is to be replaced.
    ///   - session: The login that the tokens belong to.
    ///   - idempotencyKey: A random text that is the same for every call with this refresh token.
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

extension TokenRefreshRequest: RedactedDescription {
    /// The session; never a token or the key.
    public var description: String { "TokenRefreshRequest(session: \(session))" }
}

/// The tokens that a server has just issued: the response to a refresh, or to a login.
///
/// Only the access token is certain. A server that does not rotate refresh tokens sends none, and the old one stays
/// (RFC 6749 §6). Without a lifetime, the expiry in the token itself is used if it is a JWT.
public struct TokenRefreshResult: Sendable, Hashable {
    /// The new access token.
    public var accessToken: String

    /// The new refresh token. `nil`: the old one stays valid.
    public var refreshToken: String?

    /// How long the access token is valid from its receipt (`expires_in`, RFC 6749 §5.1). `nil`: not known.
    public var expiresIn: Duration?

    /// When the access token expires, on the server's clock, for a server that sends an instant in place of a lifetime.
    /// ``expiresIn`` wins where both are given. `nil`: not known.
    public var expiresAt: Date?

    /// The instant of the response on the server's clock (the `Date` header field, RFC 9110 §6.6.1), where known.
    public var serverDate: Date?

    /// Creates a result.
    ///
    /// - Parameters:
    ///   - accessToken: The new access token.
    ///   - refreshToken: The new refresh token, or `nil` to keep the old one.
    ///   - expiresIn: How long the access token is valid from its receipt.
    ///   - expiresAt: When the access token expires, on the server's clock. `expiresIn` wins where both are given.
    ///   - serverDate: The instant of the response on the server's clock.
    public init(
        accessToken: String,
        refreshToken: String? = nil,
        expiresIn: Duration? = nil,
        expiresAt: Date? = nil,
        serverDate: Date? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresIn = expiresIn
        self.expiresAt = expiresAt
        self.serverDate = serverDate
    }
}

extension TokenRefreshResult: RedactedDescription {
    /// What was issued; never a token.
    public var description: String {
        let lifetime = expiresIn.map { "\($0)" } ?? expiresAt.map { "until \($0.formatted(.iso8601))" } ?? "unknown"
        return "TokenRefreshResult(expiresIn: \(lifetime), rotated: \(refreshToken != nil))"
    }
}

/// When a server accepts a refresh token that it has already replaced.
public enum ReplayTolerance: Sendable, Hashable {
    /// Never: a second use may end the session.
    case none

    /// Within a time after the first use.
    case within(Duration)

    /// With the same idempotency key: the server returns its first result again.
    case sameKey
}

/// Revokes tokens at the server (RFC 7009, or a server's own logout call).
///
/// The engine calls it after a sign-out, and for tokens that arrive when their session has already ended. The
/// tokens are deleted first: a sign-out takes effect even when the server cannot be reached.
public protocol TokenRevocationHandler: Sendable {
    /// Revokes the tokens of a session.
    ///
    /// - Parameter tokens: The tokens. They may be revoked already, which is no error.
    /// - Throws: Any error when the tokens could not be revoked. The sign-out takes effect nevertheless.
    func revoke(_ tokens: TokenBundle) async throws

    /// Whether revoking a session's tokens leaves every other session of the same user valid (G9).
    ///
    /// Only then are old tokens revoked while another session is signed in. The default is `false`.
    var affectsRevokedSessionOnly: Bool { get }
}

extension TokenRevocationHandler {
    /// The server may end other sessions too.
    public var affectsRevokedSessionOnly: Bool { false }
}
