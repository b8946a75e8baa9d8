public import AuthInterface
public import Foundation
public import NetworkCore

/// Gets the tokens of a client that acts for itself, such as a service or a job: client credentials (RFC 6749 §4.4).
///
/// ```swift
/// let client = OAuth2Client.basic(id: "reports", secret: secret)
/// let handler = OAuth2ClientCredentials(tokenEndpoint: tokenEndpoint, client: client, network: api, scope: "read")
/// let session = TokenRefreshCoordinator(store: MemoryTokenStore(), handler: handler)
/// ```
///
/// No user signs in: `restore` or the first request makes the first call, and the engine makes the next ones as it
/// refreshes a user's tokens (G1, G3, G6, G25). After a sign-out requests fail until `restore` is called.
///
/// The call spends nothing, so one whose response was lost is repeated, and no failure ends the session: each one is
/// *unavailable*, has the server's code (`invalid_client`), and a pause follows.
///
/// A refresh token in the response is dropped. To revoke the access token at a sign-out, pass an
/// ``OAuth2TokenRefreshHandler`` with a revocation endpoint to the coordinator as `revocation`.
public struct OAuth2ClientCredentials: TokenRefreshHandler {
    /// The scope to ask for, separated by spaces (RFC 6749 §3.3). `nil`: the server chooses.
    public var scope: String?

    /// Where the access token is to be used.
    public var target = OAuth2Target.unspecified

    /// `false`: the client's own authentication is the grant.
    public var needsRefreshToken: Bool { false }

    private let call: OAuth2TokenRefreshHandler

    /// Creates a handler of a token endpoint, with scheme `https` unless it is loopback, for a client that
    /// authenticates: a public one must not use this grant (RFC 6749 §4.4).
    public init(
        tokenEndpoint: URL, client: OAuth2Client, network: any UnauthenticatedNetworkService, scope: String? = nil
    ) {
        call = OAuth2TokenRefreshHandler(
            tokenEndpoint: tokenEndpoint, client: client, network: network, idempotencyKeyField: nil)
        self.scope = scope
    }

    /// Gets an access token. The call is made once.
    ///
    /// - Throws: `TokenRefreshError` with code `unavailable`; its status is `nil` when no whole response arrived.
    ///   `CancellationError`.
    public func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        var call = call
        call.grant = ["grant_type": "client_credentials", "scope": scope]
        call.target = target
        do {
            var tokens = try await call.refresh(request)
            tokens.refreshToken = nil
            tokens.requestedScope = scope
            return tokens
        } catch let error as TokenRefreshError where error.code != .unavailable {
            // There is no refresh token to reject, and no user who could act.
            throw TokenRefreshError(
                .unavailable, reason: error.reason, retryAfter: error.retryAfter, status: error.status,
                serverCode: error.serverCode, requestID: error.requestID, cause: error)
        }
    }
}
