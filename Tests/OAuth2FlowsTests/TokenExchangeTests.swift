import AuthInterface
import ContractTesting
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import NetworkURLSession
import OAuth2Flows
import Testing

/// Token exchange (RFC 8693), over real sockets where redirects and refusals are concerned.
@Suite(.timeLimit(.minutes(10))) struct TokenExchangeTests {
    private static let issued = """
        {"access_token":"fixture-exchanged","issued_token_type":"urn:ietf:params:oauth:token-type:access_token",\
        "token_type":"Bearer","expires_in":60,"scope":"read"}
        """

    private func exchange(_ provider: LoopbackProvider) -> OAuth2TokenExchange {
        OAuth2TokenExchange(
            tokenEndpoint: provider.url.appendingPathComponent("token"),
            client: .basic(id: "gateway", secret: "fixture-secret"), network: provider.network)
    }

    @Test func `an exchange sends the form of RFC 8693, and returns what was issued`() async throws {
        let provider = try LoopbackProvider { _ in .json(Self.issued) }
        var exchange = exchange(provider)
        exchange.target = try OAuth2Target(
            resources: [.api, .tokenEndpoint], audiences: ["billing", "stock"])
        (exchange.scope, exchange.requestedType) = ("read", .accessToken)
        let token = try await exchange.exchange(
            OAuth2Token("fixture-subject", .jwt), actor: OAuth2Token("fixture-actor", .idToken))
        let call = try #require(provider.calls.first)
        #expect(call["grant_type"] == ["urn:ietf:params:oauth:grant-type:token-exchange"])
        #expect(call["subject_token"] == ["fixture-subject"])
        #expect(call["subject_token_type"] == ["urn:ietf:params:oauth:token-type:jwt"])
        #expect(call["actor_token"] == ["fixture-actor"])
        #expect(call["actor_token_type"] == ["urn:ietf:params:oauth:token-type:id_token"])
        #expect(call["requested_token_type"] == ["urn:ietf:params:oauth:token-type:access_token"])
        #expect(call["resource"] == [URL.api.absoluteString, URL.tokenEndpoint.absoluteString])
        #expect(call["audience"] == ["billing", "stock"] && call["scope"] == ["read"])
        #expect(call.authorization?.hasPrefix("Basic ") == true)
        #expect(token.value == "fixture-exchanged" && token.type == .accessToken && token.isBearer)
        #expect(token.expiresIn == .seconds(60) && token.scope == "read" && token.refreshToken == nil)
    }

    @Test func `what was not asked for is not sent`() async throws {
        let provider = try LoopbackProvider { _ in .json(Self.issued) }
        _ = try await exchange(provider).exchange(OAuth2Token("fixture-subject", .accessToken))
        #expect(provider.calls.first?.names == ["grant_type", "subject_token", "subject_token_type"])
    }

    /// Requested type, issued type, how it is sent; whether it may be used.
    static let types: [(requested: OAuth2TokenType?, issued: String?, use: String?, isUsable: Bool)] = [
        (nil, "access_token", "bearer", true), (nil, "jwt", "N_A", true), (nil, "jwt", "Bearer", true),
        (.jwt, "jwt", "n_a", true), (.accessToken, "access_token", "Bearer", true),
        (.accessToken, "jwt", "Bearer", false), (.jwt, "access_token", "Bearer", false),
        (nil, "access_token", "N_A", false), (nil, "access_token", "mac", false), (nil, "jwt", "mac", false),
        (nil, nil, "Bearer", false), (nil, "access_token", nil, false),
    ]

    @Test(arguments: types.indices)
    func `a token of another type than was asked for is not returned`(_ index: Int) async throws {
        let (requested, issued, use, isUsable) = Self.types[index]
        var members = [#""access_token":"fixture-exchanged""#]
        if let issued { members.append(#""issued_token_type":"urn:ietf:params:oauth:token-type:\#(issued)""#) }
        if let use { members.append(#""token_type":"\#(use)""#) }
        let body = "{\(members.joined(separator: ","))}"
        let provider = try LoopbackProvider { _ in .json(body) }
        var exchange = exchange(provider)
        exchange.requestedType = requested
        do {
            let token = try await exchange.exchange(OAuth2Token("fixture-subject", .accessToken))
            #expect(isUsable && token.value == "fixture-exchanged", "\(body)")
        } catch let error as OAuth2SignInError {
            #expect(!isUsable && error.code == .invalidResponse, "\(body): \(error)")
        }
    }

    static let refusals: [(status: Int, body: String, code: String, serverCode: String?)] = [
        (400, #"{"error":"invalid_target"}"#, "refused", "invalid_target"),
        (400, #"{"error":"invalid_request"}"#, "refused", "invalid_request"),
        (401, #"{"error":"invalid_client"}"#, "refused", "invalid_client"), (503, "", "unavailable", nil),
        (200, "{}", "invalidResponse", nil),
    ]

    @Test(arguments: refusals.indices)
    func `a refused exchange has a typed error, is made once, and quotes no token`(_ index: Int) async throws {
        let (status, body, code, serverCode) = Self.refusals[index]
        let quoting = body.replacingOccurrences(
            of: "}", with: #","error_description":"fixture-subject fixture-actor fixture-secret"}"#)
        let provider = try LoopbackProvider { _ in .json(quoting, status: status) }
        let error = await signInError {
            try await exchange(provider).exchange(
                OAuth2Token("fixture-subject", .accessToken), actor: OAuth2Token("fixture-actor", .accessToken))
        }
        let failure = try #require(error)
        #expect(failure.code.rawValue == code && failure.serverCode == serverCode)
        #expect(provider.calls.count == 1)
        var text = "\(failure) \(String(reflecting: failure))"
        dump(failure, to: &text)
        for secret in ["fixture-subject", "fixture-actor", "fixture-secret"] { #expect(!text.contains(secret)) }
    }

    @Test(arguments: RedirectingServer.Redirect.all)
    func `G15: an exchange follows no redirect`(_ redirect: RedirectingServer.Redirect) async throws {
        let server = try RedirectingServer(redirect, to: Self.issued)
        let exchange = OAuth2TokenExchange(
            tokenEndpoint: server.url.appendingPathComponent("token"), client: .public(id: "a"),
            network: NetworkClient(baseURL: server.url, transport: URLSessionTransport()))
        let error = await signInError { try await exchange.exchange(OAuth2Token("fixture-subject", .accessToken)) }
        #expect(error?.code == .redirected)
        #expect(server.followers == 0 && server.calls.count == 1)
    }

    @Test func `G16: no token is exchanged over plain http`() async throws {
        let transport = StubTransport()
        let endpoint = try #require(URL(string: "http://id.example.com/token"))
        let exchange = OAuth2TokenExchange(
            tokenEndpoint: endpoint, client: .public(id: "a"), network: NetworkClient(transport))
        _ = await signInError { try await exchange.exchange(OAuth2Token("fixture-subject", .accessToken)) }
        #expect(transport.requests.isEmpty)
    }

    @Test func `no description shows a token`() async throws {
        let provider = try LoopbackProvider { _ in .json(Self.issued) }
        let token = try await exchange(provider).exchange(OAuth2Token("fixture-subject", .accessToken))
        var text = "\(token) \(OAuth2Token("fixture-subject", .jwt))"
        dump(token, to: &text)
        dump(OAuth2Token("fixture-subject", .jwt), to: &text)
        #expect(!text.contains("fixture-"))
    }
}
