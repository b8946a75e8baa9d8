import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkCore
import NetworkTestSupport
import NetworkTesting
import TestSupport
import Testing

@Suite("AuthenticatedNetworkClient", .timeLimit(.minutes(10)))
struct AuthenticationTests {
    let provider = ScriptedTokenProvider()
    let transport = StubTransport()

    func client(
        policy: AuthenticationPolicy = AuthenticationPolicy(),
        base: URL = baseURL,
        interceptors: [any RequestInterceptor] = [],
        cleartextExceptions: Set<Origin> = []
    ) -> AuthenticatedNetworkClient {
        var configuration = NetworkConfiguration(baseURL: base)
        configuration.cleartextExceptions = cleartextExceptions
        return NetworkClient(configuration: configuration, transport: transport, interceptors: interceptors)
            .authenticated(by: provider, policy: policy)
    }

    /// The values of a field of the requests, in order.
    func carried(_ field: String = "Authorization") -> [String?] { transport.requests.map { $0.headers[field] } }

    let article = StubResponse.json(Article(id: 7, title: "x"))

    @Test func `a token at hand is placed without waiting, and what replaces a refused one goes before it`()
        async throws
    {
        /// It has the refused token at hand still.
        struct Slow: TokenProvider {
            var validToken: SessionToken? { .first }
            func token() async throws -> SessionToken { throw AuthenticationError(.notSignedIn) }
            func replacement(after refusal: TokenRefusal) async throws -> SessionToken { refusal.token.next }
        }
        transport.add(.any ~> .status(401))
        transport.add(.any ~> article)
        let network = NetworkClient(baseURL: baseURL, transport: transport).authenticated(by: Slow())
        _ = try await network.send(.article(7))
        #expect(carried() == ["Bearer access-0", "Bearer access-1"])
    }

    @Test func `G18: a token at hand is placed in the task of the call, and no other one is started for it`()
        async throws
    {
        /// It records the tasks in which it is asked.
        struct AtHand: TokenProvider {
            let tasks = Locked<[Int?]>([])
            var validToken: SessionToken? {
                tasks.withLock { $0.append(withUnsafeCurrentTask { $0?.hashValue }) }
                return .first
            }
            func token() async throws -> SessionToken { .first }
            func replacement(after refusal: TokenRefusal) async throws -> SessionToken { refusal.token.next }
        }
        let provider = AtHand()
        transport.add(.any ~> article)
        let network = NetworkClient(baseURL: baseURL, transport: transport).authenticated(by: provider)
        _ = try await network.send(.article(7), deadline: .seconds(600))
        let own = withUnsafeCurrentTask { $0?.hashValue }
        #expect(provider.tasks.withLock { $0 } == [own])
    }

    @Test func `tokens are placed in fields that the server defines`() async throws {
        transport.add(.any ~> article)
        transport.add(.any ~> article)
        let both = TokenPlacement.fields(accessToken: "accessToken", refreshToken: "refreshToken")
        try await _ = client(policy: AuthenticationPolicy(placement: both)).send(.article(7))
        try await _ = client(policy: AuthenticationPolicy(placement: .fields())).send(.article(7))
        #expect(carried("accessToken") == ["access-0", "access-0"])
        #expect(carried("refreshToken") == ["refresh-0", nil])
        #expect(carried() == [nil, nil])
    }

    @Test func `G29: a placement that needs the refresh token fails with a follower's token, and sends nothing`()
        async throws
    {
        var token = SessionToken(value: "access-0", session: SessionID(rawValue: "session-a"), generation: 0)
        token.issuance.isFollowed = true
        provider.set(.success(token))
        let both = AuthenticationPolicy(placement: .fields(refreshToken: "refreshToken"))
        let error = await #expect(throws: NetworkError.self) { try await client(policy: both).send(.article(7)) }
        #expect(error?.code == .followerHasNoRefreshToken && transport.requests.isEmpty)
        transport.add(.any ~> article)
        _ = try await client(policy: AuthenticationPolicy(placement: .fields())).send(.article(7))
        #expect(carried("accessToken") == ["access-0"])
    }

    @Test func `an empty token is not sent`() async throws {
        let session = SessionID(rawValue: "session-a")
        let placements = [TokenPlacement.bearer, .scheme("Token"), .fields(refreshToken: "refreshToken")]
        for placement in placements {
            provider.set(.success(SessionToken(value: "", refreshToken: "refresh-0", session: session, generation: 0)))
            let error = await #expect(throws: NetworkError.self) {
                try await client(policy: AuthenticationPolicy(placement: placement)).send(.article(7))
            }
            #expect(error?.code == .invalidRequest && error?.reason?.contains("is empty") == true)
        }
        #expect(transport.requests.isEmpty)
        transport.add(.any ~> article)
        provider.set(.success(SessionToken(value: "access-0", refreshToken: "", session: session, generation: 0)))
        try await _ = client(policy: AuthenticationPolicy(placement: placements[2])).send(.article(7))
        #expect(carried("accessToken") == ["access-0"] && carried("refreshToken") == [nil])
    }

    @Test func `requests without authentication carry no token`() async throws {
        transport.add(.any ~> article)
        transport.add(.any ~> article)
        try await _ = client().send(.article(7).withoutAuthentication())
        try await _ = NetworkClient(baseURL: baseURL, transport: transport).send(Endpoint.article(7))
        #expect(carried() == [nil, nil])
        #expect(provider.tokenCalls == 0)
    }

    @Test func `tokens are sent to allowed origins only`() async throws {
        let other = url("https://cdn.example.net/7")
        for _ in 0..<3 { transport.add(.any ~> article) }
        try await _ = client().send(Endpoint<Article>.get(.url(other)))
        let origins = Set([Origin(other)].compactMap(\.self))
        try await _ = client(policy: .with { $0.origins = origins }).send(
            Endpoint<Article>.get(.url(other)))
        try await _ = client(policy: .with { $0.origins = origins }).send(.article(7))
        #expect(carried() == [nil, "Bearer access-0", nil])
    }

    @Test(arguments: ["sign-in", "other origin", "redirect"])
    func `G38: the refusal of a request that carried no token refreshes nothing`(request: String) async throws {
        let other = url("https://cdn.example.net/7")
        // What a wrong password, and a server that knows no token, are answered with.
        let refusal = StubResponse.json(
            ["error": "invalid_token"], status: 401, headers: ["WWW-Authenticate": "Bearer error=\"invalid_token\""])
        if request == "redirect" {
            transport.add(.get("articles/7") ~> .status(302, headers: ["Location": other.absoluteString]))
        }
        transport.add(.any ~> refusal)
        let call: Endpoint<Article> =
            switch request {
            case "sign-in": .article(7).withoutAuthentication()
            case "other origin": .get(.url(other))
            default: .article(7)
            }
        let error = await networkError { try await client().send(call) }
        #expect(error?.code == .unacceptableStatus && error?.status == 401)
        #expect(carried().last == .some(nil))
        #expect(provider.refused == [])
    }

    @Test func `no token is sent over plain http to another machine`() async throws {
        let base = url("http://api.example.com")
        #expect(await networkError { try await client(base: base).send(.article(7)) }?.code == .cleartextRefused)
        #expect(transport.requests.isEmpty)
        #expect(provider.tokenCalls == 0)
        transport.add(.any ~> article)
        let named = Set([Origin(base)].compactMap(\.self))
        try await _ = client(base: base, cleartextExceptions: named).send(.article(7))
        #expect(carried() == ["Bearer access-0"])
    }

    @Test(arguments: [[401], [419], [401, 419]] as [Set<Int>])
    func `a refused token is replaced and the request is sent once more`(statuses: Set<Int>) async throws {
        for status in statuses {
            let provider = ScriptedTokenProvider()
            let transport = StubTransport(.get("articles/7") ~> .status(status), .get("articles/7") ~> article)
            let client = NetworkClient(baseURL: baseURL, transport: transport)
                .authenticated(by: provider, policy: .with { $0.expiredStatuses = statuses })
            try await _ = client.send(.article(7))
            #expect(transport.requests.map { $0.headers["Authorization"] } == ["Bearer access-0", "Bearer access-1"])
            #expect(provider.refused == [.first])
        }
    }

    @Test func `other statuses do not refuse the token`() async throws {
        transport.add(.any ~> .status(401))
        let client = client(policy: .with { $0.expiredStatuses = [419] })
        let error = await networkError { try await client.send(.article(7)) }
        #expect(error?.code == .unacceptableStatus && error?.status == 401)
        #expect(provider.refused.isEmpty)
    }

    static let rules: [(name: String, rule: TokenRefusalRule, response: StubResponse, isRefusal: Bool)] = [
        ("any code", .anyCode, .error(401, code: "WRONG_PASSWORD"), true),
        ("any code", .anyCode, challenge("insufficient_scope"), false),
        ("any code", .anyCode, challenge("invalid_request"), false),
        ("any code", .anyCode, challenge("invalid_token"), true),
        ("any code", .anyCode, challenge("expired"), true),
        ("except", .exceptCodes(["WRONG_PASSWORD"]), .error(401, code: "wrong_password"), false),
        ("except", .exceptCodes(["WRONG_PASSWORD"]), .error(401, code: "TOKEN_EXPIRED"), true),
        ("except", .exceptCodes(["WRONG_PASSWORD"]), .status(401), true),
        ("codes", .codes(), .error(401, code: "TOKEN_EXPIRED"), true),
        ("codes", .codes(), .error(401, code: "WRONG_PASSWORD"), false),
        ("codes", .codes(), .status(401), false),
        ("codes", .codes(), challenge("invalid_token"), true),
        ("when", .when { head, _ in head.headers["X-Expired"] != nil }, .status(401), false),
        (
            "when", .when { head, _ in head.headers["X-Expired"] != nil },
            .status(401, headers: ["X-Expired": "1"]), true
        ),
        ("when", .when { _, error in error?.code == "E17" }, .error(401, code: "E17"), true),
    ]

    private static func challenge(_ error: String) -> StubResponse {
        .status(401, headers: ["WWW-Authenticate": #"Basic realm="a", Bearer error="\#(error)""#])
    }

    @Test(arguments: rules.indices)
    func `a 401 that does not refuse the token replaces none`(_ index: Int) async throws {
        let (name, rule, response, isRefusal) = Self.rules[index]
        transport.add(.any ~> response)
        if isRefusal { transport.add(.any ~> article) }
        let client = client(policy: .with { $0.refusals = rule })
        if isRefusal {
            #expect(try await client.send(.article(7)).id == 7, "\(name)")
        } else {
            let error = await #expect(throws: NetworkError.self) { try await client.send(.article(7)) }
            #expect([.unacceptableStatus, .stepUpRequired].contains(error?.code) && error?.status == 401, "\(name)")
        }
        #expect(provider.refused.count == (isRefusal ? 1 : 0), "\(name)")
    }

    @Test func `a token is placed with a scheme that the server defines`() async throws {
        transport.add(.any ~> article)
        try await _ = client(policy: AuthenticationPolicy(placement: .scheme("Token"))).send(.article(7))
        #expect(carried() == ["Token access-0"])
        let invalid = client(policy: AuthenticationPolicy(placement: .scheme("a\r\nb")))
        #expect(await networkError { try await invalid.send(.article(7)) }?.code == .invalidRequest)
    }

    @Test func `a replacement that was replaced before it arrived is replaced once more`() async throws {
        provider.onReplacement { $0.next }
        transport.add(.any ~> .status(401))
        transport.add(.any ~> .status(401))
        transport.add(.any ~> article)
        _ = try await client().send(.article(7))
        #expect(provider.refused.map(\.generation) == [0, 1])
    }

    @Test func `a replaced token uses up no retry`() async throws {
        provider.onReplacement { $0.next }
        for status in [401, 503, 401, 503] { transport.add(.any ~> .status(status)) }
        transport.add(.any ~> article)
        _ = try await client(interceptors: [RetryPolicy(attempts: 3, random: 0)]).send(.article(7))
        #expect(transport.requests.count == 5)
    }

    @Test func `a third refusal is unauthorized and the provider is not asked again`() async throws {
        provider.onReplacement { $0.next }
        transport.add(.any ~> .status(401))
        transport.add(.any ~> .status(401))
        transport.add(.any ~> .error(401, code: "TOKEN_EXPIRED", requestId: "r-2"))
        let client = client(interceptors: [RetryPolicy.standard])
        let error = await networkError { try await client.send(.article(7)) }
        #expect(error?.code == .unauthorized && error?.authentication?.code == .unauthorized && error?.status == 401)
        #expect(error?.serverError?.code == "TOKEN_EXPIRED" && error?.requestID == "r-2" && error?.attempt == 3)
        #expect(provider.refused.map(\.generation) == [0, 1])
        #expect(transport.requests.count == 3)
    }

    @Test(
        arguments: [
            AuthenticationError.Code.notSignedIn, .sessionEnded, .unauthorized, .noRefreshToken, .refreshUnavailable,
            .storeUnavailable,
        ]
    )
    func `an error of the provider has a code of the same name`(code: AuthenticationError.Code) async throws {
        let error = AuthenticationError(code, retryAfter: .seconds(3))
        for status in [nil, 401] {
            provider.set(status == nil ? .failure(error) : .success(.first))
            provider.onReplacement { _ in throw error }
            if let status { transport.add(.any ~> .status(status)) }
            let thrown = await networkError { try await client().send(.article(7)) }
            #expect(thrown?.code.rawValue == code.rawValue && thrown?.authentication?.code == code)
            #expect(thrown?.retryAfter == .seconds(3) && thrown?.status == status)
            #expect(transport.requests.isEmpty == (status == nil))
        }
    }

    @Test func `cancelling a wait for a token throws CancellationError`() async throws {
        let gate = Gate()
        provider.onReplacement { refused in
            try await gate.passUnlessCancelled()
            return refused.next
        }
        transport.add(.any ~> .status(401))
        let task = Task { [client = client()] in try await client.send(.article(7)) }
        try await gate.arrivals(atLeast: 1)
        await expectCancellation(of: task)
    }

    @Test func `the provider receives the date on the server's clock`() async throws {
        let headers: HTTPHeaders = ["Date": "Sun, 06 Nov 1994 08:49:37 GMT"]
        for _ in 0..<2 { transport.add(.any ~> .json(["x": 1], headers: headers)) }
        try await _ = client().send(Endpoint<HTTPResponse>.request(.get, "time"))
        try await _ = client().send(Endpoint<HTTPResponse>.request(.get, .url(url("https://evil.net/time"))))
        #expect(provider.dates == [Date(timeIntervalSince1970: 784_111_777)])
    }

    /// Responds after a time on a clock: a slow server, or a process that slept while the response lay in the socket.
    private struct SlowTransport: HTTPTransport {
        let base: StubTransport
        let clock: ManualTimeSource
        let delay: Duration

        func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
            clock.advance(by: delay)
            return try await base.perform(request)
        }
    }

    @Test func `G19: neither a kept response nor a slow one tells the provider the time`() async throws {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let cases: [(Duration, HTTPHeaders, Bool)] = [
            (.seconds(5), ["Date": date], true), (.seconds(5), ["Date": date, "Age": "0"], true),
            (.seconds(5), ["Date": date, "Age": "600"], false), (.seconds(6), ["Date": date], false),
        ]
        for (delay, headers, isHeard) in cases {
            let (clock, provider) = (ManualTimeSource(), ScriptedTokenProvider())
            let slow = SlowTransport(
                base: StubTransport(.any ~> .status(204, headers: headers)), clock: clock, delay: delay)
            let network = NetworkClient(baseURL: baseURL, transport: slow, clock: clock).authenticated(by: provider)
            try await network.send(Endpoint<Void>.get("time"))
            #expect(provider.dates.isEmpty != isHeard, "\(delay) \(headers)")
        }
    }

    /// G20: a refresh handler takes an `UnauthenticatedNetworkService`, so it cannot use the authenticated client.
    @Test func `only the client without authentication is an UnauthenticatedNetworkService`() {
        let authenticated: any NetworkService = client()
        let open: any NetworkService = NetworkClient(baseURL: baseURL, transport: transport)
        #expect(!(authenticated is any UnauthenticatedNetworkService))
        #expect(open is any UnauthenticatedNetworkService)
    }

    @Test func `interceptors never see a token`() async throws {
        struct Spy: RequestInterceptor {
            let seen = Recorder<[String]>()

            func adapt(_ request: HTTPRequestHead, context: RequestContext) async throws -> HTTPRequestHead {
                seen.record(request.headers.map { "\($0.name): \($0.value)" })
                return request
            }
        }
        let spy = Spy()
        transport.add(.any ~> .status(401))
        transport.add(.any ~> article)
        try await _ = client(interceptors: [spy]).send(.article(7))
        #expect(spy.seen.values.count == 2)
        #expect(spy.seen.values.allSatisfy { !"\($0)".contains("access-") })
    }
}
