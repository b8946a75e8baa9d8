public import AuthInterface
public import Foundation
public import NetworkCore

/// Refreshes tokens as RFC 6749 §6 defines it, and revokes them as RFC 7009 does.
///
/// It takes an `UnauthenticatedNetworkService`: an authenticated client would wait for this refresh (G20).
///
/// The meaning of a failed call (G4):
///
/// | response | verdict |
/// |---|---|
/// | `invalid_grant` in a JSON object or a form, with 400, 401 or 403 | rejected |
/// | the same beside `claims`, or a `suberror` other than `bad_token` and `token_expired` (Microsoft), or beside the `error_subtype` `invalid_rapt` (Google) | user action required |
/// | `interaction_required`, `login_required`, `consent_required`, `mfa_required` | user action required |
/// | what a rule of ``refusals`` says | its verdict |
/// | everything else: another error of RFC 6749 §5.2, `Retry-After`, another status, a page, no response | unavailable |
///
/// Of the errors of RFC 6749 §5.2 only `invalid_grant` refuses the refresh token. The others, and a 401
/// (`invalid_client`), refuse the client or the call: the configuration is wrong, and the session stays.
public struct OAuth2TokenRefreshHandler: TokenRefreshHandler, TokenRevocationHandler {
    /// Whether the server accepts the same refresh token again after a lost response (G12).
    public let replayTolerance: ReplayTolerance

    /// Whether the revocation endpoint ends the session of the revoked token alone (G9).
    public let affectsRevokedSessionOnly: Bool

    /// What the words of a provider mean that does not keep to RFC 6749: `.gitHub`, or rules of your own.
    public var refusals: [RefreshRefusalRule] = []

    /// Where the access token is to be used.
    public var target = OAuth2Target.unspecified

    #if canImport(CryptoKit) || Crypto
    /// Checks the id tokens that refreshes bring, so that the engine knows whose tokens they are (G31). `nil`: they are
    /// not looked at.
    public var idTokens: IDTokenValidator?
    #endif

    /// Proves the key to which the tokens of a session are bound (DPoP, RFC 9449). `nil`: the sessions have none.
    public var prover: DPoPProver?

    let tokenEndpoint: URL
    private let revocationEndpoint: URL?
    let client: OAuth2Client
    let network: any UnauthenticatedNetworkService
    /// The parameters of a grant that spends no refresh token. `nil`: the refresh token is sent.
    var grant: QueryItems?
    private let idempotencyKeyField: String?

    /// Creates a handler of a token endpoint (RFC 6749 §3.2), with scheme `https` unless it is loopback, and of a
    /// revocation endpoint (RFC 7009 §2), without which no token is revoked. Many providers accept the same refresh
    /// token again for a grace period: `.within(.seconds(10))`. The tolerance `.sameKey` needs a field for the
    /// idempotency key; servers ignore fields that they do not know, and `nil` sends none. RFC 7009 §2.1 allows a
    /// server to end all sessions of the user with this client: pass `true` for `revocationAffectsSessionOnly` only if
    /// yours ends that token's session only.
    public init(
        tokenEndpoint: URL,
        revocationEndpoint: URL? = nil,
        client: OAuth2Client,
        network: any UnauthenticatedNetworkService,
        replayTolerance: ReplayTolerance = .none,
        idempotencyKeyField: String? = "Idempotency-Key",
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

    /// Exchanges a refresh token for new tokens. The call is made once. A new refresh token is returned even if the
    /// access token beside it cannot be used.
    ///
    /// - Throws: `TokenRefreshError`; its status is `nil` when no whole response arrived. `CancellationError`.
    public func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        // G28: until all that the call needs is here, no byte of it is written.
        request.startPermit?.adopt()
        #if canImport(CryptoKit) || Crypto
        // Rule 12: nothing is waited for once the refresh token is spent, so the keys are fetched before, or are late.
        if let idTokens, idTokens.needsKeys { await idTokens.fetchKeys() }
        #endif
        do {
            let key = try await key(for: request)
            var result = try await perform(request, with: key)
            result.binding = key?.binding
            return result
        } catch let error as OAuth2SignInError {
            // The key of the client or of the session cannot be used now.
            throw TokenRefreshError(.unavailable, reason: error.reason, cause: error)
        }
    }

    /// Makes the call, once the client's key has signed it, with a proof of the key to which the tokens are bound.
    ///
    /// - Throws: `NetworkError`, with secrets of the call; ``OAuth2SignInError`` when the client's key cannot be used
    ///   now; `TokenRefreshError` when it is too late, and for a response without a usable token.
    func exchange(
        _ request: TokenRefreshRequest, proof: String?
    ) async throws -> (TokenRefreshResult, HTTPResponseHead) {
        var parameters = grant ?? ["grant_type": "refresh_token", "refresh_token": request.refreshToken]
        parameters.append(target)
        var call = try await client.call(parameters) { Endpoint.tokens(at: tokenEndpoint, $0) }
            .idempotencyKey(request.idempotencyKey, in: idempotencyKeyField)
            .allowingLateResponse(to: request)
        if let proof { call = call.header("DPoP", proof) }
        guard request.startPermit?.handOver() ?? true else {
            throw TokenRefreshError(
                .unavailable,
                reason: "too late for a call: the keys of id tokens, the client's key or a proof took too long")
        }
        let (response, head) = try await network.send(call.map { ($0, $1) })
        var tokens = try response.usable(after: request, of: client, status: head.status)
        noteSubject(of: response, in: &tokens)
        return (tokens, head)
    }

    /// Whose tokens came, where an id token says so.
    private func noteSubject(of response: OAuth2TokenResponse, in tokens: inout TokenRefreshResult) {
        #if canImport(CryptoKit) || Crypto
        guard let idTokens, let text = response.idToken else { return }
        do throws(IDTokenError) {
            tokens.subject = try idTokens.subject(ofRefreshed: text, at: response.serverDate)
        } catch {
            tokens.claimedSubject = idTokens.claimedSubject(of: text)
            tokens.idTokenProblem = error.reason
        }
        #endif
    }

    /// The texts that no error of a refresh may hold.
    func secrets(of request: TokenRefreshRequest) -> [String?] {
        [request.refreshToken, request.accessToken, request.idempotencyKey] + client.secrets
    }

    /// The meaning of a failed token call, whose secrets were removed, for the session.
    func verdict(on error: NetworkError, withoutQuoting secrets: [String?]) -> TokenRefreshError {
        guard let refusal = TokenCallRefusal(error) else {
            let isBare = error.isRefusalOfTheCall && error.statusOfWholeResponse == 401 && !error.isPage
            return TokenRefreshError(.unavailable, error, hint: isBare ? Self.hintForClient : nil)
        }
        let isDead = refusal.body.text(at: "error") == "invalid_grant"
        let found = refusal.verdict(by: refusals + (isDead ? [.invalidGrant] : []), withoutQuoting: secrets)
        if let (verdict, code, stepUp) = found, verdict != .unavailable {
            return TokenRefreshError(verdict, error, serverCode: code, stepUp: stepUp)
        }
        let hint =
            Self.hint(refusal.body.text(at: "error")) ?? (refusal.status == 401 ? Self.hintForClient : nil)
            ?? (found == nil ? refusal.hintForUnlistedCode(withoutQuoting: secrets) : nil)
        return TokenRefreshError(.unavailable, error, serverCode: found?.serverCode, hint: hint)
    }

    private static let hintForClient = "a 401 refuses the client (RFC 6749 §5.2); check its identifier and secret"

    private static let orDeadToken = "; if a dead refresh token is refused so, add a RefreshRefusalRule with a text"

    private static func hint(_ code: String?) -> String? {
        switch code {
        case "invalid_client": "check the client's identifier and secret or key"
        case "unauthorized_client": "check the client's identifier and secret or key" + orDeadToken
        case "invalid_target": "check the resources and audiences of the target"
        case "use_dpop_nonce", "invalid_dpop_proof": "the server did not accept the proof of the key (DPoP)"
        case "invalid_request", "unsupported_grant_type", "invalid_scope":
            "check the token endpoint and what it expects" + orDeadToken
        default: nil
        }
    }

    /// Revokes the refresh token and the access tokens issued for it (RFC 7009 §2.1); without a refresh token, the
    /// access token. A token that the server does not know is not an error.
    ///
    /// - Throws: `NetworkError`; ``OAuth2SignInError`` when the client's key cannot be used now; `CancellationError`.
    public func revoke(_ tokens: TokenBundle) async throws {
        guard let revocationEndpoint else { return }
        let parameters: QueryItems = [
            "token": tokens.refreshToken ?? tokens.accessToken,
            "token_type_hint": tokens.refreshToken == nil ? "access_token" : "refresh_token",
        ]
        do {
            // RFC 7009 §2.2: the status says it, and the body does not count.
            _ = try await client.send(parameters, to: revocationEndpoint, over: network) {
                Endpoint.request(.post, .url(revocationEndpoint), body: $0)
            }
        } catch let error as NetworkError {
            throw error.withoutQuoting([tokens.refreshToken, tokens.accessToken] + client.secrets)
        }
    }
}

extension RefreshRefusalRule {
    /// The error of RFC 6749 §5.2 that refuses the refresh token.
    fileprivate static let invalidGrant = RefreshRefusalRule(["invalid_grant"])
}
