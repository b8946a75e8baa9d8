#if canImport(CryptoKit) || Crypto
import AuthInterface
import ContractTesting
import Foundation
import NetworkCore
import NetworkURLSession
import Storage
import Testing
import TokenRefresh

/// A bound session with an engine, and a client whose requests it authenticates.
private struct BoundClient {
    let session: BoundSession
    let store: MemoryTokenStore
    let network: AuthenticatedNetworkClient

    init(
        interceptors: [any RequestInterceptor] = [], _ change: (inout StrictDPoPServer.Settings) -> Void = { _ in }
    ) async throws {
        session = try await BoundSession {
            $0.namesNonceInFaults = false
            change(&$0)
        }
        store = MemoryTokenStore(
            holding: TokenBundle(
                accessToken: "access-0", refreshToken: "refresh-0", expiresAt: Date() + 600,
                receivedAt: Date() - 600, binding: TokenBinding(thumbprint: session.thumbprint)))
        let engine = TokenRefreshCoordinator(store: store, handler: session.handler)
        network = NetworkClient(
            baseURL: session.server.url, transport: URLSessionTransport(), interceptors: interceptors,
            clock: session.clock
        ).authenticated(by: engine, policy: AuthenticationPolicy(placement: .dpop(session.prover)))
    }

    var server: StrictDPoPServer { session.server }

    func get(over other: AuthenticatedNetworkClient? = nil) async throws -> Int? {
        try await (other ?? network).send(Endpoint<[String: Int]>.get("articles"))["value"]
    }

    /// The fields of the requests to a path.
    func sent(_ name: String) -> [String?] { server.requests.filter { $0.target != "/token" }.map { $0[name] } }
}

@Suite("G34: requests with tokens that are bound to a key", .timeLimit(.minutes(10))) struct DPoPRequestTests {
    @Test func `each request has a proof of its own, with the nonce of the response before it`() async throws {
        let client = try await BoundClient()
        for _ in 0..<5 { #expect(try await client.get() == 1) }
        let now = client.server.now
        #expect(now.challenges == 1, "the first one knew no nonce")
        #expect(now.resources == 5 && now.refreshes == [] && now.faults == [] && now.nonce == 5)
        #expect(client.sent("Authorization").allSatisfy { $0 == "DPoP access-0" })
    }

    @Test func `KE6: the refusal of a proof for its time tells the time, however slow it is`() async throws {
        let client = try await BoundClient {
            ($0.acceptedNonces, $0.clockOffset, $0.delay) = (nil, 7_200, .seconds(6))
        }
        #expect(try await client.get() == 1 && client.server.now.faults == ["iat"])
    }

    @Test func `each attempt may be challenged once, and challenges use up no retry`() async throws {
        let policy = RetryPolicy(attempts: 3, baseDelay: .zero)
        let client = try await BoundClient(interceptors: [policy]) { $0.failing = [2, 4] }
        #expect(try await client.get() == 1)
        let now = client.server.now
        #expect(now.challenges == 3 && now.refreshes == [] && now.faults == [])
        #expect(client.sent("DPoP").count == 6 && Set(client.sent("DPoP")).count == 6, "each has a proof of its own")
    }

    @Test func `a follower sends key-bound tokens where it may use the key`() async throws {
        let client = try await BoundClient()
        // Its time stands still: a request that waited for the owner would not end.
        let follower = SessionFollower(clock: client.session.clock)
        follower.follow(try #require(await client.store.load()))
        let network = client.server.network.authenticated(
            by: follower, policy: AuthenticationPolicy(placement: .dpop(client.session.prover)))
        #expect(try await client.get(over: network) == 1)
        #expect(client.server.now.faults == [])
    }
}
#endif
