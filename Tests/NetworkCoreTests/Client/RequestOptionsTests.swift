import AuthInterface
import ContractTesting
import NetworkCore
import NetworkTestSupport
import NetworkTesting
import TestSupport
import Testing

@Suite("Options of one call", .timeLimit(.minutes(10)))
struct RequestOptionsTests {
    let clock = ManualTimeSource()

    private func mark(_ name: String) -> AdaptingInterceptor {
        AdaptingInterceptor { try $0.setting("X-Mark", to: ($0.headers["X-Mark"] ?? "") + name) }
    }

    @Test func `interceptors of a call follow those of the client`() async throws {
        let transport = StubTransport(responding: .status(204), .status(204))
        let client = NetworkClient(transport, interceptors: [mark("a")], clock: clock)
        var options = RequestOptions()
        options.interceptors = [mark("b")]
        try await client.send(Endpoint<Void>.get("x"), options: options)
        try await client.send(Endpoint<Void>.get("x"))
        #expect(transport.sent("X-Mark") == ["ab", "a"])
    }

    @Test func `tags reach transports and observers`() async throws {
        let transport = StubTransport(.any ~> .status(204))
        let observer = Recorder<NetworkEvent>()
        var options = RequestOptions()
        options.tags = ["screen": "list"]
        try await NetworkClient(transport, observers: [observer]).send(Endpoint<Void>.get("x"), options: options)
        #expect(transport.requests.map(\.context.tags) == [["screen": "list"]])
        #expect(observer.values.allSatisfy { $0.tags == ["screen": "list"] })
    }

    @Test func `a transport sees the call, its session and each attempt, also where a redirect takes the token away`()
        async throws
    {
        let transport = StubTransport(
            responding: .status(401), .redirect(to: "https://cdn.example.com/photo"), .redirect(to: "/other"),
            .status(204), .status(204))
        let client = NetworkClient(transport).authenticated(by: ScriptedTokenProvider())
        try await client.send(Endpoint<Void>.get("photo"))
        try await client.send(Endpoint<Void>.get("public").withoutAuthentication())
        let contexts = transport.requests.map(\.context)
        #expect(contexts.map(\.attempt) == [1, 2, 2, 2, 1])
        #expect(contexts.map { $0.session?.rawValue } == ["session-a", "session-a", "session-a", "session-a", nil])
        #expect(Set(contexts.prefix(4).map(\.id)).count == 1 && contexts[4].id != contexts[0].id)
        #expect(transport.sent("Authorization").map { $0 != nil } == [true, true, false, false, false])
    }

    @Test func `the deadline is the caller's, else the endpoint's, else the client's`() async throws {
        let transport = RequestRecorder(next: StubTransport(Array(repeating: .any ~> .status(204), count: 5)))
        let client = NetworkClient(transport, clock: clock)
        let call = Endpoint<Void>.get("x")
        try await client.send(call)
        try await client.send(call.timeout(.seconds(120)))
        try await client.send(call.deadline(.seconds(5)))
        try await client.send(call.deadline(.seconds(5)), deadline: .seconds(2))
        _ = try await client.stream(call)
        let requests = transport.requests.values
        #expect(requests.map(\.timeToHead) == [60, 120, 5, 2, 60].map { .seconds($0) })
        #expect(requests.map(\.timeToEnd) == [60, 120, 5, 2, nil].map { $0.map { .seconds($0) } })
        #expect(requests.map(\.idleTimeout) == [30, 120, 30, 30, 30].map { .seconds($0) })
    }

    @Test func `attempts share one deadline, and a pause that would outlast it is not made`() async throws {
        let transport = StubTransport(Array(repeating: .any ~> .status(503), count: 2))
        var retry = RetryPolicy(attempts: 9, random: 0.5)
        retry.baseDelay = .seconds(8)
        let client = NetworkClient(transport, interceptors: [retry], clock: clock)
        let call = Task { try await client.send(Endpoint<Void>.get("x"), deadline: .seconds(10)) }
        try await clock.advance(toTimerIn: .seconds(4))
        let error = try await #require(throws: NetworkError.self) { try await call.value }
        #expect(error.status == 503 && error.attempt == 2)
        #expect(transport.requests.map(\.timeToHead) == [.seconds(10), .seconds(6)])
    }
}

@Suite("NetworkObserver", .timeLimit(.minutes(10)))
struct ObservationTests {
    let observer = Recorder<NetworkEvent>()
    let clock = ManualTimeSource(uptime: .seconds(10))

    func client(_ stubs: Stub...) -> NetworkClient {
        NetworkClient(
            StubTransport(stubs), interceptors: [RetryPolicy(random: 0.5)], observers: [observer], clock: clock)
    }

    @Test func `observers receive every event of a call in order`() async throws {
        let client = client(
            .get("articles/7") ~> .status(503),
            .get("articles/7") ~> .status(302, headers: ["Location": "/api/v2/articles/7"]),
            .get("v2/articles/7") ~> .article)
        let task = Task { try await client.send(.article(7)) }
        try await clock.advance(toTimerIn: .milliseconds(250))
        _ = try await task.value

        let moved = RequestSummary(method: .get, url: url("https://api.example.com/api/v2/articles/7"))
        let kinds = observer.values.map(\.kind)
        #expect(
            kinds.dropLast() == [
                .started, .sent, .responded(status: 503),
                .retrying(after: .milliseconds(250), because: .unacceptableStatus, status: 503),
                .sent, .responded(status: 302), .redirected(status: 302, to: moved), .sent, .responded(status: 200),
            ])
        let last = try #require(kinds.last)
        #expect(last.name == .succeeded && last.status == 200 && (last.bytes ?? 0) > 0)
        #expect(Set(observer.values.map(\.id)).count == 1)
        #expect(observer.values.map(\.attempt) == [0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
        #expect(observer.values.first?.uptime == .seconds(10))
        #expect(observer.values.last?.uptime == .seconds(10) + .milliseconds(250))
    }

    @Test func `a failure is the last event`() async throws {
        await networkError { try await client(.any ~> .status(404)).send(.article(7)) }
        #expect(observer.values.last?.kind == .failed(.unacceptableStatus, status: 404))
    }

    @Test func `cancelling ends a call during the pause before a retry, and is the last event`() async throws {
        let task = Task { [client = client(.any ~> .status(503))] in try await client.send(.article(7)) }
        try await clock.timer(in: .milliseconds(250))
        await expectCancellation(of: task)
        #expect(observer.values.last?.kind == .cancelled)
    }
}
