import AuthInterface
import Foundation
import NetworkTestSupport
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkCore

@Suite("NetworkError")
struct NetworkErrorTests {
    static let descriptions: [(error: NetworkError, text: String)] = [
        (
            ofCall(
                NetworkError(
                    .unacceptableStatus, response: HTTPResponseHead(status: 404),
                    serverError: ServerError(
                        code: "NOT_FOUND", message: "No such article", requestId: "5f0c1234-5678")),
                RequestSummary(method: .get, url: url("https://api.example.com/api/v1/articles/7")),
                elapsed: .milliseconds(42)),
            "GET https://api.example.com/api/v1/articles/7 → 404 NOT_FOUND \"No such article\" "
                + "(request 5f0c1234…, 42 ms)"
        ),
        (
            NetworkError(.timedOut, cause: HTTPTransportError(.timedOut, reason: "nothing arrived")),
            "timedOut: nothing arrived"
        ),
        (NetworkError(.unacceptableStatus, response: HTTPResponseHead(status: 502)), "502"),
        (
            NetworkError(.decodingFailed, response: HTTPResponseHead(status: 200), cause: URLError(.badURL)),
            "200 decodingFailed: URLError"
        ),
        (
            NetworkError(.unacceptableStatus, response: HTTPResponseHead(status: 503), retryAfter: .seconds(30)),
            "503 (retry after 30 s)"
        ),
        (NetworkError(.invalidRequest, reason: "no"), "invalidRequest: no"),
        (ofCall(NetworkError(.timedOut)), "timedOut"),
        (ofCall(NetworkError(.timedOut), attempt: 2), "timedOut (attempt 2)"),
    ]

    private static func ofCall(
        _ error: NetworkError, _ request: RequestSummary? = nil, attempt: Int = 1, elapsed: Duration? = nil
    ) -> NetworkError {
        var error = error
        (error.request, error.attempt, error.elapsed) = (request, attempt, elapsed)
        return error
    }

    @Test(arguments: descriptions)
    func `the description is one line with what is known`(error: NetworkError, text: String) {
        #expect("\(error)" == text && String(reflecting: error) == text)
    }

    @Test func `the code and the pause of the token provider's error are shown once`() async throws {
        let provider = ScriptedTokenProvider()
        provider.set(.failure(AuthenticationError(.refreshUnavailable, retryAfter: .seconds(30))))
        let client = NetworkClient(StubTransport()).authenticated(by: provider)
        let error = try await #require(throws: NetworkError.self) { _ = try await client.send(.article(7)) }
        #expect("\(error)".components(separatedBy: "refreshUnavailable").count == 2)
        #expect("\(error)".components(separatedBy: "retry after 30 s").count == 2)
        #expect(!"\(error)".contains("attempt"))
    }

    @Test func `a server's text cannot forge or fill a line of a log`() {
        let error = ServerError(code: "X\r\nlevel=info", message: String(repeating: "a\u{1B}[2J\n", count: 1_000))
        let text = "\(NetworkError(.unacceptableStatus, serverError: error))"
        #expect(!text.contains { $0.isNewline } && !text.contains("\u{1B}") && text.count < 500)
    }

    @Test func `the request identifier is read from a header field`() {
        let head = HTTPResponseHead(status: 500, headers: ["x-request-id": "r-9"])
        #expect(NetworkError(.unacceptableStatus, response: head).requestID == "r-9")
    }

    // MARK: LE6, DI4: the errors of servers and frameworks, as one reader reads them

    struct Shape: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let body: String
        let headers: HTTPHeaders
        let error: ServerError

        init(
            _ name: String, _ body: String, code: String? = nil, _ message: String? = nil, details: [ErrorDetail] = [],
            requestID: String? = nil, headers: HTTPHeaders = [:]
        ) {
            (testDescription, self.body, self.headers) = (name, body, headers)
            error = ServerError(code: code, message: message, errors: details, requestId: requestID)
        }
    }

    static let shapes: [Shape] = [
        Shape(
            "a list of objects",
            #"{"success":false,"code":"A","message":"No.","errors":[{"field":"id","message":"x"}]}"#, code: "A", "No.",
            details: [ErrorDetail(field: "id", message: "x")]),
        Shape(
            "a list of texts", #"{"code":404,"errors":["one","two"],"requestId":"r"}"#, code: "404",
            details: [ErrorDetail(message: "one"), ErrorDetail(message: "two")], requestID: "r"),
        Shape("members of other types", #"{"code":"X","errors":"not a list","meta":7}"#, code: "X"),
        Shape("OAuth 2", #"{"error":"invalid_grant","error_description":"No."}"#, code: "invalid_grant", "No."),
        Shape("RFC 9457", #"{"type":"about:blank","title":"Nope","status":403,"detail":"Not yours"}"#, "Not yours"),
        Shape("Microsoft Graph, Google, OpenAI", #"{"error":{"code":"A","message":"No."}}"#, code: "A", "No."),
        Shape(
            "a number beside a status in words",
            #"{"error":{"code":401,"message":"No.","status":"UNAUTHENTICATED"}}"#, code: "UNAUTHENTICATED", "No."),
        Shape("ArcGIS", #"{"error":{"code":498,"message":"No.","details":[]}}"#, code: "498", "No."),
        Shape(
            "Stripe", #"{"error":{"type":"card_error","code":"card_declined","param":"card"}}"#, code: "card_declined"),
        Shape("AWS", #"{"__type":"com.x#Throttled","message":"No."}"#, code: "Throttled", "No."),
        Shape(
            "AWS, in a field", #"{"message":"No."}"#, code: "Throttled", "No.",
            headers: ["x-amzn-ErrorType": "Throttled:http://x/"]),
        Shape(
            "Salesforce", #"[{"errorCode":"INVALID_SESSION_ID","message":"No."}]"#, code: "INVALID_SESSION_ID", "No.",
            details: [ErrorDetail(code: "INVALID_SESSION_ID", message: "No.")]),
        Shape(
            "JSON:API", #"{"errors":[{"code":"E1","detail":"No.","source":{"pointer":"/data/title"}}]}"#, code: "E1",
            "No.", details: [ErrorDetail(field: "/data/title", code: "E1", message: "No.")]),
        Shape(
            "GraphQL", #"{"errors":[{"message":"x","extensions":{"code":"UNAUTHENTICATED"}}],"data":null}"#,
            code: "UNAUTHENTICATED", "x", details: [ErrorDetail(code: "UNAUTHENTICATED", message: "x")]),
        Shape(
            "FastAPI", #"{"detail":[{"loc":["body","title"],"msg":"Field required","type":"missing"}]}"#,
            details: [ErrorDetail(field: "title", code: "missing", message: "Field required")]),
        Shape(
            "Laravel", #"{"message":"No.","errors":{"title":["required","short"]}}"#, "No.",
            details: [ErrorDetail(field: "title", message: "required"), ErrorDetail(field: "title", message: "short")]),
        Shape(
            "Django REST framework", #"{"title":["This field is required."]}"#,
            details: [ErrorDetail(field: "title", message: "This field is required.")]),
        Shape(
            "Django REST framework, a token", #"{"detail":"No.","code":"token_not_valid"}"#, code: "token_not_valid",
            "No."),
        Shape("Rails", #"{"status":401,"error":"Unauthorized"}"#, code: "Unauthorized"),
        Shape("a list of messages", #"{"error":{"message":["a"],"code":null}}"#, "a"),
        Shape("WeChat", #"{"errcode":40030,"errmsg":"invalid"}"#, code: "40030", "invalid"),
        Shape(
            "a form", "error=bad_refresh_token&error_description=It+is+%22old%22", code: "bad_refresh_token",
            #"It is "old""#, headers: ["Content-Type": "application/x-www-form-urlencoded; charset=utf-8"]),
        Shape(
            "a form without a valid encoding", "error=%zz&error_description=\"é%\"&", code: "%zz", "\"é%\"",
            headers: ["Content-Type": "application/x-www-form-urlencoded"]),
        Shape("no error", #"{"error":null,"errcode":0,"code":"","errors":[],"message":false}"#),
        Shape("a form that says it is JSON", "error=x", headers: ["Content-Type": "application/json"]),
    ]

    static let noErrors = ["", "<html><h1>502</h1>", "[]", "7", "{}", #"{"success":false}"#, #"{"data":{}}"#]

    @Test(arguments: shapes + noErrors.map { Shape($0, $0) })
    func `code, message, details and the identifier of the request are read`(_ shape: Shape) {
        let head = HTTPResponseHead(status: 400, headers: shape.headers)
        var error = PlainJSONFormat().failure(from: HTTPResponse(head: head, body: Data(shape.body.utf8)))
        error?.otherCodes = []
        #expect(error == (shape.error == ServerError() ? nil : shape.error))
    }

    @Test func `G26: a body that is deep or long is read in bounded time, or not at all`() {
        for body in [
            String(repeating: "[", count: 60_000), #"{"error":"# + String(repeating: #"{"error":"#, count: 400),
        ] {
            #expect(ErrorBody(Data(body.utf8)) == nil)
        }
        let deep = String(repeating: #"{"error":"#, count: 300) + "1" + String(repeating: "}", count: 300)
        #expect(ErrorBody(Data(deep.utf8))?.codes == [])
    }

    @Test(arguments: [
        #"{"error":{"code":190,"type":"OAuthException","message":"x"}}"#,
        #"{"errors":[{"extensions":{"code":"190"}}]}"#,
    ])
    func `each code in the body counts for a rule of refusals`(body: String) {
        let response = HTTPResponse(head: HTTPResponseHead(status: 401), body: Data(body.utf8))
        let error = PlainJSONFormat().failure(from: response)
        let failure = NetworkError(.unacceptableStatus, response: response.head, serverError: error)
        #expect(TokenRefusalRule.codes(["190"]).matches(failure))
        #expect(!TokenRefusalRule.exceptCodes(["190"]).matches(failure))
    }

    /// US1.
    @Test(arguments: [
        NetworkError.Code.refreshUnavailable, .storeUnavailable, .noRefreshToken, .sessionEnded, .unauthorized,
        .stepUpRequired, .timedOut, .bodyNotReplayable, .authenticationFailed, .proofRequired,
    ])
    func `the code chooses the sentence for the user, and not the status`(_ code: NetworkError.Code) {
        let error = NetworkError(code, response: HTTPResponseHead(status: 401))
        #expect(error.localizedDescription == NetworkError(code).localizedDescription)
        #expect(error.localizedDescription != "You are not signed in.")
    }
}
