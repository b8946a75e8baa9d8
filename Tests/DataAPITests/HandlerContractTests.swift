import AuthInterface
import AuthTesting
import ContractTesting
import DataAPI
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import NetworkURLSession
import Testing

@Suite struct HandlerContractTests {
    private func handler(_ url: URL, _ tolerance: ReplayTolerance) -> RESTTokenRefreshHandler {
        let network = NetworkClient(baseURL: url, transport: URLSessionTransport(), interceptors: [])
        return RESTTokenRefreshHandler(network: network, replayTolerance: tolerance, accessToken: .bearer)
    }

    @Test(arguments: [ReplayTolerance.none, .within(.seconds(10)), .sameKey])
    func `the REST handler keeps the contract over HTTP`(_ tolerance: ReplayTolerance) async throws {
        try await TokenRefreshHandlerContract.check { url in handler(url, tolerance) }
    }

    @Test func `a handler that declares a tolerance its server does not have breaks G12`() async throws {
        let violation = await #expect(throws: ContractViolation.self) {
            try await TokenRefreshHandlerContract.check(timeLimit: .seconds(300)) {
                try LoopbackRefreshBackend(tolerating: ReplayTolerance.none) { url in handler(url, .sameKey) }
            }
        }
        #expect(try #require(violation).brokenRules.map(\.name).allSatisfy { $0.hasPrefix("G12: ") })
    }
}

/// What a refresh call carries beside the refresh token, and what the handler declares.
@Suite struct RefreshCallTests {
    private let request = TokenRefreshRequest(
        refreshToken: "fixture-refresh", accessToken: "fixture-access", idempotencyKey: "fixture-key")

    private let response = StubResponse.text(#"{"success":true,"data":{"accessToken":"fixture-access-2"}}"#)

    @Test func `G12: the key of the request is sent, and the same again with the same request`() async throws {
        let transport = StubTransport(.any ~> response, .any ~> response)
        for _ in 0..<2 { _ = try await RESTTokenRefreshHandler(network: NetworkClient(transport)).refresh(request) }
        for sent in transport.requests { #expect(sent.headers["Idempotency-Key"] == "fixture-key") }
    }

    @Test func `G8: a refresh has the idle timeout of the engine's call limit`() async throws {
        let transport = StubTransport(.any ~> response)
        _ = try await RESTTokenRefreshHandler(network: NetworkClient(transport)).refresh(request)
        #expect(transport.requests.map(\.idleTimeout) == [.seconds(120)])
    }

    @Test func `the key's header field can be renamed and switched off`() async throws {
        for field in [nil, "X-Request-Key"] {
            let transport = StubTransport(.any ~> response)
            _ = try await RESTTokenRefreshHandler(network: NetworkClient(transport), idempotencyKeyField: field)
                .refresh(request)
            let sent = try #require(transport.requests.first)
            #expect(sent.headers["Idempotency-Key"] == nil)
            #expect(sent.headers["X-Request-Key"] == field.map { _ in "fixture-key" })
        }
    }

    @Test(arguments: ["", "a\nb", "k\u{e9}"])
    func `a key that is empty, or that no field can carry, is left out`(_ key: String) async throws {
        let transport = StubTransport(.any ~> response)
        _ = try await RESTTokenRefreshHandler(network: NetworkClient(transport))
            .refresh(TokenRefreshRequest(refreshToken: "fixture-refresh", idempotencyKey: key))
        #expect(transport.requests.first?.headers["Idempotency-Key"] == nil)
    }

    @Test func `a retry policy does not repeat a refresh that has a key`() async throws {
        let transport = StubTransport(.any ~> .status(503))
        await #expect(throws: TokenRefreshError.self) {
            try await RESTTokenRefreshHandler(network: NetworkClient(transport), replayTolerance: .sameKey).refresh(
                request)
        }
        #expect(transport.requests.count == 1)
    }

    static let placements: [(RefreshAccessTokenPlacement, [String?])] = [
        (.omitted, [nil, nil, nil]), (.body, ["fixture-access", nil, nil]),
        (.bearer, [nil, "Bearer fixture-access", nil]), (.field("accessToken"), [nil, nil, "fixture-access"]),
    ]

    @Test(arguments: placements)
    func `the access token is sent where the configuration puts it`(
        _ placement: RefreshAccessTokenPlacement, _ expected: [String?]
    ) async throws {
        let transport = StubTransport(.any ~> response)
        _ = try await RESTTokenRefreshHandler(network: NetworkClient(transport), accessToken: placement).refresh(
            request)
        let sent = try #require(transport.requests.first)
        let found = [sent.json["accessToken"], sent.headers["Authorization"], sent.headers["accessToken"]]
        #expect(found == expected)
        #expect(sent.json["refreshToken"] == "fixture-refresh")
    }

    @Test func `an access token that no field can carry is left out of the call`() async throws {
        let transport = StubTransport(.any ~> response)
        _ = try await RESTTokenRefreshHandler(network: NetworkClient(transport), accessToken: .bearer)
            .refresh(TokenRefreshRequest(refreshToken: "fixture-refresh", accessToken: "a\r\nb"))
        #expect(transport.requests.first?.headers["Authorization"] == nil)
    }

    @Test func `the declared replay tolerance and revocation scope are the careful ones by default`() {
        let network = NetworkClient(StubTransport())
        let careful = RESTTokenRefreshHandler(network: network)
        #expect(careful.replayTolerance == .none && !careful.affectsRevokedSessionOnly)
        let declared = RESTTokenRefreshHandler(
            network: network, replayTolerance: .sameKey, logoutAffectsSessionOnly: true)
        #expect(declared.replayTolerance == .sameKey && declared.affectsRevokedSessionOnly)
    }
}
