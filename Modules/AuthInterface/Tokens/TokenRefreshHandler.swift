/// Buys new tokens with a refresh token: the one call that differs between servers.
///
/// This is the seam to swap. The engine that calls it makes sure that it is called once however many requests wait,
/// that its result outlives whoever asked for it, and that it is given up on when it hangs; an implementation only
/// makes the call and says what the answer means.
///
/// ```swift
/// struct PartnerRefresh: TokenRefreshHandler {
///     func refresh(refreshToken: String) async throws -> TokenRefreshResult {
///         let pair = try await partner.renew(refreshToken)
///         return TokenRefreshResult(accessToken: pair.access, refreshToken: pair.refresh)
///     }
/// }
/// ```
///
/// Run the contract suite of `AuthTesting` against every implementation.
public protocol TokenRefreshHandler: Sendable {
    /// Exchanges a refresh token for new tokens.
    ///
    /// The call may be cancelled after its deadline has passed; an implementation that notices may throw anything.
    /// It must not ask a ``TokenProvider`` for a token: it would wait for itself.
    ///
    /// - Parameter refreshToken: The current refresh token. It is never empty.
    /// - Returns: The new tokens.
    /// - Throws: ``TokenRefreshError`` with code `rejected` if, and only if, the authorisation server itself said no
    ///   to this refresh token: that ends the session. Anything else thrown, of whatever type, means *unavailable*:
    ///   the session stays and the refresh is tried again later.
    func refresh(refreshToken: String) async throws -> TokenRefreshResult
}
