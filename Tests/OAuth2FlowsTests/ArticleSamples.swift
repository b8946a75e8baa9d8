#if canImport(CryptoKit) || Crypto
import Foundation
import NetworkCore
import OAuth2Flows
import Storage
import TokenRefresh

private struct Transfer: Decodable, Sendable { let id: Int }

extension Endpoint where Response == Transfer {
    fileprivate static func transfer(_ amount: Int) -> Self { .post("transfers", json: ["amount": amount]) }
}

/// The samples of the articles *Bind tokens to a key*, *Sign in* and *Providers*.
private struct ArticleSamples {
    let api: NetworkClient
    let server: OAuth2Server
    let client: OAuth2Client
    let store: FileTokenStore
    let userAgent: LoopbackUserAgent

    nonisolated func show(_ shown: Any?) {}

    func bindTokensToAKey() async throws {
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

    func transfer(
        _ amount: Int, over network: any NetworkService, _ session: TokenRefreshCoordinator,
        _ codeSignIn: OAuth2CodeSignIn
    ) async throws -> Transfer {
        do {
            return try await network.send(.transfer(amount))
        } catch let error as NetworkError {
            guard let challenge = error.stepUp else { throw error }
            try await codeSignIn.stepUp(session, for: challenge, with: userAgent)
            return try await network.send(.transfer(amount))
        }
    }

    func setUpProviders(_ tokenEndpoint: URL, id: String, secret: String, _ googleSignIn: inout OAuth2CodeSignIn) {
        var github = OAuth2TokenRefreshHandler(tokenEndpoint: tokenEndpoint, client: client, network: api)
        github.refusals = .gitHub

        googleSignIn.pageParameters = ["access_type": "offline", "prompt": "consent"]

        var slack = OAuth2Client.body(id: id, secret: secret)
        slack.bearerTokenTypes.insert("bot")
        show([github, slack] as [Any])
    }
}
#endif
