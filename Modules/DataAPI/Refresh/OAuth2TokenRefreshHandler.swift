public import AuthInterface
public import Foundation
public import NetworkCore

/// Refreshes as RFC 6749 §6 has it, and revokes as RFC 7009 has it.
///
/// It takes an `UnauthenticatedNetworkService`, so it cannot be given a client that would wait for this very refresh (G20).
///
/// What a failed call means (G4):
///
/// | response | verdict |
/// |---|---|
/// | `invalid_grant` in a JSON object, with 400, 401 or 403 | rejected |
/// | everything else: another error of RFC 6749 §5.2, another status, a page, no response | unavailable |
///
/// Of the errors of RFC 6749 §5.2 only `invalid_grant` refuses the refresh token. The others refuse the client or the
/// call: they are a mistake in the configuration, and the sessions outlive it. So does a 401, which refuses the client
/// (`invalid_client`).
public struct OAuth2TokenRefreshHandler: TokenRefreshHandler, TokenRevocationHandler {
    /// What the server forgives when the same refresh token comes again because a response was lost (G12).
    public let replayTolerance: ReplayTolerance

    /// Whether the revocation endpoint ends the session of the revoked token alone (G9).
    public let affectsRevokedSessionOnly: Bool

    private let tokenEndpoint: URL
    private let revocationEndpoint: URL?
    private let client: OAuth2Client
    private let network: any UnauthenticatedNetworkService
    private let idempotencyKeyField: String?

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - tokenEndpoint: The server's token endpoint (RFC 6749 §3.2), with scheme `https` unless it is loopback.
    ///   - revocationEndpoint: The server's revocation endpoint (RFC 7009 §2). `nil`: it has none, and no token is
    ///     revoked.
    ///   - client: How the client authenticates, at both.
    ///   - network: Sends the calls, without tokens.
    ///   - replayTolerance: What the server forgives when the same refresh token comes again. Many providers have a
    ///     grace period: `.within(.seconds(10))`. `.sameKey` needs `idempotencyKeyField`.
    ///   - idempotencyKeyField: The header field that carries the idempotency key. A server that does not know it
    ///     ignores it. `nil` sends none.
    ///   - revocationAffectsSessionOnly: Whether revoking a token ends one session alone. RFC 7009 §2.1 lets a server
    ///     end all sessions of the user with this client; say `true` only if yours does not.
    public init(
        tokenEndpoint: URL,
        revocationEndpoint: URL? = nil,
        client: OAuth2Client,
        network: any UnauthenticatedNetworkService,
        replayTolerance: ReplayTolerance = .none,
        idempotencyKeyField: String? = RESTTokenRefreshHandler.defaultIdempotencyKeyField,
        revocationAffectsSessionOnly: Bool = false
    ) {
        self.tokenEndpoint = tokenEndpoint
        self.revocationEndpoint = revocationEndpoint
        self.client = client
        self.network = network
        self.replayTolerance = replayTolerance
        self.idempotencyKeyField = idempotencyKeyField
        affectsRevokedSessionOnly = revocationAffectsSessionOnly
    }

    /// Exchanges a refresh token for new tokens. The call is made once.
    ///
    /// - Parameter request: What the call needs.
    /// - Returns: The new tokens. A new refresh token is returned even where the access token beside it cannot be used.
    /// - Throws: `TokenRefreshError`; its status is `nil` when no whole response arrived. `CancellationError`.
    public func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        let parameters: QueryItems = ["grant_type": "refresh_token", "refresh_token": request.refreshToken]
        let call: Endpoint<OAuth2TokenResponse> = client.call(parameters) { .post(.url(tokenEndpoint), body: $0) }
        let format = ObservedFormat(.dated(.json))
        do {
            let keyed = call.idempotencyKey(request.idempotencyKey, in: idempotencyKeyField).allowingLateResponse()
            let response = try await network.send(keyed.format(format))
            return try response.usable(after: request, status: format.status)
        } catch let error as NetworkError {
            let secrets = [request.refreshToken, request.accessToken, request.idempotencyKey] + client.secrets
            throw Self.verdict(on: error.withoutQuoting(secrets), body: format.refused)
        }
    }

    /// What a failed token call means.
    ///
    /// - Parameters:
    ///   - error: Why the call failed, without the call's secrets.
    ///   - body: The body of the response; `nil` where it was not kept.
    /// - Returns: *rejected* for `invalid_grant`; otherwise *unavailable*, with the pause that the server requests.
    static func verdict(on error: NetworkError, body: RefusedBody?) -> TokenRefreshError {
        let body = body ?? RefusedBody(error)
        guard error.isRefusalOfTheCall, let status = error.statusOfWholeResponse, [400, 401, 403].contains(status),
            !body.isPage
        else { return TokenRefreshError(.unavailable, error) }
        switch body.error {
        case "invalid_grant":
            return TokenRefreshError(.rejected, error, serverCode: "invalid_grant")
        case "invalid_client", "unauthorized_client":
            return TokenRefreshError(.unavailable, error, hint: "check the client's identifier and secret")
        case "invalid_request", "unsupported_grant_type", "invalid_scope":
            return TokenRefreshError(.unavailable, error, hint: "check the token endpoint and what it expects")
        default:
            let hint = "a 401 refuses the client (RFC 6749 §5.2); check its identifier and secret"
            return TokenRefreshError(.unavailable, error, hint: status == 401 ? hint : nil)
        }
    }

    /// Revokes the refresh token, and with it the access tokens made from it (RFC 7009 §2.1); where there is none, the
    /// access token. A token that the server does not know is no error.
    ///
    /// - Parameter tokens: The tokens of the session.
    /// - Throws: `NetworkError`, or `CancellationError`.
    public func revoke(_ tokens: TokenBundle) async throws {
        guard let revocationEndpoint else { return }
        let parameters: QueryItems =
            if let refreshToken = tokens.refreshToken {
                ["token": refreshToken, "token_type_hint": "refresh_token"]
            } else {
                ["token": tokens.accessToken, "token_type_hint": "access_token"]
            }
        let call: Endpoint<Void> = client.call(parameters) { .post(.url(revocationEndpoint), body: $0) }
        do {
            try await network.send(call)
        } catch let error as NetworkError {
            throw error.withoutQuoting([tokens.refreshToken, tokens.accessToken] + client.secrets)
        }
    }
}
