import AuthInterface
import DataAPI
import Foundation
import NetworkCore
import OAuth2Flows
import TokenRefresh

// The samples of the article *Sign in*, and of the page of `OAuth2Flows`.

private struct SignIns {
    let api: NetworkClient
    let network: any NetworkService
    let session: TokenRefreshCoordinator
    let issuer: URL
    let photo: Data

    nonisolated func show(_ shown: Any?) {}

    func asGuest(identityToken: String, access: String, refresh: String) async throws {
        let login = AuthService(unauthenticated: api, network: network, session: session)
        let guest = try await login.registerGuest(name: "Ada", photo: photo) { progress in show(progress.fraction) }
        let user = try await login.socialLogin(.apple, token: identityToken)
        let upgraded = try await login.upgradeGuest(.apple, token: identityToken)
        show([guest, user, upgraded])

        try await session.signIn(
            TokenRefreshResult(accessToken: access, refreshToken: refresh, expiresIn: .seconds(900)))
    }

    func withOAuth2(open: @escaping @Sendable (URL) throws -> Void) async throws {
        let server = try await OAuth2Server.discover(issuer: issuer, network: api)
        let client = OAuth2Client.public(id: "notes")

        #if canImport(CryptoKit) || Crypto
        try await OAuth2CodeSignIn(server: server, client: client, network: api, scope: "notes")
            .start(session, with: LoopbackUserAgent { url in try open(url) })
        #endif

        let device = OAuth2DeviceSignIn(server: server, client: client, network: api, scope: "notes")
        try await device.start(session) { code in
            print("Open \(code.verificationURI) and enter \(code.userCode)")
        }

        let handler = OAuth2TokenRefreshHandler(
            tokenEndpoint: server.tokenEndpoint, revocationEndpoint: server.revocationEndpoint, client: client,
            network: api)
        show(handler)
    }
}
