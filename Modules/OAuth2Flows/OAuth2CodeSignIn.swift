#if canImport(CryptoKit) || Crypto
public import AuthInterface
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
    private let server: OAuth2Server
    private let client: OAuth2Client
    private let network: any UnauthenticatedNetworkService
    private let scope: String?

    /// Creates a sign-in.
    ///
    /// - Parameters:
    ///   - server: The server. It must have an authorization endpoint, and must not exclude the method S256.
    ///   - client: How the client authenticates.
    ///   - network: Sends the calls, without tokens.
    ///   - scope: The scope to ask for, separated by spaces.
    public init(
        server: OAuth2Server,
        client: OAuth2Client,
        network: any UnauthenticatedNetworkService,
        scope: String? = nil
    ) {
        self.server = server
        self.client = client
        self.network = network
        self.scope = scope
    }

    /// Shows the sign-in page, and exchanges the code of its response for tokens. Cancel the task to give up.
    ///
    /// - Parameters:
    ///   - session: The session to start.
    ///   - userAgent: Shows the page and receives the response.
    /// - Throws: ``OAuth2SignInError``; the errors of the session's `signIn`; `CancellationError`. An earlier session
    ///   stays.
    public func start(_ session: any AuthSession, with userAgent: any OAuth2UserAgent) async throws {
        guard let endpoint = server.authorizationEndpoint else {
            throw OAuth2SignInError(.unsupported, reason: "the server has no authorization endpoint")
        }
        guard server.codeChallengeMethods?.contains("S256") ?? true else {
            throw OAuth2SignInError(.unsupported, reason: "the server does not support PKCE with S256")
        }
        let pkce = PKCE()
        let page = OAuth2SignInPage(
            endpoint: endpoint, clientID: client.id, scope: scope, state: PKCE.randomText(), challenge: pkce.challenge)
        let (response, redirectURI) = try await userAgent.response(to: page)
        let code = try page.code(in: response, redirectURI: redirectURI, of: server)
        try await session.signIn(try await tokens(for: code, redirectURI: redirectURI, pkce.verifier))
    }

    /// Exchanges the code. The call is made once: a code is valid once.
    private func tokens(for code: String, redirectURI: URL, _ verifier: String) async throws -> TokenRefreshResult {
        let parameters: QueryItems = [
            "grant_type": "authorization_code", "code": code, "redirect_uri": redirectURI.absoluteString,
            "code_verifier": verifier,
        ]
        let plain: Endpoint<OAuth2TokenResponse> = client.call(parameters) {
            .post(.url(server.tokenEndpoint), body: $0)
        }
        let call = plain.map { response, head in response.issued(at: head.serverDate) }
        do {
            return try await network.send(call).tokensOfSignIn()
        } catch let error as NetworkError {
            throw OAuth2SignInError(error, without: [code, verifier] + client.secrets)
        }
    }
}
#endif
