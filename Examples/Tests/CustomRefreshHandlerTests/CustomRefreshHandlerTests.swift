import AuthInterface
import AuthTesting
import CustomRefreshHandler
import Foundation
import NetworkAsyncHTTPClient
import NetworkCore
import NetworkTesting
import Testing

@Suite(.timeLimit(.minutes(20))) struct CustomRefreshHandlerTests {
    @Test func `the handler keeps the contract`() async throws {
        try await TokenRefreshHandlerContract.check(.acme) { url in
            AcmeTokenRefreshHandler(network: NetworkClient(baseURL: url, transport: AsyncHTTPClientTransport()))
        }
    }

    /// Acme has spent the old token, whatever is wrong beside the new one.
    @Test(
        arguments: [
            (#""door": "door-1", "minutes": 15"#, "door-1", .seconds(900)),
            (#""door": "door-1", "minutes": 9223372036854775807"#, "door-1", nil),
            (#""door": "door-1", "minutes": -1"#, "door-1", nil),
            (#""door": "door-1", "minutes": "15""#, "door-1", nil),
            (#""door": "door-1", "minutes": 1.5"#, "door-1", .seconds(90)), (#""door": 7"#, "", nil),
            (#""x": 0"#, "", nil),
        ] as [(String, String, Duration?)])
    func `a renewed token is kept whatever is beside it`(members: String, door: String, time: Duration?) async throws {
        let body = Data(#"{"keys": {"renewal": "renewal-1", \#(members)}}"#.utf8)
        let response = StubResponse.status(200, headers: ["Content-Type": "application/json"], body: body)
        let url = try #require(URL(string: "https://acme.example.com"))
        let network = NetworkClient(baseURL: url, transport: StubTransport(.post("keys/renew") ~> response))
        let tokens = try await AcmeTokenRefreshHandler(network: network)
            .refresh(TokenRefreshRequest(refreshToken: "renewal-0"))
        #expect(tokens.refreshToken == "renewal-1" && tokens.accessToken == door && tokens.expiresIn == time)
    }
}

extension RefreshDialect {
    /// How Acme reads and writes, so that the contract can play it.
    static let acme = RefreshDialect(
        refreshToken: { (try? JSONDecoder().decode([String: [String: String]].self, from: $0))?["renewal"]?["key"] },
        tokens: { ["keys": ["door": $0.accessToken, "renewal": $0.refreshToken]] },
        rejection: { _ in ["fault": ["reason": "RENEWAL_SPENT"]] }, rejectionStatus: 409,
        idempotencyKeyField: "X-Request-Key")
}
