/// Exchanges a refresh token for new tokens: the one call that differs between servers.
///
/// The engine calls it once however many requests wait, keeps its result when all of them are cancelled, and abandons a
/// call that does not end. An implementation makes the call and interprets the response.
///
/// - Important: The call spends the refresh token, so it must not be sent twice, and a late response has the only valid
///   token. Use a new connection, an idle timeout of 120 seconds (the call limit of the engine) and no automatic retry.
///   Never use `URLSession.shared`: on Linux it hangs on a warm connection which the server closes, and sends the call
///   a second time. <doc:WritingARefreshHandler> has a handler to copy, <doc:RulesForRefreshHandlers> the reasons.
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
    ///   as a bare 401. Any other error, of any type, means *unavailable*: the session is kept and the refresh is tried
    ///   again later. An error without a status means that no whole response arrived: the engine treats the response as
    ///   lost.
    func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult

    /// Whether the server accepts the same refresh token again after a response was lost (G12).
    ///
    /// Declare only what the server does: a second use that it does not accept ends the session. The default is
    /// ``ReplayTolerance/none``, and ``ReplayTolerance/sameKey`` where no refresh token is spent.
    var replayTolerance: ReplayTolerance { get }

    /// Whether the call spends a refresh token. The default is `true`.
    ///
    /// `false`: it gets tokens by the client's own right, as with client credentials (RFC 6749 §4.4). Then no user
    /// signs in: where the store holds no session, `restore` and the first request begin one (G22).
    var needsRefreshToken: Bool { get }
}

extension TokenRefreshHandler {
    /// The server is not known to accept a second use. Where nothing is spent, the call may be repeated.
    public var replayTolerance: ReplayTolerance { needsRefreshToken ? .none : .sameKey }

    /// A refresh spends a refresh token.
    public var needsRefreshToken: Bool { true }
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
