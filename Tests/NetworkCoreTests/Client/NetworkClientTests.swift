import AuthInterface
import Foundation
import NetworkCore
import NetworkTestSupport
import NetworkTesting
import TestSupport
import Testing

@Suite("The calls of a client", .timeLimit(.minutes(10)))
struct NetworkClientTests {
    /// The error of a call.
    func failure<Response>(of call: Endpoint<Response>, through client: NetworkClient) async throws -> NetworkError {
        try #require(await networkError { try await client.send(call) })
    }

    /// Retries every failed request, and records its calls.
    struct AlwaysRetry: RequestInterceptor {
        var name = "a"
        var decision = RetryDecision.retry(after: .zero)
        var log = Recorder<String>()

        func adapt(_ request: HTTPRequestHead, context: RequestContext) async throws -> HTTPRequestHead {
            log.record("\(name) adapts \(context.attempt)")
            let path = (request.headers["X-Path"] ?? "") + name
            return try request.setting("X-Path", to: path)
        }

        func retry(_ failure: NetworkError, context: RequestContext) async throws -> RetryDecision {
            log.record("\(name) retries \(context.attempt)")
            return decision
        }
    }

    @Test func `responses of every type are read, in generic code too`() async throws {
        func post<Value: Decodable & Sendable>(_ type: Value.Type) -> Endpoint<Value> { .post("files") }
        let transport = StubTransport(
            .get("articles/7") ~> .json(Article(id: 7, title: "x")),
            .delete("articles/7") ~> .status(204),
            .get("files/a") ~> .status(200, body: Data("bytes".utf8)),
            .post("files") ~> .status(200, body: Data([1, 2])),
            .post("raw") ~> .status(202, headers: ["X-Job": "9"]),
            .get("list") ~> .json([1, 2])
        )
        let client = NetworkClient(transport)
        #expect(try await client.send(.article(7)) == Article(id: 7, title: "x"))
        try await client.send(Endpoint<Void>.delete("articles/\(7)"))
        #expect(try await client.send(Endpoint<Data>.get("files/\("a")")) == Data("bytes".utf8))
        #expect(try await client.send(post(Data.self)) == Data([1, 2]))
        #expect(try await client.send(Endpoint<HTTPResponse>.request(.post, "raw")).headers["x-job"] == "9")
        #expect(try await client.send(Endpoint<[Int]>.get("list")) == [1, 2])
        #expect(transport.leftovers.isEmpty)
    }

    @Test func `interceptors adapt and retry in order`() async throws {
        let log = Recorder<String>()
        let transport = StubTransport(responding: .status(500), .status(204))
        let interceptors = [
            AlwaysRetry(name: "a", decision: .doNotRetry, log: log), AlwaysRetry(name: "b", log: log),
            AlwaysRetry(name: "c", log: log),
        ]
        try await NetworkClient(transport, interceptors: interceptors).send(Endpoint<Void>.get("x"))
        #expect(
            log.values == [
                "a adapts 1", "b adapts 1", "c adapts 1", "a retries 1", "b retries 1",
                "a adapts 2", "b adapts 2", "c adapts 2",
            ])
        // Each attempt starts from the endpoint, not from the request of the last attempt.
        #expect(transport.requests.map { $0.headers["X-Path"] } == ["abc", "abc"])
    }

    @Test func `the configuration bounds the attempts of interceptors, and a replaced token is none of them`()
        async throws
    {
        for (statuses, attempts) in [([500, 500, 500], 3), ([500], 1), ([401, 500], 1), ([401, 401, 401], 1)] {
            let transport = StubTransport(statuses.map { .any ~> .status($0) })
            let client = NetworkClient(transport, interceptors: [AlwaysRetry()]) { $0.maximumAttempts = attempts }
                .authenticated(by: ScriptedTokenProvider())
            let error = await networkError { try await client.send(.article(7)) }
            #expect(transport.requests.count == statuses.count)
            #expect(error?.code == (statuses.last == 401 ? .unauthorized : .unacceptableStatus))
        }
    }

    @Test func `304, and the response to HEAD, have no body, with any length that they name`() async throws {
        let headers: HTTPHeaders = ["Content-Length": "20000000"]
        let transport = StubTransport(responding: .status(304, headers: headers), .status(200, headers: headers))
        let client = NetworkClient(transport) { $0.maximumResponseSize = 1_000 }
        #expect(try await client.send(Endpoint<Data>.get("x").accepting(.success, .status(304))).isEmpty)
        #expect(try await client.send(Endpoint.request(.head, "x")).headers == headers)
    }

    @Test func `a one-shot body is not sent again even if an interceptor retries`() async throws {
        let transport = StubTransport(.any ~> .status(500))
        let call = Endpoint<Void>.put("x", body: .oneShot(Data("once".utf8).pieces))
        let error = try await failure(of: call, through: NetworkClient(transport, interceptors: [AlwaysRetry()]))
        #expect(error.code == .bodyNotReplayable && error.status == 500 && transport.requests.count == 1)
    }

    @Test func `an interceptor that throws ends the call`() async throws {
        struct TestError: Error {}
        let transport = StubTransport()
        let client = NetworkClient(transport, interceptors: [AdaptingInterceptor { _ in throw TestError() }])
        let error = try await failure(of: .article(7), through: client)
        #expect(error.code == .interceptorFailed && error.cause is TestError && transport.requests.isEmpty)
    }

    @Test func `a response that is too large is not kept, and not read where it says so`() async throws {
        let (big, pulled) = (Data(repeating: 7, count: 1_001), Recorder<Int>())
        let announced = StubResponse { _ in
            let body = HTTPBody {
                pulled.record(1)
                return nil
            }
            return HTTPTransportResponse(
                head: HTTPResponseHead(status: 200, headers: ["Content-Length": "1001"]), body: body)
        }
        let transport = StubTransport(
            responding: .status(200, body: big), announced, .status(500, body: big), .status(200, body: big.dropLast()))
        let client = NetworkClient(transport) { $0.maximumResponseSize = 1_000 }
        let call = Endpoint<Data>.get("x")
        for _ in 0..<2 { #expect(try await failure(of: call, through: client).code == .responseTooLarge) }
        #expect(pulled.values.isEmpty)
        // The status is reported, however long the error page is.
        #expect(try await failure(of: call, through: client).status == 500)
        #expect(try await client.send(call).count == 1_000)
    }

    @Test func `a request that cannot be built is not sent, and its error names its URL without secrets`()
        async throws
    {
        let transport = StubTransport()
        let client = NetworkClient(transport)
        let unencodable = Endpoint<Article>.post("x", json: Double.nan)
        #expect(try await failure(of: unencodable, through: client).code == .encodingFailed)
        let link = url("ftp://x.net/a?token=x")
        for (endpoint, text) in [
            (
                .get("a/\("..")", query: ["token": "x"]),
                "https://api.example.com/api/v1/a/..?token=redacted → invalidRequest: a path"
            ),
            (.get(.url(link)), "ftp://x.net/a?token=redacted → invalidRequest: the URL is not"),
            (.get("articles/\("")/comments"), "https://api.example.com/api/v1/articles//comments → invalidRequest"),
        ] as [(Endpoint<Article>, String)] {
            let error = try await failure(of: endpoint, through: client)
            #expect(error.code == .invalidRequest && "\(error)".hasPrefix("GET \(text)"), "\(error)")
        }
        #expect(transport.requests.isEmpty)
    }

    /// A screen sends from the main actor. Encoding, reading files and decoding must not run there.
    @MainActor @Test func `a call does not run on the caller's actor`() async throws {
        let mark = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: mark, value: true)
        defer { DispatchQueue.main.setSpecific(key: mark, value: nil) }
        try #require(DispatchQueue.getSpecific(key: mark) == true)

        let onMainQueue = Recorder<Bool>()
        let witness = AdaptingInterceptor { request in
            onMainQueue.record(DispatchQueue.getSpecific(key: mark) == true)
            return request
        }
        let client = NetworkClient(StubTransport(responding: .status(204)), interceptors: [witness])
        try await client.send(Endpoint<Void>.get("x"))
        #expect(onMainQueue.values == [false])
    }

    /// G16: the body of a login and its response contain secrets too, before any token is placed.
    @Test func `no request is sent over plain http to another machine`() async throws {
        let transport = StubTransport(.any ~> .status(204))
        let login = Endpoint<Void>.post("login", json: "x")
        let refused = NetworkClient(transport) { $0.baseURL = url("http://api.example.com") }
        #expect(try await failure(of: login, through: refused).code == .cleartextRefused)
        #expect(transport.requests.isEmpty)
        try await NetworkClient(transport) { $0.baseURL = url("http://localhost:8080") }.send(login)

        let provider = ScriptedTokenProvider()
        let authenticated = refused.authenticated(by: provider)
        #expect(await networkError { try await authenticated.send(.article(7)) }?.code == .cleartextRefused)
        #expect(provider.tokenCalls == 0)
        transport.respond(.article)
        _ = try await NetworkClient(transport) {
            $0.baseURL = url("http://api.example.com")
            $0.cleartextExceptions = Set([Origin(url("http://api.example.com"))].compactMap(\.self))
        }.authenticated(by: provider).send(.article(7))
        #expect(transport.sent("Authorization") == [nil, "Bearer access-0"])
    }

    @Test(arguments: [("X-A", "b\r\nX-Injected: 1"), ("X-A", "b\nc"), ("Content-Length", "3"), ("Host", "evil.net")])
    func `a field that an interceptor may not set fails the request`(name: String, value: String) async throws {
        let transport = StubTransport()
        let setter = AdaptingInterceptor { request in
            var request = request
            request.headers[name] = value
            return request
        }
        let client = NetworkClient(transport, interceptors: [setter])
        let error = try await failure(of: .article(7), through: client)
        #expect(error.code == .invalidRequest && "\(error)".contains(name) && !"\(error)".contains("Injected"))
        #expect(transport.requests.isEmpty)
    }

    @Test func `two lengths and two locations in a response are an error`() async throws {
        let responses: [(Int, HTTPHeaders)] = [
            (200, HTTPHeaders([("Content-Length", "1"), ("Content-Length", "2")])), (200, ["Content-Length": "1, 2"]),
            (302, HTTPHeaders([("Location", "/a"), ("Location", "/b")])), (302, ["Location": "/a, /b"]),
        ]
        for (status, headers) in responses {
            let transport = StubTransport(responding: .status(status, headers: headers))
            let error = try await failure(of: Endpoint<Void>.get("x"), through: NetworkClient(transport))
            #expect(error.code == .invalidResponse && transport.requests.count == 1)
        }
        let same = StubResponse.status(200, headers: ["Content-Length": "1, 1"], body: Data("x".utf8))
        let created = StubResponse.status(201, headers: ["Location": "/docs/Smith, John"])
        let client = NetworkClient(StubTransport(responding: same, created))
        #expect(try await client.send(Endpoint<Data>.get("x")).count == 1)
        // The target of a response that is no redirect is not read.
        try await client.send(Endpoint<Void>.post("docs"))
    }
}
