import Foundation
import NetworkTestSupport
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkCore

/// The short forms of frequent calls.
@Suite("Short forms", .timeLimit(.minutes(10)))
struct ShortFormTests {
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
            baseURL: baseURL, transport: transport, format: .json(.standard), coding: Self.snakeCase)
        await #expect(throws: NetworkError.self) { try await other.send(Endpoint<Note>.get("notes/7")) }
        // So does the format of an endpoint, which may be that of another server.
        await #expect(throws: NetworkError.self) { try await client.send(Endpoint<Note>.get("notes/7").format(.json)) }
    }

    @Test func `HEAD and OPTIONS have builders`() async throws {
        let transport = StubTransport((.any ~> .status(204, headers: ["Allow": "GET, HEAD"])).repeated())
        let client = NetworkClient(transport)
        try await client.send(Endpoint<Void>.head("x"))
        #expect(try await client.send(Endpoint<HTTPResponse>.head("x")).status == 204)
        #expect(try await client.send(Endpoint<HTTPResponse>.options("x")).headers["Allow"] == "GET, HEAD")
        #expect(transport.requests.map(\.method) == [.head, .head, .options])
    }

    @Test func `a value comes with the head of its response`() async throws {
        let body = Data(#"{"id":7,"title":"x"}"#.utf8)
        let transport = StubTransport(responding: .status(203, headers: ["ETag": "\"1\""], body: body))
        let response = try await NetworkClient(transport).response(to: .article(7))
        #expect(response.value == Article(id: 7, title: "x"))
        #expect(response.status == 203 && response.headers["ETag"] == "\"1\"")
    }

    @Test(arguments: [
        ("articles/a%2Fb", "articles/a%2Fb"), ("/a%20b/%c3%a9", "a%20b/%c3%a9"), ("a;v=1/b:c@d", "a;v=1/b:c@d"),
    ])
    func `an encoded path is sent as it is`(path: String, sent: String) async throws {
        let transport = StubTransport(responding: .status(204))
        try await NetworkClient(transport).send(Endpoint<Void>.get(.encoded(path)))
        #expect(transport.requests.first?.url?.absoluteString == "https://api.example.com/api/v1/\(sent)")
    }

    @Test(arguments: ["a b", "a?b", "a#b", "é", "%zz", "%", "%2", "a/../b", "%2e%2E/b", "a/%2e", "%ff", "a\nb", "a\"b"])
    func `a path that is not encoded, or would change, is not sent`(path: String) async throws {
        let transport = StubTransport()
        let client = NetworkClient(transport)
        let error = await networkError { try await client.send(Endpoint<Void>.get(.encoded(path))) }
        #expect(error?.code == .invalidRequest && transport.requests.isEmpty)
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
}
