import AuthInterface
import AuthTesting
import Foundation
import NetworkCore
import NetworkTesting
import NetworkURLSession
import Storage
import Testing
import TokenRefresh

@testable import Plain

/// The handler of the README works as the page says.
@Suite struct PartnerRefreshTests {
    private let network = StubNetworkService()
    private let call = Endpoint<PartnerTokens>.post("renew", json: ["token": "refresh"])

    @Test func `the handler keeps the contract over real sockets`() async throws {
        let dialect = RefreshDialect(
            refreshToken: { (try? JSONDecoder().decode([String: String].self, from: $0))?["token"] },
            tokens: { Tokens(access: $0.accessToken, refresh: $0.refreshToken, seconds: 60) },
            rejection: { Refusal(code: "token_revoked", message: $0) },
            rejectionStatus: 401
        )
        try await TokenRefreshHandlerContract.check(dialect) { url in
            PartnerRefresh(network: NetworkClient(baseURL: url, transport: URLSessionTransport()))
        }
    }

    @Test func `the call waits for a late response, carries the key of the refresh, and returns the partner's tokens`()
        async throws
    {
        let tokens = Tokens(access: "access-1", refresh: "refresh-1", seconds: 60)
        let transport = StubTransport(.post("renew") ~> .json(tokens))
        let network = NetworkClient(baseURL: URL(string: "https://api.example.com")!, transport: transport)
        let request = TokenRefreshRequest(refreshToken: "refresh", idempotencyKey: "key-1")
        let result = try await PartnerRefresh(network: network).refresh(request)
        #expect(
            result == TokenRefreshResult(accessToken: "access-1", refreshToken: "refresh-1", expiresIn: .seconds(60)))
        let sent = try #require(transport.requests.first)
        #expect(sent.idleTimeout == .seconds(120))
        #expect(sent.headers["Idempotency-Key"] == request.idempotencyKey)
    }

    private struct Tokens: Encodable {
        let access: String
        let refresh: String?
        let seconds: Int
    }

    private struct Refusal: Encodable {
        let code, message: String
    }

    @Test func `the handler takes the place of the first one in the composition, and is called`() async throws {
        network.on(call, return: PartnerTokens(access: "access-1", refresh: "refresh-1", seconds: 60))
        let session = TokenRefreshCoordinator(store: MemoryTokenStore(), handler: PartnerRefresh(network: network))
        try await session.signIn(TokenRefreshResult(accessToken: "access-0", refreshToken: "refresh"))
        try await session.refresh()
        #expect(try await session.token().value == "access-1")
        #expect(await session.settle())
    }
}
