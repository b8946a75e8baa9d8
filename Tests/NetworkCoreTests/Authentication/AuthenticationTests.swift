import AuthInterface
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
        policy: AuthenticationPolicy = AuthenticationPolicy(), interceptors: [any RequestInterceptor] = []
    ) -> AuthenticatedNetworkClient {
        NetworkClient(transport, interceptors: interceptors).authenticated(by: provider, policy: policy)
    }

    @Test
    func `G18: a token at hand is placed in the task of the call, and what replaces a refused one goes before it`()
        async throws
    {
        /// It has the refused token at hand still, and records the tasks in which it is asked.
        struct AtHand: TokenProvider {
            let tasks = Recorder<Int?>()
            var validToken: SessionToken? {
                tasks.record(withUnsafeCurrentTask { $0?.hashValue })
                return .first
            }
            func token() async throws -> SessionToken { throw AuthenticationError(.notSignedIn) }
            func replacement(after refusal: TokenRefusal) async throws -> SessionToken { refusal.token.next }
        }
        let provider = AtHand()
        transport.respond(.article, .status(401), .article)
        let client = NetworkClient(transport).authenticated(by: provider)
        _ = try await client.send(.article(7), deadline: .seconds(600))
        #expect(provider.tasks.values == [withUnsafeCurrentTask { $0?.hashValue }])
        _ = try await client.send(.article(7))
        #expect(transport.sent("Authorization") == ["Bearer access-0", "Bearer access-0", "Bearer access-1"])
    }

    @Test func `tokens are placed in fields that the server defines`() async throws {
        transport.respond(.article, .article)
        let both = TokenPlacement.fields(accessToken: "accessToken", refreshToken: "refreshToken")
        try await _ = client(policy: AuthenticationPolicy(placement: both)).send(.article(7))
        try await _ = client(policy: AuthenticationPolicy(placement: .fields())).send(.article(7))
        #expect(transport.sent("accessToken") == ["access-0", "access-0"])
        #expect(transport.sent("refreshToken") == ["refresh-0", nil])
        #expect(transport.sent("Authorization") == [nil, nil])
        transport.respond(.article)
        try await _ = client(policy: AuthenticationPolicy(placement: .scheme("Token"))).send(.article(7))
        #expect(transport.sent("Authorization").last == "Token access-0")
        let invalid = client(policy: AuthenticationPolicy(placement: .scheme("a\r\nb")))
        #expect(await networkError { try await invalid.send(.article(7)) }?.code == .invalidRequest)
    }

    @Test func `G29: a placement that needs the refresh token fails with a follower's token, and sends nothing`()
        async throws
    {
        var token = SessionToken(value: "access-0", session: SessionID(rawValue: "session-a"), generation: 0)
        token.issuance.isFollowed = true
        provider.set(.success(token))
        let both = AuthenticationPolicy(placement: .fields(refreshToken: "refreshToken"))
        let error = await networkError { try await client(policy: both).send(.article(7)) }
        #expect(error?.code == .followerHasNoRefreshToken && transport.requests.isEmpty)
        transport.respond(.article)
        _ = try await client(policy: AuthenticationPolicy(placement: .fields())).send(.article(7))
        #expect(transport.sent("accessToken") == ["access-0"])
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
        transport.respond(.article)
        provider.set(.success(SessionToken(value: "access-0", refreshToken: "", session: session, generation: 0)))
        try await _ = client(policy: AuthenticationPolicy(placement: placements[2])).send(.article(7))
        #expect(transport.sent("accessToken") == ["access-0"] && transport.sent("refreshToken") == [nil])
    }

    @Test func `tokens are sent to allowed origins only`() async throws {
        let other = url("https://cdn.example.net/7")
        transport.respond(.article, .article, .article)
        try await _ = client().send(Endpoint<Article>.get(.url(other)))
        let origins = Set([Origin(other)].compactMap(\.self))
        try await _ = client(policy: .with { $0.origins = origins }).send(Endpoint<Article>.get(.url(other)))
        try await _ = client(policy: .with { $0.origins = origins }).send(.article(7))
        #expect(transport.sent("Authorization") == [nil, "Bearer access-0", nil])
    }

    @Test(arguments: ["sign-in", "other origin", "redirect"])
    func `G38: the refusal of a request that carried no token refreshes nothing`(request: String) async throws {
        let other = url("https://cdn.example.net/7")
        // What a wrong password, and a server that knows no token, are answered with.
        let refusal = StubResponse.json(
            ["error": "invalid_token"], status: 401, headers: ["WWW-Authenticate": "Bearer error=\"invalid_token\""])
        if request == "redirect" { transport.respond(.redirect(to: other.absoluteString)) }
        transport.respond(refusal)
        let call: Endpoint<Article> =
            switch request {
            case "sign-in": .article(7).withoutAuthentication()
            case "other origin": .get(.url(other))
            default: .article(7)
            }
        let error = await networkError { try await client().send(call) }
        #expect(error?.code == .unacceptableStatus && error?.status == 401)
        #expect(transport.sent("Authorization").last == .some(nil) && provider.refused == [])
        #expect(provider.tokenCalls == (request == "redirect" ? 1 : 0))
    }

    static let rules: [(policy: AuthenticationPolicy, response: StubResponse, isRefusal: Bool)] = {
        func challenge(_ error: String) -> StubResponse { .challenge(#"Basic realm="a", Bearer error="\#(error)""#) }
        let wrong = StubResponse.error(401, code: "WRONG_PASSWORD")
        let expired = StubResponse.error(401, code: "TOKEN_EXPIRED")
        let rules: [(TokenRefusalRule, [(StubResponse, Bool)])] = [
            (
                .anyCode,
                [
                    (wrong, true), (challenge("insufficient_scope"), false), (challenge("invalid_request"), false),
                    (challenge("invalid_token"), true), (challenge("expired"), true),
                ]
            ),
            (
                .exceptCodes(["WRONG_PASSWORD"]),
                [(.error(401, code: "wrong_password"), false), (expired, true), (.status(401), true)]
            ),
            (.codes(), [(expired, true), (wrong, false), (.status(401), false), (challenge("invalid_token"), true)]),
            (
                .when { head, _ in head.headers["X-Expired"] != nil },
                [(.status(401), false), (.status(401, headers: ["X-Expired": "1"]), true)]
            ),
            (.when { _, error in error?.code == "E17" }, [(.error(401, code: "E17"), true)]),
        ]
        let statuses: [(Set<Int>, Int, Bool)] = [
            ([401], 401, true), ([419], 419, true), ([401, 419], 401, true), ([401, 419], 419, true),
            ([419], 401, false),
        ]
        return statuses.map { expired, status, isRefusal in
            (.with { $0.expiredStatuses = expired }, .status(status), isRefusal)
        }
            + rules.flatMap { rule, responses in
                responses.map { (.with { $0.refusals = rule }, $0, $1) }
            }
    }()

    @Test(arguments: rules.indices)
    func `a 401 that does not refuse the token replaces none`(_ index: Int) async throws {
        let (policy, response, isRefusal) = Self.rules[index]
        transport.respond(response)
        if isRefusal {
            transport.respond(.article)
            #expect(try await client(policy: policy).send(.article(7)).id == 7)
        } else {
            let error = await networkError { try await client(policy: policy).send(.article(7)) }
            #expect([.unacceptableStatus, .stepUpRequired].contains(error?.code) && error?.status == 401)
        }
        let tokens = ["Bearer access-0"] + (isRefusal ? ["Bearer access-1"] : [])
        #expect(transport.sent("Authorization") == tokens)
        #expect(provider.refused == (isRefusal ? [.first] : []))
    }

    @Test func `a replacement may be refused too, and a replaced token uses up no retry`() async throws {
        transport.respond(.status(401), .status(503), .status(401), .status(503), .article)
        _ = try await client(interceptors: [RetryPolicy(attempts: 3, random: 0)]).send(.article(7))
        #expect(provider.refused.map(\.generation) == [0, 1] && transport.requests.count == 5)
    }

    @Test func `a third refusal is unauthorized and the provider is not asked again`() async throws {
        transport.respond(.status(401), .status(401), .error(401, code: "TOKEN_EXPIRED", requestId: "r-2"))
        let client = client(interceptors: [RetryPolicy.standard])
        let error = await networkError { try await client.send(.article(7)) }
        #expect(error?.code == .unauthorized && error?.authentication?.code == .unauthorized && error?.status == 401)
        #expect(error?.serverError?.code == "TOKEN_EXPIRED" && error?.requestID == "r-2" && error?.attempt == 3)
        #expect(provider.refused.map(\.generation) == [0, 1] && transport.requests.count == 3)
    }

    @Test(arguments: [
        AuthenticationError.Code.notSignedIn, .sessionEnded, .unauthorized, .noRefreshToken, .refreshUnavailable,
        .storeUnavailable,
    ])
    func `an error of the provider has a code of the same name`(code: AuthenticationError.Code) async throws {
        let error = AuthenticationError(code, retryAfter: .seconds(3))
        for status in [nil, 401] {
            provider.set(status == nil ? .failure(error) : .success(.first))
            provider.onReplacement { _ in throw error }
            if let status { transport.respond(.status(status)) }
            let thrown = await networkError { try await client().send(.article(7)) }
            #expect(thrown?.code.rawValue == code.rawValue && thrown?.authentication?.code == code)
            #expect(thrown?.retryAfter == .seconds(3) && thrown?.status == status)
            #expect(transport.requests.isEmpty == (status == nil))
        }
    }

    @Test func `G19: the provider receives the date of its server, but of no kept response and no slow one`()
        async throws
    {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let cases: [(String, Duration, HTTPHeaders, Bool)] = [
            ("time", .seconds(5), ["Date": date], true), ("time", .seconds(5), ["Date": date, "Age": "0"], true),
            ("time", .seconds(5), ["Date": date, "Age": "600"], false), ("time", .seconds(6), ["Date": date], false),
            ("https://evil.net/time", .zero, ["Date": date], false),
        ]
        for (place, delay, headers, isHeard) in cases {
            let (clock, provider) = (ManualTimeSource(), ScriptedTokenProvider())
            // A slow server, or a process that slept while the response lay in the socket.
            let response = StubResponse { request in
                clock.advance(by: delay)
                let head = HTTPResponseHead(status: 204, headers: headers, url: request.url)
                return HTTPTransportResponse(head: head)
            }
            let network = NetworkClient(StubTransport(responding: response), clock: clock).authenticated(by: provider)
            try await network.send(Endpoint<Void>.get(place == "time" ? "time" : .url(url(place))))
            #expect(
                provider.dates == (isHeard ? [Date(timeIntervalSince1970: 784_111_777)] : []), "\(delay) \(headers)")
        }
    }

    /// G20: a refresh handler takes an `UnauthenticatedNetworkService`, so it cannot use the authenticated client.
    @Test func `only the client without authentication is an UnauthenticatedNetworkService`() {
        let services: [any NetworkService] = [client(), NetworkClient(transport)]
        #expect(services.map { $0 is any UnauthenticatedNetworkService } == [false, true])
    }

    @Test func `interceptors never see a token`() async throws {
        let seen = Recorder<[String]>()
        let spy = AdaptingInterceptor { request in
            seen.record(request.headers.map { "\($0.name): \($0.value)" })
            return request
        }
        transport.respond(.status(401), .article)
        try await _ = client(interceptors: [spy]).send(.article(7))
        #expect(seen.values.count == 2 && seen.values.allSatisfy { !"\($0)".contains("access-") })
    }
}
