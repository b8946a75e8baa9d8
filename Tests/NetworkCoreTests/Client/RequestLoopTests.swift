import AuthInterface
import AuthTesting
import Foundation
import NetworkCore
import NetworkTesting
import Testing

@Suite("The request loop", .timeLimit(.minutes(10)))
struct RequestLoopTests {
    func client(
        _ transport: any HTTPTransport,
        interceptors: [any RequestInterceptor] = [],
        configure: (inout NetworkConfiguration) -> Void = { _ in }
    ) -> NetworkClient {
        var configuration = NetworkConfiguration(baseURL: baseURL)
        configure(&configuration)
        return NetworkClient(configuration: configuration, transport: transport, interceptors: interceptors)
    }

    /// The error a call ends with.
    func failure<Response>(of call: Endpoint<Response>, through client: NetworkClient) async throws -> NetworkError {
        try #require(await #expect(throws: NetworkError.self) { _ = try await client.send(call) })
    }

    /// Sends every failed request again, and writes down what it saw.
    struct Again: RequestInterceptor {
        let name: String
        var decides = RetryDecision.retry(after: .zero)
        let log: Recorder<String>

        func adapt(_ request: HTTPRequestHead, context: RequestContext) async throws -> HTTPRequestHead {
            log.record("\(name) adapts \(context.attempt)")
            let path = (request.headers["X-Path"] ?? "") + name
            return try request.setting("X-Path", to: path)
        }

        func retry(_ failure: NetworkError, context: RequestContext) async throws -> RetryDecision {
            log.record("\(name) hears \(context.attempt)")
            return decides
        }
    }

    @Test func readsAnswersOfEveryKind() async throws {
        let transport = StubTransport(
            .get("articles/7") ~> .envelope(Article(id: 7, title: "x")),
            .delete("articles/7") ~> .status(204),
            .get("files/a") ~> .status(200, body: Data("bytes".utf8)),
            .post("raw") ~> .status(202, headers: ["X-Job": "9"]),
            .get("plain") ~> .json([1, 2])
        )
        let client = client(transport)
        #expect(try await client.send(.article(7)) == Article(id: 7, title: "x"))
        try await client.send(Endpoint<Void>.delete("articles/\(7)"))
        #expect(try await client.send(Endpoint<Data>.get("files/\("a")")) == Data("bytes".utf8))
        #expect(try await client.send(Endpoint<HTTPResponse>.request(.post, "raw")).headers["x-job"] == "9")
        #expect(try await client.send(Endpoint<[Int]>.get("plain").format(.json)) == [1, 2])
        #expect(transport.leftovers.isEmpty)
    }

    @Test(arguments: [100, 199, 301, 304, 400, 404, 418, 500, 599])
    func onlyAcceptedStatusesAreSuccess(status: Int) async throws {
        let error = try await failure(of: .article(7), through: client(StubTransport(.any ~> .status(status))))
        #expect(error.code == .unacceptableStatus)
        #expect(error.status == status)
    }

    @Test func theAcceptedRangeIsConfigurable() async throws {
        let transport = StubTransport(.any ~> .status(304), .any ~> .status(200))
        let client = client(transport) { $0.acceptedStatuses = 300..<400 }
        #expect(try await client.send(Endpoint<HTTPResponse>.request(.get, "x")).status == 304)
        #expect(try await failure(of: Endpoint<HTTPResponse>.request(.get, "x"), through: client).status == 200)
    }

    @Test func anErrorKeepsWhatTheServerSaid() async throws {
        let stub = StubResponse.error(404, code: "NOT_FOUND", message: "No such article", requestId: "5f0c1234-56")
        let error = try await failure(of: .article(7), through: client(StubTransport(.any ~> stub)))
        #expect(error.envelope?.code == "NOT_FOUND")
        #expect(error.requestID == "5f0c1234-56")
        #expect(error.request?.description == "GET https://api.example.com/api/v1/articles/7")
    }

    @Test func anAnswerThatCannotBeReadIsDescribedWithoutBeingQuoted() async throws {
        let stub = StubResponse.json(["data": ["id": "canary", "title": "canary"]])
        let error = try await failure(of: .article(7), through: client(StubTransport(.any ~> stub)))
        #expect(error.code == .decodingFailed)
        #expect((error.cause as? DecodingFailure)?.path == "data.id")
        #expect(!"\(error)".contains("canary"))
    }

    @Test func adaptsInOrderAndAsksForRetriesInOrder() async throws {
        let log = Recorder<String>()
        let transport = StubTransport(.any ~> .status(500), .any ~> .status(204))
        let interceptors = [
            Again(name: "a", decides: .doNotRetry, log: log), Again(name: "b", log: log), Again(name: "c", log: log),
        ]
        try await client(transport, interceptors: interceptors).send(Endpoint<Void>.get("x"))
        #expect(
            log.values == [
                "a adapts 1", "b adapts 1", "c adapts 1", "a hears 1", "b hears 1",
                "a adapts 2", "b adapts 2", "c adapts 2",
            ]
        )
        // Each attempt starts from the endpoint, not from what the last attempt made of it.
        #expect(transport.requests.map { $0.headers["X-Path"] } == ["abc", "abc"])
    }

    @Test func attemptsAreBoundedWhateverInterceptorsSay() async throws {
        let transport = StubTransport(Array(repeating: .any ~> .status(500), count: 9))
        let again = Again(name: "a", log: Recorder())
        let client = client(transport, interceptors: [again]) { $0.maximumAttempts = 4 }
        let error = try await failure(of: .article(7), through: client)
        #expect(error.attempt == 4)
        #expect(transport.requests.count == 4)
    }

    @Test func aOneShotBodyIsNotSentAgainWhateverInterceptorsSay() async throws {
        let transport = StubTransport(.any ~> .status(500))
        let call = Endpoint<Void>.put("x", body: .oneShot(Data("once".utf8).pieces))
        let again = Again(name: "a", log: Recorder())
        let error = try await failure(of: call, through: client(transport, interceptors: [again]))
        #expect(error.code == .bodyNotReplayable)
        #expect(error.status == 500)
        #expect(transport.requests.count == 1)
    }

    @Test func anInterceptorThatThrowsEndsTheCall() async throws {
        struct Broken: RequestInterceptor {
            struct Mishap: Error {}
            func adapt(_ request: HTTPRequestHead, context: RequestContext) async throws -> HTTPRequestHead {
                throw Mishap()
            }
        }
        let transport = StubTransport()
        let error = try await failure(of: .article(7), through: client(transport, interceptors: [Broken()]))
        #expect(error.code == .interceptorFailed)
        #expect(error.cause is Broken.Mishap)
        #expect(transport.requests.isEmpty)
    }

    @Test func anAnswerThatIsTooLargeIsNotKept() async throws {
        let big = Data(repeating: 7, count: 1_001)
        let stubs: [Stub] = [
            .any ~> .status(200, body: big), .any ~> .status(200, headers: ["Content-Length": "1001"], body: big),
            .any ~> .status(500, body: big), .any ~> .status(200, body: big.dropLast()),
        ]
        let client = client(StubTransport(stubs)) { $0.maximumResponseSize = 1_000 }
        let call = Endpoint<Data>.get("x")
        #expect(try await failure(of: call, through: client).code == .responseTooLarge)
        #expect(try await failure(of: call, through: client).code == .responseTooLarge)
        // The status is the news, however long the error page.
        #expect(try await failure(of: call, through: client).status == 500)
        #expect(try await client.send(call).count == 1_000)
    }

    @Test func aRequestThatCannotBeBuiltIsNotSent() async throws {
        let transport = StubTransport()
        let client = client(transport)
        #expect(try await failure(of: Endpoint<Article>.get("a/\("..")"), through: client).code == .invalidRequest)
        let unencodable = Endpoint<Article>.post("x", json: Double.nan)
        #expect(try await failure(of: unencodable, through: client).code == .encodingFailed)
        #expect(transport.requests.isEmpty)
    }

    /// A screen sends from the main actor. Encoding, reading files and decoding must not happen there.
    @MainActor @Test func worksOffTheCallersActor() async throws {
        let mark = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: mark, value: true)
        defer { DispatchQueue.main.setSpecific(key: mark, value: nil) }
        try #require(DispatchQueue.getSpecific(key: mark) == true)

        let places = Recorder<Bool>()
        let witness = Witness { places.record(DispatchQueue.getSpecific(key: mark) == true) }
        try await client(StubTransport(.any ~> .status(204)), interceptors: [witness]).send(Endpoint<Void>.get("x"))
        #expect(places.values == [false])
    }

    /// Does something in the middle of the loop.
    struct Witness: RequestInterceptor {
        let look: @Sendable () -> Void

        func adapt(_ request: HTTPRequestHead, context: RequestContext) async throws -> HTTPRequestHead {
            look()
            return request
        }
    }

    /// G16: a login's body and its answer hold secrets too, and no token has been placed yet.
    @Test func nothingAtAllGoesInClearToAnotherMachine() async throws {
        let transport = StubTransport(.any ~> .status(204))
        let login = Endpoint<Void>.post("login", json: "x")
        let refused = client(transport) { $0.baseURL = url("http://api.example.com") }
        #expect(try await failure(of: login, through: refused).code == .cleartextRefused)
        #expect(transport.requests.isEmpty)
        try await client(transport) { $0.baseURL = url("http://localhost:8080") }.send(login)
    }

    @Test func reportsProgress() async throws {
        let heard = Recorder<TransferProgress>()
        let client = client(StubTransport(.any ~> .status(204)))
        try await client.send(Endpoint<Void>.post("x", body: .data(Data("12345".utf8)))) { heard.record($0) }
        #expect(heard.values == [TransferProgress(completed: 5, total: 5)])
    }

    @Test func theTimeOutIsTheEndpointsOrTheConfigurations() async throws {
        let transport = StubTransport(.any ~> .status(204), .any ~> .status(204))
        let client = client(transport)
        try await client.send(Endpoint<Void>.get("x"))
        try await client.send(Endpoint<Void>.get("x").timeout(.seconds(2)))
        #expect(transport.requests.map(\.idleTimeout) == [.seconds(30), .seconds(2)])
    }

    @Test(arguments: [("X-A", "b\r\nX-Injected: 1"), ("X-A", "b\nc"), ("Content-Length", "3"), ("Host", "evil.net")])
    func `a field that an interceptor may not set fails the request`(name: String, value: String) async throws {
        struct Setter: RequestInterceptor {
            let name: String
            let value: String

            func adapt(_ request: HTTPRequestHead, context: RequestContext) async throws -> HTTPRequestHead {
                var request = request
                request.headers[name] = value
                return request
            }
        }
        let transport = StubTransport()
        let client = client(transport, interceptors: [Setter(name: name, value: value)])
        let error = try await failure(of: .article(7), through: client)
        #expect(error.code == .invalidRequest && "\(error)".contains(name) && !"\(error)".contains("Injected"))
        #expect(transport.requests.isEmpty)
    }

    @Test func `two lengths and two locations in a response are an error`() async throws {
        let responses: [(Int, HTTPHeaders)] = [
            (200, HTTPHeaders([("Content-Length", "1"), ("Content-Length", "2")])),
            (200, ["Content-Length": "1, 2"]),
            (302, HTTPHeaders([("Location", "/a"), ("Location", "/b")])), (302, ["Location": "/a, /b"]),
        ]
        for (status, headers) in responses {
            let transport = StubTransport(.any ~> .status(status, headers: headers))
            let error = try await failure(of: Endpoint<Void>.get("x"), through: client(transport))
            #expect(error.code == .invalidResponse)
            #expect(transport.requests.count == 1)
        }
        let same = StubTransport(.any ~> .status(200, headers: ["Content-Length": "1, 1"], body: Data("x".utf8)))
        #expect(try await client(same).send(Endpoint<Data>.get("x")).count == 1)
    }
}
