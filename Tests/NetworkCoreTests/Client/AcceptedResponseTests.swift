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

    @Test func `a page satisfies no endpoint that does not ask for one`() async throws {
        for error in [
            try await failure(of: Endpoint<Void>.get("x"), after: page),
            try await failure(of: Endpoint<Data>.get("x"), after: page),
            try await failure(of: Endpoint<Article>.get("x"), after: page),
            try await failure(of: Endpoint<Data>.get("x").header("Accept", "image/png, */*"), after: page),
        ] {
            #expect(error.code == .decodingFailed && error.status == 200 && "\(error)".contains("HTML"))
        }
    }

    @Test func `a page satisfies an endpoint that asks for it`() async throws {
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
        #expect(try await failure(of: Endpoint<Void>.delete("x"), after: .status(404)).status == 404)
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

    @Test func `a text is a value of no other type, and has another label`() async throws {
        let body = Data("pong".utf8)
        let plain = StubResponse.status(200, headers: ["Content-Type": "text/plain"], body: body)
        let labelled = StubResponse.status(200, headers: ["Content-Type": "application/json"], body: body)
        for error in [
            try await failure(of: Endpoint<Article?>.get("x"), after: plain),
            try await failure(of: Endpoint<String?>.get("x"), after: labelled),
        ] {
            #expect(error.code == .decodingFailed)
        }
    }

    @Test func `an error in a text is an error`() async throws {
        let plain = StubResponse.status(
            200, headers: ["Content-Type": "text/plain"], body: Data(#"{"error":"quota"}"#.utf8))
        #expect(try await failure(of: Endpoint<String>.get("x"), after: plain).serverError?.code == "quota")
    }

    @Test func `a value can be made of the decoded one and the head`() async throws {
        let call = Endpoint<[Int]>.get("x").map { numbers, head in "\(numbers) \(head.status)" }
        #expect(try await client(.json([1, 2])).send(call) == "[1, 2] 200")
    }
}
