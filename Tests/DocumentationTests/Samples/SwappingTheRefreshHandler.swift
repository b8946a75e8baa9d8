// swift-format-ignore-file: NeverForceUnwrap

import AuthInterface
import DataAPI
import Foundation
import NetworkCore
import OAuth2Flows
import TokenRefresh

// The samples of the article *Swap the refresh handler*.

struct PartnerRefresh: TokenRefreshHandler {
    let network: any UnauthenticatedNetworkService  // adds no tokens, so a refresh cannot wait for itself

    func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        let call = Endpoint<PartnerTokens>.post("renew", json: ["token": request.refreshToken])
            .allowingLateResponse(to: request)  // a late response has the only valid token: wait for it
            .idempotencyKey(request.idempotencyKey, in: "Idempotency-Key")
        do {
            let tokens = try await network.send(call)
            return TokenRefreshResult(
                accessToken: tokens.access, refreshToken: tokens.refresh, expiresIn: .seconds(tokens.seconds))
        } catch let error as NetworkError {
            let isRejected = error.serverError?.code == "token_revoked"  // only a rejection ends the session
            throw TokenRefreshError(isRejected ? .rejected : .unavailable, error)
        }
    }
}

nonisolated struct PartnerTokens: Decodable {
    let access, refresh: String
    let seconds: Int
}

enum LegacyFailure: Error {
    case refused(status: Int, code: String?)
    case noResponse
}

struct LegacyRefresh: TokenRefreshHandler {
    typealias Completion = @Sendable (Result<PartnerTokens, any Error>) -> Void
    let call: @Sendable (_ refreshToken: String, _ completion: @escaping Completion) -> Void

    func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        do {
            let tokens = try await withCheckedThrowingContinuation { continuation in
                call(request.refreshToken) { continuation.resume(with: $0) }
            }
            return TokenRefreshResult(
                accessToken: tokens.access, refreshToken: tokens.refresh, expiresIn: .seconds(tokens.seconds))
        } catch LegacyFailure.refused(let status, let code) {
            let isRejected = status == 400 && code == "token_revoked"  // the refresh token is dead, and nothing else
            throw TokenRefreshError(isRejected ? .rejected : .unavailable, status: status, serverCode: code)
        }
    }
}

private func handlers(api: NetworkClient, store: any TokenStore, secret: String) {
    let session = TokenRefreshCoordinator(store: store, handler: PartnerRefresh(network: api))

    let tokenEndpoint = URL(string: "https://id.example.com/oauth2/token")!
    let oauth2 = OAuth2TokenRefreshHandler(
        tokenEndpoint: tokenEndpoint, client: .public(id: "notes"), network: api,
        replayTolerance: .within(.seconds(10)))

    let service = OAuth2ClientCredentials(
        tokenEndpoint: tokenEndpoint, client: .basic(id: "reports", secret: secret), network: api, scope: "reports")

    var dialect = RESTTokenDialect.snakeCase
    dialect.refreshPath = "token/renew"
    let rest = RESTTokenRefreshHandler(
        network: api, dialect: dialect, rejection: .codes(["TOKEN_DEAD"]), replayTolerance: .sameKey)

    _ = (session, oauth2, service, rest)
}
