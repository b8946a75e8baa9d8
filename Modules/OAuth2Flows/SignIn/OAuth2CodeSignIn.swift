#if canImport(CryptoKit) || Crypto
public import AuthInterface
public import ConcurrencyPrimitives
import Foundation
public import NetworkCore

/// Signs in with a browser: authorization code with PKCE (RFC 6749 §4.1, RFC 7636).
///
/// On Linux it needs the package trait `Crypto`.
///
/// ```swift
/// let signIn = OAuth2CodeSignIn(server: server, client: .public(id: "app"), network: client)
/// try await signIn.start(session, with: LoopbackUserAgent { url in open(url) })
/// ```
public struct OAuth2CodeSignIn: Sendable {
    /// Where the access token is to be used.
    public var target = OAuth2Target.unspecified

    /// More parameters of the page, or of the request that is pushed, which the server reads: `access_type`, `prompt`,
    /// `login_hint`, `organization`. What a step-up demands takes the place of one with its name. A name that the
    /// sign-in sets itself fails it with the code `unsupported` before a page is shown: such as `state` and `scope`,
    /// and `resource` where ``target`` has one.
    public var pageParameters = QueryItems()

    /// More parameters of the call that exchanges the code, under the same rule.
    public var tokenParameters = QueryItems()

    /// Whether the request is sent to the server before the page is opened (RFC 9126), so that the browser sees none of
    /// it. It always is where the server requires it.
    public var pushesRequest = false

    /// Makes a key for the session and proves it, so that the tokens are bound to it (DPoP, RFC 9449). `nil`: they are
    /// bearer tokens. Set the one of the refresh handler.
    public var prover: DPoPProver?

    /// The clock for the lifetime of what the server returns, and of ``OAuth2SignInState``.
    public var clock: any TimeSource = SystemTimeSource()

    /// How long the user has between ``begin(redirectingTo:)`` and ``finish(callback:state:)``: 10 minutes by default.
    /// With ``start(_:with:)``, the user agent says it.
    public var maximumDuration = Duration.seconds(10 * 60)

    /// Checks the id token, where `openid` is in the scope. Set the one of the refresh handler, and both share the
    /// server's keys.
    public var idTokens: IDTokenValidator

    /// The scope to ask for.
    var scope: String?

    /// What the page asks for because a server demands it of the user (RFC 9470).
    var demanded = QueryItems()

    /// What the sign-in sets itself, on the page and at the token endpoint.
    private static let ownNames: Set = [
        "response_type", "client_id", "redirect_uri", "state", "scope", "nonce", "code_challenge",
        "code_challenge_method", "dpop_jkt", "request", "request_uri", "grant_type", "code", "code_verifier",
        "client_secret", "client_assertion", "client_assertion_type",
    ]

    let server: OAuth2Server
    let client: OAuth2Client
    private let network: any UnauthenticatedNetworkService

    /// Creates a sign-in. The server must have an authorization endpoint, and must not exclude the method S256. The
    /// scope is separated by spaces.
    public init(
        server: OAuth2Server, client: OAuth2Client, network: any UnauthenticatedNetworkService, scope: String? = nil
    ) {
        self.server = server
        self.client = client
        self.network = network
        self.scope = scope
        client.assertion?.suppose(server.clock.shown)
        idTokens = IDTokenValidator(server: server, client: client, network: network)
    }

    /// Shows the sign-in page, exchanges the code of its response for tokens, and starts the session. Cancel the task
    /// to give up. Returns who has signed in, after all checks of OpenID Connect; `nil`: `openid` is not in the scope.
    ///
    /// - Throws: ``OAuth2SignInError``; the errors of the session's `signIn`; `CancellationError`. An earlier session
    ///   stays.
    @discardableResult
    public func start(_ session: any AuthSession, with userAgent: any OAuth2UserAgent) async throws -> IDToken? {
        let (tokens, idToken) = try await DPoPTokenCall.withNewKey(of: prover) { key in
            try await self.tokens(with: userAgent, key)
        }
        try await session.signIn(tokens)
        return idToken
    }

    /// Shows the page, and finishes with its response: both halves in one process, so that the user agent sets the
    /// time.
    func tokens(
        with userAgent: any OAuth2UserAgent, _ key: DPoPTokenCall?
    ) async throws -> (TokenRefreshResult, IDToken?) {
        let page = try page(key)
        let (callback, redirectURI) = try await userAgent.response(to: page)
        return try await finish(callback: callback, state: page.state(redirectURI, expiresAt: .distantFuture))
    }

    /// The page of a sign-in that begins now.
    func page(_ key: DPoPTokenCall?) throws(OAuth2SignInError) -> OAuth2SignInPage {
        guard let endpoint = server.authorizationEndpoint else {
            throw OAuth2SignInError(.unsupported, reason: "the server has no authorization endpoint")
        }
        guard server.codeChallengeMethods?.contains("S256") ?? true else {
            throw OAuth2SignInError(.unsupported, reason: "the server does not support PKCE with S256")
        }
        let isPushed = pushesRequest || server.requiresPushedAuthorizationRequests
        let pushEndpoint = isPushed ? server.pushedAuthorizationRequestEndpoint : nil
        guard !isPushed || pushEndpoint != nil else {
            throw OAuth2SignInError(.unsupported, reason: "the server has no pushed_authorization_request_endpoint")
        }
        let pkce = PKCE()
        let nonce = scope.asksForIDToken ? PKCE.randomText() : nil
        var request: QueryItems = ["scope": scope]
        request.append(target)
        try checkParameters(beside: request)
        request.append("nonce", nonce)
        request.append(contentsOf: demanded)
        // RFC 9449 §10: a code that is stolen is of no use without the key.
        request.append("dpop_jkt", key?.thumbprint)
        request.append("code_challenge", pkce.challenge)
        request.append("code_challenge_method", "S256")
        request.append(contentsOf: pageParameters.without(demanded.names))
        return OAuth2SignInPage(
            endpoint: endpoint, clientID: client.id, issuer: server.issuer, state: PKCE.randomText(), pkce: pkce,
            nonce: nonce, thumbprint: key?.thumbprint, request: request,
            push: pushEndpoint.map { endpoint in
                { @Sendable request in try await reference(to: request, at: endpoint, key) }
            })
    }

    private func checkParameters(beside request: QueryItems) throws(OAuth2SignInError) {
        // Some servers ignore the case of names.
        let own = Self.ownNames.union(request.names)
        let names = (pageParameters.names + tokenParameters.names).map { $0.lowercased() }
        guard let name = names.first(where: own.contains) else { return }
        throw OAuth2SignInError(
            .unsupported, reason: "the sign-in sets the parameter \(name) itself: remove it from the other parameters")
    }

    /// Sends an authorization request to the server (RFC 9126 §2), and returns its reference.
    private func reference(to request: QueryItems, at endpoint: URL, _ key: DPoPTokenCall?) async throws -> String {
        let start = clock.uptime
        do {
            let pushed: PushedRequest = try await client.send(
                request, to: endpoint, namesClient: true, with: key, over: network
            ) { .post(.url(endpoint), body: $0) }
            // Counted from the sending of the call, so that a slow response is not taken for a fresh one.
            if let lifetime = pushed.lifetime, clock.uptime - start >= lifetime {
                throw OAuth2SignInError(.expired, reason: "the reference to the request had expired when it arrived")
            }
            return pushed.reference
        } catch let error as NetworkError {
            throw OAuth2SignInError(error, without: client.secrets)
        }
    }

    /// Exchanges the code. The call is made once: a code is valid once.
    func tokens(
        for code: String, _ state: OAuth2SignInState, _ key: DPoPTokenCall?
    ) async throws -> OAuth2TokenResponse {
        var parameters: QueryItems = [
            "grant_type": "authorization_code", "code": code, "redirect_uri": state.redirectURI.absoluteString,
            "code_verifier": state.verifier,
        ]
        parameters.append(target)
        parameters.append(contentsOf: tokenParameters)
        do {
            return try await client.send(parameters, to: server.tokenEndpoint, with: key, over: network) {
                .tokens(at: server.tokenEndpoint, $0)
            }
        } catch let error as NetworkError {
            throw OAuth2SignInError(error, without: [code, state.verifier] + client.secrets)
        }
    }
}

/// The response of a pushed authorization request endpoint (RFC 9126 §2.2).
private struct PushedRequest: Decodable, Sendable {
    /// The reference to the request. It is used once.
    let reference: String

    /// How long it may be used. `nil`: the server does not say.
    let lifetime: Duration?

    private enum CodingKeys: String, CodingKey {
        case requestURI = "request_uri"
        case expiresIn = "expires_in"
    }

    init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        reference = try object.decode(String.self, forKey: .requestURI)
        guard !reference.isEmpty else {
            throw DecodingError.dataCorruptedError(forKey: .requestURI, in: object, debugDescription: "empty")
        }
        lifetime = object.decodeLifetimeIfPresent(forKey: .expiresIn)
    }
}
#endif
