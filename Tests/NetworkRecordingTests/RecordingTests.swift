import AuthInterface
import ContractTesting
import Foundation
import NetworkTestSupport
import NetworkTesting
import NetworkURLSession
import TestSupport
import Testing

@testable import NetworkCore
@testable import NetworkRecording

@Suite("HAR, logs and cURL text", .timeLimit(.minutes(10)))
struct RecordingTests {
    let secret = "s3cr3t-refresh-token-value"

    func record(_ body: (NetworkClient) async throws -> Void) async throws -> HTTPArchive {
        let server = try LoopbackServer { [secret] request in
            switch request.target {
            case "/close": .close
            case "/half": .raw(Data("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".utf8))
            case "/photo": .respond(200, headers: ["Content-Type": "image/png"], body: Data([0x89, 0x50]))
            default: .json(#"{"id":7,"title":"quoting \#(secret)","accessToken":"abc"}"#)
            }
        }
        defer { server.stop() }
        let recorder = HARRecorder(URLSessionTransport())
        try await body(NetworkClient(baseURL: server.url, transport: recorder))
        return recorder.archive
    }

    @Test func `an exchange is recorded in the form of HAR, without secrets`() async throws {
        let archive = try await record { client in
            let body = RequestBody.json(["refreshToken": secret, "name": "Ada"])
            let endpoint = Endpoint<Article>.post("articles", query: ["limit": 2, "signature": secret], body: body)
            _ = try await client.send(endpoint.header("Authorization", "Bearer \(secret)").header("X-Note", secret))
        }
        let data = try archive.encoded()
        let text = String(decoding: data, as: UTF8.self)
        #expect(!text.contains(secret) && !text.contains("abc"))
        let entry = try #require(archive.log.entries.first)
        #expect(entry.request.method == "POST" && entry.response.status == 200)
        #expect(entry.request.postData?.text.contains("Ada") == true)
        #expect(entry.response.content.text?.contains("quoting") == true)
        #expect(entry.request.queryString.map(\.name) == ["limit", "signature"])
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let log = try #require(object["log"] as? [String: Any])
        #expect(log["version"] as? String == "1.2" && log["creator"] is [String: Any])
        let first = try #require((log["entries"] as? [[String: Any]])?.first)
        for name in ["startedDateTime", "time", "request", "response", "cache", "timings"] {
            #expect(first[name] != nil)
        }
        let request = try #require(first["request"] as? [String: Any])
        for name in ["method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"] {
            #expect(request[name] != nil)
        }
        let response = try #require(first["response"] as? [String: Any])
        for name in ["status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL"] {
            #expect(response[name] != nil)
        }
        #expect(try JSONDecoder().decode(HTTPArchive.self, from: data) == archive)
    }

    @Test func `a secret of the path or of a form with parts is in no recording`() async throws {
        let marked = Endpoint<Article>.get("links/\(secret: secret)/use")
        let archive = try await record { client in
            _ = try await client.send(marked)
            var form = MultipartForm()
            form.append("password", secret)
            form.append("name", "Ada")
            // More than a form that is encoded in memory.
            form.append("filling", String(repeating: "a", count: 1_024 * 1_024))
            _ = try await client.send(Endpoint<Article>.post("login", body: .multipart(form)))
        }
        let data = try archive.encoded()
        #expect(archive.log.entries.count == 2)
        #expect(!String(decoding: data, as: UTF8.self).contains(secret))
        #expect(archive.log.entries.allSatisfy { $0.response.content.text?.contains("quoting redacted") == true })
    }

    @Test
    func `a secret of the path, and a token in a field whose name says nothing, are in no recording and no command`()
        async throws
    {
        let token = String(repeating: "0123456789abcdef", count: 4)
        let commands = Recorder<String>()
        let recorder = HARRecorder(CommandTransport(commands: commands))
        let policy = AuthenticationPolicy(placement: .fields(accessToken: "X-User-Key"))
        let provider = ScriptedTokenProvider(
            SessionToken(value: token, session: SessionID(rawValue: "session-a"), generation: 0))
        let client = NetworkClient(baseURL: baseURL, transport: recorder).authenticated(by: provider, policy: policy)
        try await client.send(Endpoint<Void>.get("links/\(secret: "k7")/use"))
        let text = String(decoding: try recorder.archive.encoded(), as: UTF8.self)
        #expect(text.contains("X-User-Key") && !text.contains(token))
        let command = try #require(commands.values.first)
        #expect(command.contains("X-User-Key: redacted") && command.contains("links/redacted/use"))
        #expect(commands.values.count == 1)
    }

    @Test func `the tokens of a refresh are in no recording and no command, under any name`() async throws {
        let token = "r-0123456789abcdef"
        let commands = Recorder<String>()
        let recorder = HARRecorder(CommandTransport(commands: commands))
        let call = Endpoint<Void>.post("refresh", json: ["rt": token]).header("X-Refresh", token)
            .allowingLateResponse(to: TokenRefreshRequest(refreshToken: token))
        try await NetworkClient(baseURL: baseURL, transport: recorder).send(call)
        let text = String(decoding: try recorder.archive.encoded(), as: UTF8.self) + commands.values.joined()
        #expect(text.contains("X-Refresh: redacted") && text.contains(#"{"rt":"redacted"}"#) && !text.contains(token))
        #expect(!"\(call.settings)".contains(token))
    }

    @Test func `what failed is recorded with its reason, and what is no text without a body`() async throws {
        let archive = try await record { client in
            for path in ["close", "half", "photo"] { _ = try? await client.send(Endpoint<Data>.get("\(path)")) }
        }
        #expect(archive.log.entries.map(\.response.status) == [0, 200, 200])
        #expect(archive.log.entries.map { $0.comment != nil } == [true, true, false])
        #expect(archive.log.entries.last?.response.content.text == nil)
        #expect(archive.log.entries.last?.response.content.size == 2)
    }

    @Test func `the newest exchanges are kept`() async throws {
        let recorder = HARRecorder(StubTransport((Stub(.any, .status(204))).repeated()), maximumEntries: 3)
        let client = NetworkClient(baseURL: baseURL, transport: recorder)
        for number in 0..<5 { try await client.send(Endpoint<Void>.get("\(number)")) }
        #expect(recorder.archive.log.entries.map(\.request.url).map { $0.suffix(1) } == ["2", "3", "4"])
    }

    // MARK: Logs and cURL text

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

/// Records the command of cURL for each request.
private struct CommandTransport: HTTPTransport {
    let commands: Recorder<String>

    func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        commands.record(request.curlText)
        return HTTPTransportResponse(head: HTTPResponseHead(status: 200))
    }
}
