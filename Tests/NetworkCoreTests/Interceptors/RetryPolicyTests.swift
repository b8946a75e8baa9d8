import ContractTesting
import Foundation
import NetworkTestSupport
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkCore

@Suite("RetryPolicy", .timeLimit(.minutes(10)))
struct RetryPolicyTests {
    let policy = RetryPolicy(random: 0.5)

    func failure(_ status: Int, retryAfter: Duration? = nil) -> NetworkError {
        NetworkError(.unacceptableStatus, response: HTTPResponseHead(status: status), retryAfter: retryAfter)
    }

    /// What the policy does after the failure of an idempotent request.
    func decision(
        after failure: NetworkError, _ context: RequestContext = RequestContext()
    ) async throws -> RetryDecision {
        try await policy.retry(failure, context: context)
    }

    @Test func `a transient status is retried, and no other one`() async throws {
        for status in [408, 425, 429, 500, 502, 503, 504, 529, 530] + Array(520...527) {
            #expect(try await decision(after: failure(status)) == .retry(after: .milliseconds(250)), "\(status)")
        }
        for status in [200, 301, 400, 401, 403, 404, 409, 410, 419, 422, 501, 505, 519, 528, 531] {
            #expect(try await decision(after: failure(status)) == .doNotRetry, "\(status)")
        }
    }

    @Test func `a missing response is retried, and no failure that would recur`() async throws {
        for code: NetworkError.Code in [.connectionFailed, .timedOut, .transportFailed] {
            #expect(try await decision(after: NetworkError(code)) != .doNotRetry, "\(code)")
        }
        for code: NetworkError.Code in [
            .invalidRequest, .encodingFailed, .cleartextRefused, .decodingFailed, .tlsFailed, .redirectRefused,
            .tooManyRedirects, .responseTooLarge, .sessionEnded, .refreshUnavailable, .unsuccessful,
        ] {
            #expect(try await decision(after: NetworkError(code)) == .doNotRetry, "\(code)")
        }
    }

    @Test func `a request that must not happen twice is not retried, nor is a last attempt`() async throws {
        let once = RequestContext(method: .post, isIdempotent: false)
        #expect(try await decision(after: failure(503), once) == .doNotRetry)
        #expect(try await decision(after: NetworkError(.connectionFailed), once) == .doNotRetry)
        #expect(try await decision(after: failure(503), RequestContext(isReplayable: false)) == .doNotRetry)
        #expect(try await decision(after: failure(503), RequestContext(attempt: 2)) != .doNotRetry)
        #expect(try await decision(after: failure(503), RequestContext(attempt: 3)) == .doNotRetry)
    }

    @Test func `a retry waits for Retry-After up to a limit`() async throws {
        let pause = Duration.seconds(60) + .milliseconds(250)
        #expect(try await decision(after: failure(503, retryAfter: .seconds(60))) == .retry(after: pause))
        #expect(try await decision(after: failure(503, retryAfter: .seconds(61))) == .doNotRetry)
    }

    func client(over transport: StubTransport) -> NetworkClient {
        NetworkClient(transport, interceptors: [RetryPolicy(random: 0)], clock: ManualTimeSource())
    }

    @Test(
        arguments: [
            (["Retry-After": "0"], true), (["X-RateLimit-Remaining": "0"], true),
            (["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1"], true),
            (["RateLimit": "\"day\";r=0"], true), (["X-RateLimit-Remaining": "1", "X-RateLimit-Reset": "9"], false),
            (["RateLimit": "\"day\";r=1;t=9"], false), ([:], false),
        ] as [(HTTPHeaders, Bool)]
    )
    func `a 403 is retried where it is the refusal of a limit`(fields: HTTPHeaders, isRetried: Bool) async throws {
        let head = HTTPResponseHead(status: 403, headers: fields)
        let failure = NetworkError(.unacceptableStatus, response: head, retryAfter: head.retryAfter(now: Date()))
        #expect(try await (decision(after: failure) != .doNotRetry) == isRetried)
        #expect(try await decision(after: failure, RequestContext(method: .post)) == .doNotRetry)
    }

    @Test func `a 409 is retried while the first call with the key is in progress`() async throws {
        let article = Article(id: 7, title: "x")
        let busy = StubResponse.status(409, headers: ["Retry-After": "0"])
        let transport = StubTransport(responding: .failure(.timedOut), busy, .json(article), .status(409), busy)
        let client = client(over: transport)
        #expect(try await client.send(.create(article).idempotent(key: "k")) == article)
        let conflict = await networkError { try await client.send(.create(article).idempotent(key: "k")) }
        #expect(conflict?.status == 409)
        #expect(await networkError { try await client.send(.article(7)) }?.status == 409)
        #expect(transport.requests.count == 5)
    }

    @Test func `a POST with an idempotency key is retried, but for calls that are not repeated`() async throws {
        let article = Article(id: 7, title: "x")
        for call in [Endpoint.create(article).idempotent(key: "k"), .create(article).header("idempotency-key", "k")] {
            let transport = StubTransport(responding: .status(503), .json(article), .status(503), .status(503))
            let client = client(over: transport)
            // A field is for the caller's own repetition of a token call.
            let isField = call.settings.idempotencyKey == nil
            #expect(call.isIdempotent && call.asTokenCall().isIdempotent == !isField)
            #expect(try await client.send(call) == article)
            #expect(await networkError { try await client.send(call.asTokenCall()) }?.status == 503)
            #expect(await networkError { try await client.send(Endpoint.create(article)) }?.status == 503)
            #expect(transport.sent("Idempotency-Key") == ["k", "k", "k", nil])
        }
    }

    @Test func `retries are off for one call, and its token is replaced all the same`() async throws {
        let transport = StubTransport((.any ~> .status(503)).repeated())
        let client = NetworkClient(transport, interceptors: [RetryPolicy(baseDelay: .zero)])
        await networkError { try await client.send(Endpoint<Article>.article(7).withoutRetries()) }
        #expect(transport.requests.count == 1)
        await #expect(throws: NetworkError.self) { try await client.send(.article(7)) }
        #expect(transport.requests.count > 2)

        let refused = StubTransport(responding: .status(401), .status(204))
        let network = NetworkClient(refused).authenticated(by: ScriptedTokenProvider())
        try await network.send(Endpoint<Void>.get("x").withoutRetries())
        #expect(refused.requests.count == 2)
    }

    @Test(arguments: ["QUERY", "PROPFIND", "REPORT", "SEARCH"])
    func `a safe method of the registry is retried with its body`(method: String) async throws {
        let transport = StubTransport(responding: .failure(.connectionFailed), .status(503), .status(200))
        let body = RequestBody.data(Data(#"{"q":"a"}"#.utf8))
        let call = Endpoint.request(HTTPMethod(rawValue: method), "articles", body: body)
        #expect(try await client(over: transport).send(call).status == 200)
        #expect(transport.requests.count == 3)
    }

    @Test func `LE7: what a kept connection has lost is sent again on a new one`() async throws {
        let transport = StubTransport(
            .any
                ~> StubResponse { _ in
                    throw HTTPTransportError(.connectionFailed, reason: "closed", repetition: .ifIdempotent)
                },
            .any ~> .status(204))
        try await client(over: transport).send(Endpoint<Void>.get("x"))
        #expect(transport.requests.map(\.context.needsNewConnection) == [false, true])
    }

    @Test func `a 421 is retried once, and never for a token call`() async throws {
        let transport = StubTransport((.any ~> .status(421)).repeated())
        let client = client(over: transport)
        #expect(await networkError { try await client.send(.article(7)) }?.status == 421)
        #expect(transport.requests.map(\.context.needsNewConnection) == [false, true])
        #expect(await networkError { try await client.send(Endpoint<Void>.get("x").asTokenCall()) }?.status == 421)
        #expect(transport.requests.count == 3)
    }

    @Test(arguments: [(1, 500), (2, 1_000), (3, 2_000), (6, 16_000), (7, 20_000), (60, 20_000)])
    func `pauses grow up to a bound`(attempt: Int, milliseconds: Int) async throws {
        let longest = RetryPolicy(attempts: 100, random: 1)
        let shortest = RetryPolicy(attempts: 100, random: 0)
        let context = RequestContext(attempt: attempt)
        #expect(try await longest.retry(failure(503), context: context) == .retry(after: .milliseconds(milliseconds)))
        #expect(try await shortest.retry(failure(503), context: context) == .retry(after: .zero))
    }

    @Test func `an outage exhausts the budget of all calls`() async throws {
        let transport = StubTransport((.any ~> .status(503)).repeated())
        let client = client(over: transport)
        for _ in 0..<100 { await networkError { try await client.send(.article(7)) } }
        // 20 were saved, and the calls add a tenth each. Without a budget there would be 200.
        #expect((25...31).contains(transport.requests.count - 100))
    }

    @Test func `a thousand requests that failed together do not retry together`() async throws {
        var policy = RetryPolicy()
        policy.budget = RetryBudget(capacity: 10_000)
        var pauses: [Int: Int] = [:]
        for _ in 0..<1_000 {
            let decision = try await policy.retry(
                failure(503, retryAfter: .seconds(2)), context: RequestContext(attempt: 2))
            guard case .retry(let pause) = decision else { return #expect(Bool(false)) }
            #expect(pause >= .seconds(2) && pause <= .seconds(3))
            pauses[Int(pause / .milliseconds(100)), default: 0] += 1
        }
        // Ten slots of 100 expected requests each; twice as many is more than ten standard deviations.
        #expect(pauses.values.allSatisfy { $0 < 200 })
    }

    @Test func `a request without a connection waits until there is one, in place of the pause`() async throws {
        let isReady = Gate()
        var policy = RetryPolicy(random: 0)
        policy.waitUntilReady = { _ in await isReady.pass() }
        let transport = StubTransport(responding: .failure(.connectionFailed), .article)
        let client = NetworkClient(transport, interceptors: [policy])
        let call = Task { try await client.send(.article(7)) }
        try await isReady.arrivals(atLeast: 1)
        #expect(transport.requests.count == 1)
        isReady.open()
        #expect(try await call.value.id == 7)
    }

    @Test func `the wait for a connection is bounded, does not follow a response, and is not the same for all calls`()
        async throws
    {
        let clock = ManualTimeSource()
        let isReady = Gate()
        var policy = RetryPolicy(random: 0.5)
        policy.waitUntilReady = { _ in await isReady.pass() }
        #expect(try await policy.retry(failure(503), context: RequestContext()) == .retry(after: .milliseconds(250)))
        let context = RequestContext(clock: clock)
        let decision = Task { [policy] in try await policy.retry(NetworkError(.connectionFailed), context: context) }
        try await clock.advance(toTimerIn: policy.maximumWait)
        #expect(try await decision.value == .doNotRetry)
        isReady.open()
        let late = RequestContext(attempt: 2)
        #expect(
            try await policy.retry(NetworkError(.connectionFailed), context: late) == .retry(after: .milliseconds(250)))
    }

    // MARK: The budget

    let budget = RetryBudget(capacity: 2, earnedPerCall: 0.25, earnedPerSecond: 0.1)

    func isExhausted(at uptime: Duration = .zero) -> Bool { !budget.withdraw(at: uptime) }

    @Test func `a budget starts full, can be exhausted, and earns by calls and by time`() {
        #expect(!isExhausted() && !isExhausted() && isExhausted())
        for _ in 0..<3 { budget.deposit(at: .zero) }
        #expect(isExhausted())
        budget.deposit(at: .zero)
        #expect(!isExhausted() && isExhausted())
        #expect(isExhausted(at: .seconds(9)))
        #expect(!isExhausted(at: .seconds(11)) && isExhausted(at: .seconds(11)))
    }

    @Test func `a budget saves no more than its capacity`() {
        let late = Duration.seconds(1_000_000)
        for _ in 0..<100 { budget.deposit(at: late) }
        #expect(!isExhausted(at: late) && !isExhausted(at: late) && isExhausted(at: late))
    }
}
