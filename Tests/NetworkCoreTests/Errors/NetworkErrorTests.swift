import AuthInterface
import Foundation
import NetworkCore
import NetworkTestSupport
import NetworkTesting
import NetworkURLSession
import TestSupport
import Testing

@Suite("NetworkError")
struct NetworkErrorTests {
    static let descriptions: [(error: NetworkError, text: String)] = [
        (
            NetworkError(
                .unacceptableStatus,
                request: RequestSummary(method: .get, url: url("https://api.example.com/api/v1/articles/7")),
                response: HTTPResponseHead(status: 404),
                serverError: ServerError(code: "NOT_FOUND", message: "No such article", requestId: "5f0c1234-5678"),
                attempt: 1, elapsed: .milliseconds(42)),
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
        (NetworkError(.timedOut, attempt: 1), "timedOut"),
        (NetworkError(.timedOut, attempt: 2), "timedOut (attempt 2)"),
    ]

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

    @Test(arguments: [
        ("https://x.net/a?token=canary", "https://x.net/a?token=redacted"),
        ("https://x.net/a?access_token=canary&page=2", "https://x.net/a?access_token=redacted&page=2"),
        ("https://x.net/a?apiKey=canary", "https://x.net/a?apiKey=redacted"),
        ("https://x.net/a?code=canary&state=1", "https://x.net/a?code=redacted&state=redacted"),
        ("https://x.net/a?X-Amz-Signature=canary", "https://x.net/a?X-Amz-Signature=redacted"),
        ("https://user:canary@x.net/a", "https://x.net/a"), ("https://x.net/a#access_token=canary", "https://x.net/a"),
        ("https://x.net/a?postcode=1&limit=20", "https://x.net/a?postcode=redacted&limit=20"),
        ("https://x.net/a%2Fb?q=%26", "https://x.net/a%2Fb?q=%26"),
    ])
    func `URLs are redacted`(text: String, shown: String) {
        #expect(RequestSummary(method: .get, url: url(text)).url == shown)
    }

    @Test func `the request identifier is read from a header field`() {
        let head = HTTPResponseHead(status: 500, headers: ["x-request-id": "r-9"])
        #expect(NetworkError(.unacceptableStatus, response: head).requestID == "r-9")
    }
}
