import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkCaching
import NetworkCore
import TestSupport
import Testing

/// A client of what a cache keeps.
@Suite("A start without a network", .timeLimit(.minutes(10)))
struct KeptResponseTests {
    let cache = ResponseCache()
    let clock = ManualTimeSource(date: Date(timeIntervalSince1970: 1_800_000_000))
    let provider = ScriptedTokenProvider()

    static let placements: [TokenPlacement] = [
        .bearer, .fields(accessToken: "X-Access"), .fields(accessToken: "X-Access", refreshToken: "X-Refresh"),
    ]

    /// Reads a response of the first session, with a token that has expired since.
    private func read(_ headers: HTTPHeaders, _ placement: TokenPlacement = .bearer) async throws {
        let exchanges = ScriptedExchanges { _, _ in .scripted(200, headers) }
        let client = NetworkClient(
            baseURL: url("https://a.example"), transport: CachingTransport(exchanges, cache: cache), clock: clock
        )
        _ = try await client.authenticated(by: provider, policy: AuthenticationPolicy(placement: placement))
            .send(Endpoint<Data>.get("x"))
        provider.set(.failure(AuthenticationError(.refreshUnavailable)))
    }

    private func kept(
        of session: SessionID = SessionToken.first.session, _ placement: TokenPlacement = .bearer,
        interceptors: [any RequestInterceptor] = []
    ) -> AuthenticatedNetworkClient {
        cache.network(
            of: session, configuration: NetworkConfiguration(baseURL: url("https://a.example")),
            policy: AuthenticationPolicy(placement: placement), interceptors: interceptors, clock: clock)
    }

    @Test(arguments: placements)
    func `what a session has read is served to it without a token, and to no other`(
        placement: TokenPlacement
    ) async throws {
        try await read(["Cache-Control": "private, max-age=0", "ETag": "\"1\"", "Vary": "X-Access"], placement)
        clock.advance(by: .seconds(1_000_000))
        let calls = provider.tokenCalls
        #expect(try await kept(placement).send(Endpoint<Data>.get("x")) == Data("body".utf8))
        #expect(provider.tokenCalls == calls)
        let other = await #expect(throws: NetworkError.self) {
            try await kept(of: SessionToken.ofAnotherSession.session, placement).send(Endpoint<Data>.get("x"))
        }
        #expect(other?.status == 504)
    }

    @Test(arguments: [
        ("max-age=60", 10, true), ("max-age=0", 10, true), ("no-cache", 0, false), ("no-store", 0, false),
        ("max-age=60, must-revalidate", 10, true), ("max-age=5, must-revalidate", 10, false),
    ])
    func `what the server forbids to serve without contact is not`(
        control: String, age: Int, isServed: Bool
    ) async throws {
        try await read(["Cache-Control": control, "ETag": "\"1\""])
        clock.advance(by: .seconds(age))
        let body = try? await kept().send(Endpoint<Data>.get("x"))
        #expect((body != nil) == isServed)
    }

    @Test func `a clock that was set back before the start makes no difference`() async throws {
        let place = TemporaryFolder()
        let folder = place.fresh()
        do {
            let exchange = CachedExchange(try ResponseCache(folder: folder), clock) { _, _ in
                .scripted(200, ["Cache-Control": "max-age=0"])
            }
            _ = try await exchange(session: SessionToken.first.session, token: "access-0")
        }
        clock.setDate(Date(timeIntervalSince1970: 0))
        let kept = try ResponseCache(folder: folder).network(
            of: SessionToken.first.session, configuration: NetworkConfiguration(baseURL: url("https://a.example")),
            clock: clock)
        #expect(try await kept.send(Endpoint<Data>.get("x")) == Data("body".utf8))
    }

    @Test func `an interceptor sets the fields by which responses are selected`() async throws {
        struct Language: RequestInterceptor {
            func adapt(_ request: HTTPRequestHead, context: RequestContext) async throws -> HTTPRequestHead {
                try request.setting("Accept-Language", to: "de")
            }
        }
        let exchange = CachedExchange(cache, clock) { _, _ in
            .scripted(200, ["Cache-Control": "max-age=0", "Vary": "Accept-Language"])
        }
        _ = try await exchange(
            session: SessionToken.first.session, token: "access-0", headers: ["Accept-Language": "de"])
        #expect(try await kept(interceptors: [Language()]).send(Endpoint<Data>.get("x")) == Data("body".utf8))
        await #expect(throws: NetworkError.self) { try await kept().send(Endpoint<Data>.get("x")) }
    }

    @Test(arguments: [HTTPMethod.post, .put, .delete])
    func `a request that changes something fails, and changes nothing`(method: HTTPMethod) async throws {
        try await read(["Cache-Control": "max-age=60"])
        let error = await #expect(throws: NetworkError.self) {
            try await kept().send(Endpoint<HTTPResponse>.request(method, "x"))
        }
        #expect(error?.status == 504 && cache.count == 1)
    }
}
