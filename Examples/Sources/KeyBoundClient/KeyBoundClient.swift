public import AuthInterface
public import NetworkCore
public import OAuth2Flows
public import TokenRefresh

/// For an OAuth 2.0 server that binds tokens to a key (DPoP, RFC 9449), so that a stolen one is useless. Copy all of
/// it.
///
/// The sign-in makes the key of the session, the refresh and each request prove it, and the end of the session deletes
/// it. All three share one prover, which keeps the nonces of the servers.
///
/// ```swift
/// let keys = StoredSigningKeys { FileTokenStore(application: "notes.keys", account: $0) }
/// let client = KeyBoundClient(
///     server: try await .discover(issuer: issuer, network: api), id: "notes", scope: "openid notes", api: api,
///     store: FileTokenStore(application: "notes"), keys: keys)
/// try await client.signIn(with: LoopbackUserAgent { url in open(url) })
/// let notes = try await client.network.send(.notes)
/// ```
public struct KeyBoundClient: Sendable {
    /// The session. Its sign-out deletes the key.
    public let session: TokenRefreshCoordinator

    /// Sends requests, each with a proof of its own.
    public let network: any NetworkService

    private let page: OAuth2CodeSignIn

    /// - Parameters:
    ///   - server: The authorization server.
    ///   - id: The client's identifier there.
    ///   - scope: The scope to ask for.
    ///   - api: The client of the API, without tokens.
    ///   - store: Where the session is kept.
    ///   - keys: Where its key is kept: beside the session, for every process that uses it.
    public init(
        server: OAuth2Server, id: String, scope: String?, api: NetworkClient, store: any SharedTokenStore,
        keys: any SigningKeyStore
    ) {
        let prover = DPoPProver(keys: keys)
        let client = OAuth2Client.public(id: id)
        var handler = OAuth2TokenRefreshHandler(
            tokenEndpoint: server.tokenEndpoint, revocationEndpoint: server.revocationEndpoint, client: client,
            network: api)
        handler.prover = prover
        var page = OAuth2CodeSignIn(server: server, client: client, network: api, scope: scope)
        page.prover = prover
        self.page = page
        session = TokenRefreshCoordinator(store: store, handler: handler)
        network = api.authenticated(by: session, policy: AuthenticationPolicy(placement: .dpop(prover)))
    }

    /// Shows the sign-in page. The tokens are bound to a new key.
    public func signIn(with userAgent: any OAuth2UserAgent) async throws {
        try await page.start(session, with: userAgent)
    }
}
