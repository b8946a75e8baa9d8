import AuthInterface
import Foundation
import NetworkTestSupport
import NetworkTesting
import Testing

@testable import NetworkCore

/// LE6, DI4: the errors of servers and frameworks, as one reader reads them.
@Suite struct ErrorShapeTests {
    struct Shape: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let body: String
        var code: String?
        var message: String?
        var details: [ErrorDetail] = []
        var headers: HTTPHeaders = [:]
    }

    static let shapes: [Shape] = [
        Shape(
            testDescription: "Microsoft Graph, Google, OpenAI", body: #"{"error":{"code":"A","message":"No."}}"#,
            code: "A",
            message: "No."),
        Shape(
            testDescription: "a number beside a status in words",
            body: #"{"error":{"code":401,"message":"No.","status":"UNAUTHENTICATED"}}"#, code: "UNAUTHENTICATED",
            message: "No."),
        Shape(
            testDescription: "ArcGIS", body: #"{"error":{"code":498,"message":"Invalid token.","details":[]}}"#,
            code: "498",
            message: "Invalid token."),
        Shape(
            testDescription: "Stripe", body: #"{"error":{"type":"card_error","code":"card_declined","param":"card"}}"#,
            code: "card_declined"),
        Shape(
            testDescription: "AWS", body: #"{"__type":"com.x#Throttled","message":"No."}"#, code: "Throttled",
            message: "No."),
        Shape(
            testDescription: "AWS, in a field", body: #"{"message":"No."}"#, code: "Throttled", message: "No.",
            headers: ["x-amzn-ErrorType": "Throttled:http://x/"]),
        Shape(
            testDescription: "Salesforce", body: #"[{"errorCode":"INVALID_SESSION_ID","message":"No."}]"#,
            code: "INVALID_SESSION_ID", message: "No.",
            details: [ErrorDetail(code: "INVALID_SESSION_ID", message: "No.")]),
        Shape(
            testDescription: "JSON:API",
            body: #"{"errors":[{"code":"E1","detail":"No.","source":{"pointer":"/data/title"}}]}"#, code: "E1",
            message: "No.",
            details: [ErrorDetail(field: "/data/title", code: "E1", message: "No.")]),
        Shape(
            testDescription: "GraphQL",
            body: #"{"errors":[{"message":"x","extensions":{"code":"UNAUTHENTICATED"}}],"data":null}"#,
            code: "UNAUTHENTICATED", message: "x", details: [ErrorDetail(code: "UNAUTHENTICATED", message: "x")]),
        Shape(
            testDescription: "FastAPI",
            body: #"{"detail":[{"loc":["body","title"],"msg":"Field required","type":"missing"}]}"#,
            details: [ErrorDetail(field: "title", code: "missing", message: "Field required")]),
        Shape(
            testDescription: "Laravel", body: #"{"message":"No.","errors":{"title":["required","short"]}}"#,
            message: "No.",
            details: [ErrorDetail(field: "title", message: "required"), ErrorDetail(field: "title", message: "short")]),
        Shape(
            testDescription: "Django REST framework", body: #"{"title":["This field is required."]}"#,
            details: [ErrorDetail(field: "title", message: "This field is required.")]),
        Shape(
            testDescription: "Django REST framework, a token", body: #"{"detail":"No.","code":"token_not_valid"}"#,
            code: "token_not_valid", message: "No."),
        Shape(testDescription: "Rails", body: #"{"status":401,"error":"Unauthorized"}"#, code: "Unauthorized"),
        Shape(testDescription: "a list of messages", body: #"{"error":{"message":["a"],"code":null}}"#, message: "a"),
        Shape(
            testDescription: "WeChat", body: #"{"errcode":40030,"errmsg":"invalid"}"#, code: "40030", message: "invalid"
        ),
        Shape(
            testDescription: "a form", body: "error=bad_refresh_token&error_description=It+is+%22old%22",
            code: "bad_refresh_token",
            message: #"It is "old""#, headers: ["Content-Type": "application/x-www-form-urlencoded; charset=utf-8"]),
        Shape(
            testDescription: "a form without a valid encoding", body: "error=%zz&error_description=\"é%\"&",
            code: "%zz", message: "\"é%\"", headers: ["Content-Type": "application/x-www-form-urlencoded"]),
        Shape(testDescription: "no error", body: #"{"error":null,"errcode":0,"code":"","errors":[],"message":false}"#),
        Shape(
            testDescription: "a form that says it is JSON", body: "error=x",
            headers: ["Content-Type": "application/json"]),
        Shape(testDescription: "a number", body: "7"),
    ]

    @Test(arguments: shapes)
    func `code, message and details are read`(_ shape: Shape) {
        let head = HTTPResponseHead(status: 400, headers: shape.headers)
        let error = PlainJSONFormat().failure(from: HTTPResponse(head: head, body: Data(shape.body.utf8)))
        #expect(error?.code == shape.code && error?.message == shape.message && error?.errors ?? [] == shape.details)
        let isError = shape.code != nil || shape.message != nil || !shape.details.isEmpty
        #expect((error != nil) == isError)
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
