import AuthInterface
import ContractTesting
import Foundation
import NetworkCaching
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@Suite("ResponseCache", .timeLimit(.minutes(10)))
struct ResponseCacheTests {
    let clock = ManualTimeSource(date: Date(timeIntervalSince1970: 1_800_000_000))
    let cache = ResponseCache(limits: .of(entries: 20))

    @Test func `a sign-in that replaces a session deletes the responses of the earlier one`() async throws {
        let get = CachedExchange(cache, clock, CachedExchange.numbered())
        for session in [.alice, .bob, nil] as [SessionID?] { _ = try await get(session: session) }
        await cache.deleteResponses(atEndOf: PassingSession(passed: [.unknown, .signedIn(.alice), .signedIn(.alice)]))
        #expect(try await get(session: .alice).body == Data("1".utf8), "the responses of the current session stay")
        #expect(cache.count == 2)
        await cache.deleteResponses(atEndOf: PassingSession(passed: [.signedIn(.alice), .signedIn(.bob)]))
        #expect(cache.count == 1)
        #expect(try await get(session: nil).body == Data("3".utf8))
    }

    private static let thousand = (0..<1_000).map { SessionState.signedIn(SessionID(rawValue: "\($0)")) }

    /// The states of the session, the session of the exchange, and how many responses are kept then.
    @Test(
        arguments: [
            ([.signedIn(.alice), .signedOut(.byUser)], .alice, 0), ([.signedIn(.alice), .signedIn(.bob)], .alice, 0),
            ([.signedIn(.alice), .signedOut(.byUser)], .bob, 1), ([.signedIn(.alice), .signedIn(.bob)], .bob, 1),
            ([.signedIn(.alice), .signedOut(.byUser), .signedIn(.alice)], .alice, 1),
            // A bounded number of ended sessions is remembered, the last ones.
            (thousand, SessionID(rawValue: "998"), 0), (thousand, SessionID(rawValue: "0"), 1),
        ] as [([SessionState], SessionID, Int)])
    func `an exchange that starts after the end of its session stores nothing`(
        passed: [SessionState], session: SessionID, kept: Int
    ) async throws {
        await cache.deleteResponses(atEndOf: PassingSession(passed: passed))
        _ = try await CachedExchange(cache, clock, CachedExchange.numbered())(session: session)
        #expect(cache.count == kept)
    }

    @Test func `what is under way for the session that signs in is stored, and for another one not`() async throws {
        let gate = Gate()
        let get = CachedExchange(cache, clock) { _, _ in
            await gate.pass()
            return .scripted(200, .fresh)
        }
        let requests = [SessionID.alice, .bob].map { session in Task { try await get(session: session) } }
        try await gate.arrivals(atLeast: 2)
        await cache.deleteResponses(atEndOf: PassingSession(passed: [.signedIn(.bob)]))
        gate.open()
        for request in requests { _ = try await request.value }
        #expect(cache.count == 1)
        _ = try await get(session: .bob)
        #expect(get.requests.count == 2)
    }

    /// What happens while a response is under way.
    enum Change: CaseIterable { case sessionEnds, allIsDeleted, urlChanges }

    @Test(arguments: Change.allCases)
    func `a response that was under way is not stored after a change`(change: Change) async throws {
        let gate = Gate()
        let get = CachedExchange(cache, clock) { request, _ in
            if request.method == .get { await gate.pass() }
            return .scripted(200, .fresh)
        }
        let signedIn = PassingSession(passed: [.signedIn(.alice)])
        await cache.deleteResponses(atEndOf: signedIn)
        let request = Task { try await get(session: .alice) }
        try await gate.arrivals(atLeast: 1)
        switch change {
        case .sessionEnds: cache.deleteResponses(of: .alice)
        case .allIsDeleted:
            cache.deleteAll()
            await cache.deleteResponses(atEndOf: signedIn)
        case .urlChanges: _ = try await get(method: .put)
        }
        gate.open()
        _ = try await request.value
        #expect(cache.count == 0)
    }

    @Test(arguments: [Duration.zero, .seconds(1)])
    func `of several responses that serve a request, the most recent one is served`(pause: Duration) async throws {
        let get = CachedExchange(cache, clock) { _, number in
            let vary: HTTPHeaders = ["Cache-Control": "max-age=60", "Vary": "Accept-Language"]
            let headers = number == 1 ? vary : ["Cache-Control": "max-age=60"]
            return .scripted(200, headers, body: Data("\(number)".utf8))
        }
        _ = try await get(headers: ["Accept-Language": "de"])
        clock.advance(by: pause)
        _ = try await get(headers: ["Accept-Language": "en"])
        #expect(try await get(headers: ["Accept-Language": "de"]).body == Data("2".utf8))
    }

    @Test(arguments: [(5, 5), (20, 18), (1, 1)])
    func `eviction leaves nine tenths of the entries, rounded up`(maximum: Int, kept: Int) async throws {
        let place = TemporaryFolder()
        let folder = place.fresh()
        let inFolder = try ResponseCache(folder: folder, limits: .of(entries: maximum))
        for cache in [ResponseCache(limits: .of(entries: maximum)), inFolder] {
            let get = CachedExchange(cache, clock, CachedExchange.numbered())
            for number in 0...maximum { _ = try await get("\(number)") }
            #expect(cache.count == kept)
            #expect(try await get("\(maximum)").body == Data("\(maximum + 1)".utf8), "the newest is kept")
        }
    }

    @Test func `a newest response over nine tenths of the bytes is kept`() async throws {
        let place = TemporaryFolder()
        let folder = place.fresh()
        let cache = try ResponseCache(folder: folder, limits: .of(bytes: 1_000))
        let get = CachedExchange(cache, clock) { _, _ in
            .scripted(200, .fresh, body: Data(count: 650))
        }
        for path in ["1", "2"] { _ = try await get(path) }
        #expect(cache.count == 1 && cache.size > 900)
    }

    // MARK: A start without a network: a client of what the cache keeps

    let provider = ScriptedTokenProvider()

    static let placements: [TokenPlacement] = [
        .bearer, .fields(accessToken: "X-Access"), .fields(accessToken: "X-Access", refreshToken: "X-Refresh"),
    ]

    /// Reads a response of the first session, with a token that has expired since.
    private func read(_ headers: HTTPHeaders, _ placement: TokenPlacement = .bearer) async throws {
        let exchanges = StubTransport { _, _ in .scripted(200, headers) }
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

extension ResponseCache.Limits {
    /// The standard limits but for those that are given.
    static func of(bytes: Int? = nil, entries: Int? = nil, entrySize: Int? = nil) -> Self {
        var limits = Self()
        limits.maximumBytes = bytes ?? limits.maximumBytes
        limits.maximumEntries = entries ?? limits.maximumEntries
        limits.maximumEntrySize = entrySize ?? limits.maximumEntrySize
        return limits
    }
}
