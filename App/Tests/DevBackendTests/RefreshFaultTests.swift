import DevBackend
import Foundation
import Testing

/// Faults of a refresh: late responses, lost responses, and responses of a gateway.
@Suite(.hangLimit) struct RefreshFaultTests {
    @Test(.server) func `a delayed response comes after the rotation`() async throws {
        let signedIn = try await client.signIn()
        backend.faults = FaultPlan([FaultRule("POST", "/auth/refresh", .delayResponse(.milliseconds(50)), times: 1)]
        )
        let gate = backend.hold("POST", "/auth/refresh", at: .beforeResponse)
        let start = ContinuousClock.now
        async let late = client.refresh(signedIn.refreshToken)
        await gate.arrivals(1)
        #expect(backend.statistics.refreshes == .init(received: 1, committed: 1))
        gate.open()
        let pair = try await late.data(Received.TokenPair.self)
        #expect(start.duration(to: .now) >= .milliseconds(50))
        #expect(try await client.get("/users/me", token: pair.accessToken).status == 200)
    }

    static let gateways = [
        GatewayResponse(status: 200, contentType: "text/html", body: "<html></html>"), GatewayResponse(status: 401),
    ]

    @Test(.server, arguments: ["/auth/refresh", "/oauth2/token"], gateways)
    func `a gateway responds instead of the server, and no token is spent`(path: String, gateway: GatewayResponse)
        async throws
    {
        let signedIn = try await client.signIn()
        backend.faults = FaultPlan([FaultRule("POST", path, .gateway(gateway), times: 1)])
        let response = try await client.post(path, json: #"{"refreshToken": "\#(signedIn.refreshToken)"}"#)
        #expect(response.status == gateway.status)
        #expect(String(decoding: response.data, as: UTF8.self) == gateway.body)
        #expect(response.header("Content-Type") == gateway.contentType)
        #expect(response.header("X-Request-Id") == nil)
        #expect(backend.statistics.refreshes == .init(received: 1))
        #expect(backend.statistics.count("POST", path, status: gateway.status) == 1)
        #expect(try await client.refresh(signedIn.refreshToken).status == 200)
    }

    @Test(.server) func `a gate releases requests one at a time, in their order`() async throws {
        let gate = backend.hold(nil, "/slow/*")
        try await withThrowingTaskGroup(of: Int.self) { group in
            var finished: [Int] = []
            for number in 1...3 {
                group.addTask {
                    _ = try await TestClient(backend).get("/slow/\(number)")
                    return number
                }
                await gate.arrivals(number)
            }
            #expect(try await TestClient(backend).get("/quick").status == 404)
            for _ in 1...3 {
                gate.release()
                finished.append(try #require(try await group.next()))
            }
            #expect(finished == [1, 2, 3])
        }
    }
}
