import ContractTesting
import NetworkCore
import NetworkTestSupport
import NetworkTesting
import TestSupport
import Testing

@Suite("Options of one call", .timeLimit(.minutes(10)))
struct RequestOptionsTests {
    let clock = ManualTimeSource()

    struct Mark: RequestInterceptor {
        let name: String

        func adapt(_ request: HTTPRequestHead, context: RequestContext) async throws -> HTTPRequestHead {
            try request.setting("X-Mark", to: (request.headers["X-Mark"] ?? "") + name)
        }
    }

    @Test func `interceptors of a call follow those of the client`() async throws {
        let transport = StubTransport(responding: .status(204), .status(204))
        let client = NetworkClient(transport, interceptors: [Mark(name: "a")], clock: clock)
        var options = RequestOptions()
        options.interceptors = [Mark(name: "b")]
        try await client.send(Endpoint<Void>.get("x"), options: options)
        try await client.send(Endpoint<Void>.get("x"))
        #expect(transport.requests.map { $0.headers["X-Mark"] } == ["ab", "a"])
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

    @Test func `the deadline is the caller's, else the endpoint's, else the client's`() async throws {
        let transport = StubTransport(Array(repeating: .any ~> .status(204), count: 4))
        let client = NetworkClient(transport)
        let call = Endpoint<Void>.get("x")
        try await client.send(call)
        try await client.send(call.timeout(.seconds(120)))
        try await client.send(call.deadline(.seconds(5)))
        try await client.send(call.deadline(.seconds(5)), deadline: .seconds(2))
        #expect(transport.requests.map(\.timeToHead) == [60, 120, 5, 2].map { .seconds($0) })
        #expect(transport.requests.map(\.idleTimeout) == [30, 120, 30, 30].map { .seconds($0) })
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
