import AuthInterface
import DataAPI
import Foundation
import NetworkCore
import OAuth2Flows
import Storage
import TokenRefresh

// The samples of the articles of `OAuth2Flows` and of its page.

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

    #if canImport(CryptoKit) || Crypto
    private struct Profile: Decodable {
        let email: String?
    }

    func withOpenID(_ server: OAuth2Server, _ client: OAuth2Client, userAgent: LoopbackUserAgent) async throws {
        let codeSignIn = OAuth2CodeSignIn(server: server, client: client, network: api, scope: "openid email notes")
        if let user = try await codeSignIn.start(session, with: userAgent) {
            show((user.issuer, user.subject, try user.decode(Profile.self).email))
        }

        let idTokens = IDTokenValidator(server: server, client: client, network: api, maximumKeyAge: .seconds(600))
        var handler = OAuth2TokenRefreshHandler(tokenEndpoint: server.tokenEndpoint, client: client, network: api)
        handler.idTokens = idTokens
        show(handler)
    }

    func atStricterServers(_ server: OAuth2Server, file: URL, notes: URL) throws {
        let key = try OAuth2ClientKey(pem: String(contentsOf: file, encoding: .utf8))
        let client = OAuth2Client.privateKey(id: "gateway", key: key, issuer: server.issuer, keyID: "2026-11")

        var signIn = OAuth2CodeSignIn(server: server, client: client, network: api, scope: "notes")
        signIn.pushesRequest = true

        signIn.target = try OAuth2Target(resources: [notes])
        var handler = OAuth2TokenRefreshHandler(tokenEndpoint: server.tokenEndpoint, client: client, network: api)
        handler.target = try OAuth2Target(resources: [notes])
        show([signIn, handler])
    }

    func bound(_ server: OAuth2Server, _ store: FileTokenStore, _ userAgent: LoopbackUserAgent) async throws {
        let keys = StoredSigningKeys { FileTokenStore(application: "notes.keys", account: $0) }
        let prover = DPoPProver(keys: keys)

        var handler = OAuth2TokenRefreshHandler(
            tokenEndpoint: server.tokenEndpoint, client: .public(id: "notes"), network: api)
        handler.prover = prover
        let session = TokenRefreshCoordinator(store: store, handler: handler)

        var signIn = OAuth2CodeSignIn(server: server, client: .public(id: "notes"), network: api, scope: "notes")
        signIn.prover = prover
        try await signIn.start(session, with: userAgent)

        let network = api.authenticated(by: session, policy: AuthenticationPolicy(placement: .dpop(prover)))
        show(network)
    }

    func atProviders(
        _ tokenEndpoint: URL, _ client: OAuth2Client, id: String, secret: String, _ googleSignIn: inout OAuth2CodeSignIn
    ) {
        var github = OAuth2TokenRefreshHandler(tokenEndpoint: tokenEndpoint, client: client, network: api)
        github.refusals = .gitHub

        googleSignIn.pageParameters = ["access_type": "offline", "prompt": "consent"]

        var slack = OAuth2Client.body(id: id, secret: secret)
        slack.bearerTokenTypes.insert("bot")
        show([github, slack] as [Any])
    }
    #endif
}
