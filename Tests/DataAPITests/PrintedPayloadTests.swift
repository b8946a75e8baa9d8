import AuthInterface
import DataAPI
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import Testing

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
