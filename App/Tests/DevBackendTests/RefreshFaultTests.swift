import DevBackend
import Foundation
import Testing

/// Faults of a refresh: late responses, lost responses, and responses of a gateway.
@Suite(.hangLimit) struct RefreshFaultTests {
    @Test func `a delayed response comes after the rotation`() async throws {
        try await TestClient.withGuest { backend, client, signedIn in
            backend.faults = FaultPlan([FaultRule("POST", "/auth/refresh", .delayResponse(.milliseconds(50)), times: 1)]
            )
            let gate = backend.hold("POST", "/auth/refresh", at: .beforeResponse)
            async let late = client.refresh(signedIn.refreshToken)
            await gate.arrivals(1)
            #expect(backend.statistics.refreshes == .init(received: 1, committed: 1))
            gate.open()

            let pair = try await late.data(Received.TokenPair.self)

            let entry = try backend.journal.last.required("an entry")
            #expect(try entry.completedAt.required("a time") - entry.arrivedAt >= 50)
            #expect(try await client.get("/users/me", token: pair.accessToken).status == 200)
        }
    }

    @Test func `a second refresh during a delayed response counts as reuse`() async throws {
        try await TestClient.withGuest { backend, client, signedIn async throws in
            let rule = FaultRule("POST", "/auth/refresh", .delayResponse(.milliseconds(1)), times: 1)
            backend.faults = FaultPlan([rule])
            let gate = backend.hold("POST", "/auth/refresh", at: .beforeResponse)
            async let late = client.refresh(signedIn.refreshToken)
            await gate.arrivals(1)
            async let second = client.refresh(signedIn.refreshToken)
            await gate.arrivals(2)
            gate.open()
            #expect(try await late.status == 200)
            #expect(try await second.code == "REFRESH_TOKEN_REUSED")
        }
    }

    static let gateways: [GatewayResponse] = [
        .forbidden, .emptyForbidden, .page, .unauthorizedPage, .badGateway, .emptyUnauthorized, .unauthorized,
    ]

    @Test(arguments: ["/auth/refresh", "/oauth2/token"], gateways)
    func `a gateway responds instead of the server, and no token is spent`(path: String, gateway: GatewayResponse)
        async throws
    {
        var configuration = DevBackend.Configuration()
        configuration.faults = FaultPlan([FaultRule("POST", path, .gateway(gateway), times: 1)])
        try await TestClient.withGuest(configuration) { backend, client, signedIn in
            let response = try await client.post(path, json: #"{"refreshToken": "\#(signedIn.refreshToken)"}"#)

            #expect(response.status == gateway.status)
            #expect(String(decoding: response.data, as: UTF8.self) == gateway.body)
            #expect(response.header("Content-Type") == gateway.contentType)
            #expect(response.header("X-Request-Id") == nil)
            #expect(backend.statistics.refreshes == .init(received: 1))
            #expect(backend.statistics.count("POST", path, status: gateway.status) == 1)
            #expect(try await client.refresh(signedIn.refreshToken).status == 200)
        }
    }

    @Test func `one endpoint refuses every token while others work`() async throws {
        try await TestClient.withGuest { backend, client, signedIn in
            backend.faults = .refusingAccessTokens(at: "/articles/*")
            let pair = try await client.refresh(signedIn.refreshToken).data(Received.TokenPair.self)
            for token in [signedIn.accessToken, pair.accessToken] {
                #expect(try await client.get("/articles/1", token: token).code == "TOKEN_INVALID")
                #expect(try await client.get("/articles", token: token).status == 200)
                #expect(try await client.get("/users/me", token: token).status == 200)
            }
            #expect(backend.statistics.refusedRequests == 2)
            #expect(backend.statistics.count("GET", "/articles/{id}", status: 401) == 2)
            #expect(try await client.refresh("unknown").status == 401)
            #expect(backend.statistics.refusedRequests == 2, "a refresh is not a request that was refused")
        }
    }

    @Test func `a strict rotation expires older access tokens`() async throws {
        var configuration = DevBackend.Configuration()
        configuration.faults = FaultPlan(strictRotation: true)
        try await TestClient.withGuest(configuration) { _, client, signedIn in
            let pair = try await client.refresh(signedIn.refreshToken, key: "k1").data(Received.TokenPair.self)
            #expect(try await client.get("/users/me", token: signedIn.accessToken).code == "TOKEN_EXPIRED")
            let again = try await client.refresh(signedIn.refreshToken, key: "k1").data(Received.TokenPair.self)
            #expect(again == pair)
            #expect(try await client.get("/users/me", token: again.accessToken).status == 200)
        }
    }

    @Test func `an access token with a lifetime of two seconds expires after two seconds`() async throws {
        let clock = ManualClock()
        var configuration = DevBackend.Configuration()
        configuration.now = { clock.now }
        configuration.accessTokenLifetime = .seconds(2)
        try await TestClient.withServer(configuration) { _, client in
            let token = try await client.signIn().accessToken
            clock.advance(by: .seconds(1))
            #expect(try await client.get("/users/me", token: token).status == 200)
            clock.advance(by: .seconds(1))
            #expect(try await client.get("/users/me", token: token).code == "TOKEN_EXPIRED")
        }
    }
}
