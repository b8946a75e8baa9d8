#if canImport(CryptoKit) || Crypto
import AuthInterface
import Foundation
import NetworkCore
import OAuth2Flows
import Storage
import TokenRefresh

// The samples of the article *Bind tokens to a key*.

private struct BoundTokens {
    let api: NetworkClient
    let server: OAuth2Server
    let store: FileTokenStore
    let userAgent: LoopbackUserAgent

    nonisolated func show(_ shown: Any?) {}

    func signIn() async throws {
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
}

// A sample of the article *Sign in*.

private struct Transfer: Decodable, Sendable { let id: Int }

extension Endpoint where Response == Transfer {
    fileprivate static func transfer(_ amount: Int) -> Self { .post("transfers", json: ["amount": amount]) }
}

private struct Transferring {
    let network: any NetworkService
    let session: TokenRefreshCoordinator
    let codeSignIn: OAuth2CodeSignIn
    let userAgent: LoopbackUserAgent

    func transfer(_ amount: Int) async throws -> Transfer {
        do {
            return try await network.send(.transfer(amount))
        } catch let error as NetworkError {
            guard let challenge = error.stepUp else { throw error }
            try await codeSignIn.stepUp(session, for: challenge, with: userAgent)
            return try await network.send(.transfer(amount))
        }
    }
}

// The samples of the article *Providers*.

private struct Providers {
    let tokenEndpoint: URL
    let client: OAuth2Client
    let api: NetworkClient
    let id = "notes"
    let secret = "secret"

    func handler() -> OAuth2TokenRefreshHandler {
        var github = OAuth2TokenRefreshHandler(tokenEndpoint: tokenEndpoint, client: client, network: api)
        github.refusals = .gitHub
        return github
    }

    func askForRefreshToken(_ googleSignIn: inout OAuth2CodeSignIn) {
        googleSignIn.pageParameters = ["access_type": "offline", "prompt": "consent"]
    }

    func slackClient() -> OAuth2Client {
        var slack = OAuth2Client.body(id: id, secret: secret)
        slack.bearerTokenTypes.insert("bot")
        return slack
    }
}
#endif
