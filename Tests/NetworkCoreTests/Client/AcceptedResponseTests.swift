import Foundation
import NetworkCore
import NetworkTestSupport
import NetworkTesting
import TestSupport
import Testing

@Suite("Which responses are accepted")
struct AcceptedResponseTests {
    let page = StubResponse.status(
        200, headers: ["Content-Type": "text/html; charset=utf-8"], body: Data("<html>Sign in</html>".utf8))

    func client(_ response: StubResponse) -> NetworkClient { NetworkClient(StubTransport(responding: response)) }

    func failure<Response>(of call: Endpoint<Response>, after response: StubResponse) async throws -> NetworkError {
        try #require(await networkError { try await client(response).send(call) })
    }

    @Test func `a page satisfies an endpoint that asks for it, and no other one`() async throws {
        for error in [
            try await failure(of: Endpoint<Void>.get("x"), after: page),
            try await failure(of: Endpoint<Data>.get("x"), after: page),
            try await failure(of: Endpoint<Article>.get("x"), after: page),
            try await failure(of: Endpoint<Data>.get("x").header("Accept", "image/png, */*"), after: page),
        ] {
            #expect(error.code == .decodingFailed && error.status == 200 && "\(error)".contains("HTML"))
        }
        let call = Endpoint<Data>.get("x").header("Accept", "image/png, text/html;q=0.5")
        #expect(try await client(page).send(call) == Data("<html>Sign in</html>".utf8))
        #expect(try await client(page).send(Endpoint<HTTPResponse>.request(.get, "x")).status == 200)
    }

    @Test func `an empty body is no page, and a value that can be decoded is taken whatever its label`() async throws {
        let headers: HTTPHeaders = ["Content-Type": "text/html"]
        try await client(.status(200, headers: headers)).send(Endpoint<Void>.get("x"))
        let labelled = StubResponse.status(200, headers: headers, body: Data("[1]".utf8))
        #expect(try await client(labelled).send(Endpoint<[Int]>.get("x")) == [1])
    }

    @Test func `accepted statuses are the endpoint's or the client's, and need not be a range`() async throws {
        let call = Endpoint<Void>.delete("x").accepting(.success, .notFound)
        for status in [200, 204, 404] { try await client(.status(status)).send(call) }
        for status in [304, 403, 405, 500] {
            #expect(try await failure(of: call, after: .status(status)).status == status)
        }
        for status in [100, 199, 301, 304, 400, 404, 418, 500, 599] {
            let error = try await failure(of: Endpoint<Article>.get("x"), after: .status(status))
            #expect(error.code == .unacceptableStatus && error.status == status)
        }
        let client = NetworkClient(StubTransport(responding: .status(304), .status(200))) {
            $0.acceptedStatuses = .range(300..<400)
        }
        #expect(try await client.send(Endpoint<HTTPResponse>.request(.get, "x")).status == 304)
        #expect(await networkError { try await client.send(Endpoint<Void>.get("x")) }?.status == 200)
    }

    @Test(arguments: [200, 204, 205])
    func `a missing body is nil for an optional type, and no value of another one`(status: Int) async throws {
        #expect(try await client(.status(status)).send(Endpoint<Article?>.get("x")) == nil)
        #expect(try await client(.status(status)).send(Endpoint<String?>.get("x")) == nil)
        #expect(try await failure(of: Endpoint<Article>.get("x"), after: .status(status)).code == .decodingFailed)
        #expect(try await failure(of: Endpoint<String>.get("x"), after: .status(status)).code == .decodingFailed)
    }

    @Test(arguments: [
        (Data("pong".utf8), "pong"), (Data(), ""), (Data("7".utf8), "7"), (Data(#"{"a":1}"#.utf8), #"{"a":1}"#),
        (Data("\"pong\"".utf8), "pong"), (Data("caf\u{E9}".utf8), "caf\u{E9}"), (Data([0x63, 0xE9]), "c\u{E9}"),
    ])
    func `a text is read as it is, or as a string of JSON`(body: Data, text: String) async throws {
        let plain = StubResponse.status(200, headers: ["Content-Type": "Text/Plain; charset=utf-8"], body: body)
        #expect(try await client(plain).send(Endpoint<String>.get("x")) == text)
        #expect(try await client(plain).send(Endpoint<String?>.get("x")) == (body.isEmpty ? nil : text))
    }

    @Test func `a text is a value of no other type, has another label, and an error in it is an error`() async throws {
        let body = Data("pong".utf8)
        let plain = StubResponse.status(200, headers: ["Content-Type": "text/plain"], body: body)
        #expect(try await failure(of: Endpoint<Article?>.get("x"), after: plain).code == .decodingFailed)
        let labelled = StubResponse.status(200, headers: ["Content-Type": "application/json"], body: body)
        #expect(try await failure(of: Endpoint<String?>.get("x"), after: labelled).code == .decodingFailed)
        let quota = StubResponse.status(
            200, headers: ["Content-Type": "text/plain"], body: Data(#"{"error":"quota"}"#.utf8))
        #expect(try await failure(of: Endpoint<String>.get("x"), after: quota).serverError?.code == "quota")
    }

    struct Note: Codable, Hashable, Sendable { var noteId: Int }

    static let snakeCase = JSONCoding(
        makeEncoder: {
            let encoder = JSONEncoder()
            encoder.keyEncodingStrategy = .convertToSnakeCase
            return encoder
        },
        makeDecoder: {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return decoder
        })

    @Test func `a client reads plain JSON, and its coders are written once`() async throws {
        let body = Data(#"{"note_id":7}"#.utf8)
        let transport = StubTransport((.any ~> .status(200, body: body)).repeated())
        let client = NetworkClient(baseURL: baseURL, transport: transport, coding: Self.snakeCase)
        #expect(try await client.send(Endpoint<Note>.post("notes", json: Note(noteId: 7))) == Note(noteId: 7))
        #expect(transport.requests.first?.body == body)
        // A format with coders of its own keeps them.
        let other = NetworkClient(
            baseURL: baseURL, transport: transport, format: PlainJSONFormat(coding: .standard), coding: Self.snakeCase)
        await #expect(throws: NetworkError.self) { try await other.send(Endpoint<Note>.get("notes/7")) }
        // So does the format of an endpoint, which may be that of another server.
        await #expect(throws: NetworkError.self) { try await client.send(Endpoint<Note>.get("notes/7").format(.json)) }
    }

    @Test func `HEAD and OPTIONS return the head of the response`() async throws {
        let transport = StubTransport((.any ~> .status(204, headers: ["Allow": "GET, HEAD"])).repeated())
        let client = NetworkClient(transport)
        try await client.send(Endpoint<Void>.head("x"))
        #expect(try await client.send(Endpoint.request(.head, "x")).status == 204)
        #expect(try await client.send(Endpoint.request(.options, "x")).headers["Allow"] == "GET, HEAD")
        #expect(transport.requests.map(\.method) == [.head, .head, .options])
    }

    @Test func `a value comes with the head of its response, or is made of both`() async throws {
        let numbers = StubResponse.status(203, headers: ["ETag": "\"1\""], body: Data("[1, 2]".utf8))
        let response = try await client(numbers).response(to: Endpoint<[Int]>.get("x"))
        #expect(response.value == [1, 2] && response.status == 203 && response.headers["ETag"] == "\"1\"")
        let call = Endpoint<[Int]>.get("x").map { numbers, head in "\(numbers) \(head.status)" }
        #expect(try await client(numbers).send(call) == "[1, 2] 203")
    }

    @Test func `the head of a stream returns before the body has arrived, and the body is read in pieces`() async throws
    {
        let (pieces, source) = AsyncStream<Data>.makeStream()
        let response = StubResponse { _ in
            HTTPTransportResponse(head: HTTPResponseHead(status: 200), body: HTTPBody(once: pieces))
        }
        let client = NetworkClient(StubTransport(responding: response))
        let stream = try await client.stream(Endpoint<Void>.get("feed"))
        #expect(stream.head.status == 200)
        source.yield(Data("a".utf8))
        var iterator = stream.body.makeAsyncIterator()
        #expect(try await iterator.next() == Data("a".utf8))
        source.yield(Data("b".utf8))
        source.finish()
        #expect(try await iterator.next() == Data("b".utf8))
        #expect(try await iterator.next() == nil)
        await #expect(throws: HTTPBodyError.self) { try await stream.body.collect(upTo: 10) }
    }

    @Test func `before a stream starts a refused token is replaced, and a status is refused as for any call`()
        async throws
    {
        let transport = StubTransport(
            responding: .status(401), .status(200, body: Data("body".utf8)), .error(404, code: "NOT_FOUND"))
        let network = NetworkClient(transport).authenticated(by: ScriptedTokenProvider())
        let stream = try await network.stream(Endpoint<Void>.get("feed"))
        #expect(try await stream.body.collect(upTo: 10) == Data("body".utf8))
        #expect(transport.sent("Authorization") == ["Bearer access-0", "Bearer access-1"])
        let error = await networkError { try await network.stream(Endpoint<Void>.get("x")) }
        #expect(error?.status == 404 && error?.serverError?.code == "NOT_FOUND")
    }
}
