import AuthInterface
import ContractTesting
import Foundation
import NetworkTestSupport
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkCore
@testable import NetworkRecording

@Suite("Logs and cURL text", .timeLimit(.minutes(10)))
struct LoggingObserverTests {
    let clock = ManualTimeSource()

    @Test func `a line says what happened, and holds no secret`() async throws {
        let lines = Recorder<String>()
        let observer = LoggingObserver(minimumLevel: .debug) { level, line in lines.record("\(level.rawValue) \(line)")
        }
        let transport = StubTransport(.any ~> .status(401), .any ~> .json(Article(id: 7, title: "x")))
        let client = NetworkClient(baseURL: baseURL, transport: transport, observers: [observer])
        let endpoint = Endpoint<Article>.get("articles/7", query: ["signature": "secret-in-the-query"])
        _ = try await client.authenticated(by: ScriptedTokenProvider()).send(endpoint)
        let text = lines.values.joined(separator: "\n")
        #expect(!text.contains("secret-in-the-query") && !text.contains("access-"))
        #expect(lines.values.first?.hasPrefix("debug GET https://api.example.com/api/v1/articles/7?signature=") == true)
        #expect(text.contains("error ") && text.contains("→ 401, again in 0 ms"))
        let last = try #require(lines.values.last)
        #expect(last.hasPrefix("info ") && last.contains("→ 200, ") && last.contains("attempt 2 (token "))
        #expect(last.contains("first byte") && last.contains("body"))
    }

    @Test func `phases are timed by the client's clock`() async throws {
        let clock = clock
        let events = Recorder<NetworkEvent>()
        let response = StubResponse { request in
            clock.advance(by: .milliseconds(30))
            let body = HTTPBody {
                AsyncStream<Data> { continuation in
                    clock.advance(by: .milliseconds(8))
                    continuation.yield(Data(#"{"id":7,"title":"x"}"#.utf8))
                    continuation.finish()
                }
            }
            return HTTPTransportResponse(head: HTTPResponseHead(status: 200), body: body)
        }
        struct SlowTokens: TokenProvider {
            let clock: ManualTimeSource
            func token() async throws -> SessionToken {
                clock.advance(by: .milliseconds(3))
                return .first
            }
            func replacement(after refusal: TokenRefusal) async throws -> SessionToken { .first }
            func noteServerDate(_ date: Date) {}
        }
        let client = NetworkClient(
            baseURL: baseURL, transport: StubTransport(.any ~> response), observers: [events], clock: clock)
        _ = try await client.authenticated(by: SlowTokens(clock: clock)).send(.article(7))
        let timings = try #require(events.values.last?.timings)
        #expect(timings.token == .milliseconds(3) && timings.firstByte == .milliseconds(30))
        #expect(timings.body == .milliseconds(8))
        #expect("\(timings)" == "token 3 ms, first byte 30 ms, body 8 ms")
    }

    @Test func `cURL text has the shape of the request, is quoted for a shell, and holds no secret`() throws {
        var head = HTTPRequestHead(method: .post, url: url("https://api.example.com/x?limit=1&apikey=very-secret-key"))
        try head.set("Authorization", to: "Bearer very-secret-token")
        try head.set("Content-Type", to: "application/json")
        try head.set("X-Note", to: "it's very-secret-token; $(rm -rf /)")
        let body = HTTPBody(Data(#"{"password":"very-secret-password","name":"O'Neil `id`"}"#.utf8))
        let text = HTTPTransportRequest(head: head, body: body).curlText
        #expect(!text.contains("very-secret"))
        #expect(text.hasPrefix("curl --request 'POST' \\\n  --header 'Authorization: redacted' \\\n"))
        #expect(text.contains(#"'X-Note: it'\''s redacted; $(rm -rf /)'"#) && text.contains(#"O'\''Neil `id`"#))
        #expect(text.hasSuffix("--url 'https://api.example.com/x?limit=1&apikey=redacted'"))
        let file = HTTPTransportRequest(head: head, body: HTTPBody(Data([0xFF]))).curlText
        #expect(file.hasSuffix("# the body is left out: 1 bytes"))
    }

    @Test func `cURL text of a HEAD request waits for no body`() {
        let head = HTTPRequestHead(method: .head, url: url("https://api.example.com/x"))
        #expect(
            HTTPTransportRequest(head: head).curlText == "curl --head \\\n  --url 'https://api.example.com/x'")
    }
}
