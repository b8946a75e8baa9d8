import AuthInterface
import DataAPI
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import Testing

@Suite struct EnvelopeFormatTests {
    private struct Item: Codable, Hashable, Sendable {
        let id: Int
        let title: String
    }

    private func response(_ text: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(head: HTTPResponseHead(status: status), body: Data(text.utf8))
    }

    @Test(arguments: ["false", "0", #""false""#, #""0""#, #""FALSE""#])
    func `an envelope with success false, as servers write it, is an error`(flag: String) {
        let data = #""data":{"id":7,"title":"x"},"errors":[],"meta":{"requestId":"r-1"}"#
        let envelope = response(#"{"success":\#(flag),"code":"QUOTA","message":"Too many",\#(data)}"#)
        let expected = ServerError(code: "QUOTA", message: "Too many", requestId: "r-1")
        #expect(throws: expected) { try EnvelopeFormat().value(Item.self, from: envelope) }
        #expect(throws: expected) { try EnvelopeFormat().check(envelope) }
    }

    @Test(arguments: [
        #"{"data":null,"error":{"code":"TOKEN_EXPIRED","message":"m"}}"#, #"{"error":{"code":498,"message":"m"}}"#,
        #"{"error":"expired"}"#, #"{"data":{"id":null},"errors":[{"message":"m","extensions":{"code":"X"}}]}"#,
    ])
    func `LE6: an error in the place of the value is one`(body: String) {
        let format = EnvelopeFormat()
        #expect(throws: ServerError.self) { try format.value(Item.self, from: response(body)) }
        #expect(throws: ServerError.self) { try format.value(Item?.self, from: response(body)) }
        #expect(throws: ServerError.self) { try format.check(response(body)) }
    }

    @Test(arguments: ["", "{}", "null", "<html>", #"{"success":true}"#])
    func `a response from which no value is read may have any body`(body: String) throws {
        try EnvelopeFormat().check(response(body))
    }

    @Test(arguments: ["", "{}", #"{"success":true}"#, #"{"success":true,"data":null}"#, "[]"])
    func `an envelope without data is no value`(body: String) {
        #expect(throws: DecodingError.self) { try EnvelopeFormat().value(Item.self, from: response(body)) }
    }

    @Test(arguments: [
        #"{"success":true}"#, #"{"success":true,"data":null}"#, #"{"success":true,"data":{"id":7,"title":"x"}}"#,
    ])
    func `an optional type accepts an envelope without data`(body: String) throws {
        for plain in [false, true] {
            let item = try EnvelopeFormat(acceptsPlainValues: plain).value(Item?.self, from: response(body))
            #expect((item == nil) == !body.contains("7"))
        }
    }

    @Test(arguments: [200, 204, 205])
    func `an optional type accepts no body, and no other type does`(status: Int) async throws {
        for plain in [false, true] {
            let client = NetworkClient(
                baseURL: .api, transport: StubTransport((.any ~> .status(status)).repeated()),
                format: EnvelopeFormat(acceptsPlainValues: plain))
            #expect(try await client.send(Endpoint<Item?>.get("x")) == nil)
            let error = await #expect(throws: NetworkError.self) { try await client.send(Endpoint<Item>.get("x")) }
            #expect(error?.code == .decodingFailed)
        }
    }

    @Test func `the error of an envelope is read as that of plain JSON`() {
        let error = response(#"{"success":false,"code":"NOT_FOUND","message":"No"}"#, status: 404)
        #expect(EnvelopeFormat().failure(from: error) == ServerError(code: "NOT_FOUND", message: "No"))
        #expect(EnvelopeFormat().failure(from: response(#"{"success":false}"#, status: 502)) == nil)
    }

    @Test func `the envelope is decoded by the coders of its client`() async throws {
        let coding = JSONCoding(
            makeEncoder: { JSONEncoder() },
            makeDecoder: {
                let decoder = JSONDecoder()
                decoder.dateDecodingStrategy = .secondsSince1970
                return decoder
            }
        )
        let client = NetworkClient(
            baseURL: .api, transport: StubTransport(.any ~> .text(#"{"data":7}"#)), format: .envelope, coding: coding)
        #expect(try await client.send(Endpoint<Date>.get("x")) == Date(timeIntervalSince1970: 7))
    }
}

/// Payloads of servers, whole, as they print them: see the article *Dialects of servers*.
@Suite struct PrintedPayloadTests {
    private static let meta = """
        "meta":{"timestamp":"2026-10-12T00:00:00.123Z","path":"/api/v1/articles","requestId":"5f0c-7","durationMs":12}
        """

    @Test(arguments: [#","user":{"id":7}"#, #","user":{"id":"7","name":"Ada"}"#, #","user":{}"#, #","user":7"#, ""])
    func `G31: the user beside tokens is their subject`(user: String) throws {
        let tokens = try JSONDecoder().decode(
            IssuedTokens.self, from: Data(#"{"accessToken":"fixture-access"\#(user)}"#.utf8))
        let isNamed = user.contains("\"id\"")
        #expect(tokens.result.subject == (isNamed ? TokenSubject(issuer: "user", id: "7") : nil))
    }

    @Test func `an envelope as printed is its data, and its failure a typed error`() async throws {
        let author = #"{"id":"0b9c6f4e-8f5c-4c0e-9a55-2f6e3f6f7a11","name":"Ada"}"#
        let article = #"{"id":7,"title":"Hello","content":"World","author":\#(author)}"#
        let transport = StubTransport(
            .get("articles/7")
                ~> .text(#"{"success":true,"code":"OK","message":"ok","data":\#(article),"errors":null,\#(Self.meta)}"#),
            .post("articles")
                ~> .text(
                    #"""
                    {"success":false,"code":"VALIDATION_FAILED","message":"Check the fields.","data":null,
                    "errors":[{"field":"title","message":"Must have 1 to 200 characters."}],\#(Self.meta)}
                    """#, status: 400))
        let network = NetworkClient(transport, .envelope)
        let read = try await network.send(.article(7))
        #expect(read.title == "Hello" && read.author?.id == "0b9c6f4e-8f5c-4c0e-9a55-2f6e3f6f7a11")
        let error = await #expect(throws: NetworkError.self) {
            try await network.send(.create(ArticleDraft(title: "", content: "World")))
        }
        #expect(error?.status == 400 && error?.requestID == "5f0c-7")
        #expect(error?.serverError?.code == "VALIDATION_FAILED" && error?.serverError?.message == "Check the fields.")
        #expect(error?.serverError?.errors.map(\.field) == ["title"])
    }

    @Test(arguments: [
        (204, ""), (200, ""), (200, #"{"success":true,"code":"OK","data":null}"#), (200, #"{"success":true}"#),
        (200, #"{"success":true,"data":{}}"#),
    ])
    func `a response without a value is one, however it is printed`(status: Int, body: String) async throws {
        let transport = StubTransport(.init(.delete, "articles/7") ~> .text(body, status: status))
        try await NetworkClient(transport, .envelope).send(Endpoint<Void>.delete(7))
        #expect(transport.leftovers.isEmpty)
    }
}
