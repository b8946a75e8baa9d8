import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkCore
import NetworkTestSupport
import TestSupport
import Testing

@testable import NetworkURLSession

@Suite("URLSessionTransport, against real servers", .timeLimit(.minutes(10)))
struct URLSessionTransportTests {
    let servers = LoopbackServers()
    let transport = URLSessionTransport()

    func perform(
        _ method: HTTPMethod = .get, _ url: URL, body: HTTPBody = .none, headers: HTTPHeaders = [:],
        onEvent: (@Sendable (HTTPTransportEvent) -> Void)? = nil
    ) async throws -> HTTPResponse {
        let head = HTTPRequestHead(method: method, url: url, headers: headers)
        let request = HTTPTransportRequest(head: head, body: body, idleTimeout: .seconds(300), onEvent: onEvent)
        let response = try await transport.perform(request)
        return HTTPResponse(head: response.head, body: try await response.body.collect(upTo: 1_000_000))
    }

    #if os(Linux)
    @Test(arguments: [
        ("200 OK\r\nX:b", "blank after its colon"), ("200 OK\r\nX: \u{FF}", "not UTF-8"), ("200", "or its status"),
        ("200 OK\r\nContent-Encoding: dcb", "a coding that is not known"), ("200 OK\r\nstray", "no colon"),
        ("200 OK\r\nX: \u{0}", "a NUL"), ("200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1", "than its size"),
    ])
    func `a response that cannot be read is invalidResponse`(head: String, reason: String) async throws {
        let text = "HTTP/1.1 \(head)\r\nContent-Length: 2\r\n\r\n{}"
        let bytes = Data(text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
        let server = try servers.start { _ in .raw(bytes) }
        let error = await #expect(throws: HTTPTransportError.self) { _ = try await perform(.post, server.url) }
        #expect(error?.code == .invalidResponse && error?.reason.contains(reason) == true)
    }

    @Test(arguments: [("SSL certificate problem: self-signed certificate", true), ("Out of memory", false)])
    func `only what libcurl says of TLS may be TLS`(text: String, mayBeTLS: Bool) {
        let error = URLError(.unknown, userInfo: [NSLocalizedDescriptionKey: text])
        let reported = HTTPTransportError(reportedBy: error, hasHead: false)
        #expect(reported.code == .transportFailed && reported.reason.contains("TLS") == mayBeTLS)
    }
    #endif

    @Test func `G28: a call that is withdrawn once it has sent its body is under way`() async throws {
        let (arrived, released) = (Gate(), DispatchSemaphore(value: 0))
        let server = try servers.start { _ in
            arrived.open()
            released.wait()
            return .respond(200)
        }
        let permit = StartPermit(until: SystemTimeSource().uptime + .seconds(600))
        var request = HTTPTransportRequest(
            head: HTTPRequestHead(method: .post, url: server.url), body: HTTPBody(Data("token".utf8)))
        request.startPermit = permit
        let exchange = Task { [request, transport] in try await transport.perform(request) }
        try await arrived.passUnlessCancelled()
        #expect(permit.withdraw() == .made)
        released.signal()
        #expect(try await exchange.value.head.status == 200)
    }

    @Test func `G35: no session has a cache, cookies or credentials, whatever an application configures`() async throws
    {
        let server = try servers.start { _ in
            .respond(200, headers: ["Set-Cookie": "token=fixture-token; Path=/", "Cache-Control": "max-age=600"])
        }
        let configurations = Locked<[URLSessionConfiguration]>([])
        let transport = URLSessionTransport { configuration in
            configuration.urlCache = .shared
            configuration.httpCookieStorage = .shared
            configuration.urlCredentialStorage = .shared
            (configuration.httpCookieAcceptPolicy, configuration.httpShouldSetCookies) = (.always, true)
            configurations.withLock { $0.append(configuration) }
        }
        // One over a warm connection, and one over a cold one.
        for method: HTTPMethod in [.get, .post] {
            let request = HTTPTransportRequest(head: HTTPRequestHead(method: method, url: server.url))
            for try await _ in try await transport.perform(request).body {}
        }
        let made = configurations.withLock { $0 }
        #expect(made.count == 2)
        for configuration in made {
            #expect(configuration.urlCache == nil && configuration.httpCookieStorage == nil)
            #expect(configuration.urlCredentialStorage == nil)
            #expect(configuration.httpCookieAcceptPolicy == .never && !configuration.httpShouldSetCookies)
        }
        #expect(URLCache.shared.cachedResponse(for: URLRequest(url: server.url)) == nil)
        #expect(HTTPCookieStorage.shared.cookies(for: server.url)?.isEmpty ?? true)
    }

    @Test func `a response has its header fields and its URL`() async throws {
        let server = try servers.start { _ in .respond(418, headers: ["X-Kettle": "on"]) }
        let response = try await perform(.get, server.url.appendingPathComponent("tea"))
        #expect(response.headers["x-kettle"] == "on" && response.head.url?.path == "/tea")
    }

    @Test func `an empty POST has a length of zero`() async throws {
        let server = try servers.start { _ in .respond(204) }
        _ = try await perform(.post, server.url)
        let request = try #require(server.requests.first)
        #expect(request.values(of: "Content-Length") == ["0"] && request["Content-Type"] == nil)
    }

    @Test(arguments: ["data", "file", "sequence", "sequence of known length"])
    func `a body is sent in full and with one length`(kind: String) async throws {
        let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
        let file = try TemporaryFile(content)
        let body: HTTPBody =
            switch kind {
            case "data": HTTPBody(content)
            case "file": try HTTPBody(file: file.url)
            case "sequence": HTTPBody { content.pieces }
            default: HTTPBody(length: Int64(content.count)) { content.pieces }
            }
        let server = try servers.start { _ in .respond(200) }
        let progress = Recorder<TransferProgress>()
        let headers: HTTPHeaders = ["Content-Type": "x/y"]
        _ = try await perform(.post, server.url, body: body, headers: headers) { event in
            if event.kind == .sent, let sent = event.progress { progress.record(sent) }
        }
        let request = try #require(server.requests.first)
        #expect(request.body == content)
        #expect(request["Content-Type"] == "x/y")
        #expect(request.values(of: "Content-Length").count + request.values(of: "Transfer-Encoding").count == 1)
        if kind != "sequence" { #expect(request["Content-Length"] == "\(content.count)") }
        #expect(progress.values.last?.fraction == 1)
        #expect(progress.values.map(\.completed) == progress.values.map(\.completed).sorted())
    }

    @Test(arguments: ["Basic realm=\"x\"", "Bearer", "Digest realm=\"x\", nonce=\"y\""])
    func `a 401 is returned for every authentication scheme`(challenge: String) async throws {
        let server = try servers.start { _ in .respond(401, headers: ["WWW-Authenticate": challenge]) }
        #expect(try await perform(.get, server.url).status == 401)
        #expect(try await perform(.post, server.url, body: HTTPBody(Data("x".utf8))).status == 401)
        #expect(server.requests.count == 2)
    }

    @Test func `a request does not time out before its fraction of a second`() async throws {
        let clock = ManualTimeSource()
        let transport = URLSessionTransport(clock: clock)
        let release = DispatchSemaphore(value: 0)
        let server = try servers.start { _ in
            release.wait()
            return .respond(204)
        }
        let request = HTTPTransportRequest(head: HTTPRequestHead(url: server.url), idleTimeout: .milliseconds(500))
        let call = Task { try await transport.perform(request).head.status }
        try await clock.advance(by: .milliseconds(499), whenAsleep: 1)
        release.signal()
        #expect(try await call.value == 204)
    }

    // MARK: LE1, G16: a request without encryption never goes to a proxy that the environment names

    private func variable(_ url: String, _ environment: [String: String]) throws -> String? {
        let origin = try #require(URL(string: url).flatMap { Origin($0) })
        return EnvironmentProxy { environment[$0] }.variable(for: origin)
    }

    @Test(arguments: ["http_proxy", "all_proxy", "ALL_PROXY"])
    func `each variable that libcurl reads is named, for loopback too`(name: String) throws {
        for url in ["http://127.0.0.1:8080/a", "http://[::1]/", "http://localhost/", "http://api.example/"] {
            #expect(try variable(url, [name: "http://proxy:3128"]) == name, "\(url)")
        }
        #expect(try variable("https://api.example/", [name: "http://proxy:3128"]) == nil)
        #expect(try variable("http://127.0.0.1/", [name: ""]) == nil)
        #expect(try variable("http://127.0.0.1/", ["HTTP_PROXY": "http://proxy:3128"]) == nil)
    }

    @Test(arguments: [
        ("127.0.0.1", "http://127.0.0.1:80/", true), ("*", "http://127.0.0.1/", true),
        ("localhost, 127.0.0.1", "http://127.0.0.1/", true), ("::1", "http://[::1]:8080/", true),
        (".example", "http://api.example/", true), ("example", "http://api.example/", true),
        ("EXAMPLE", "http://api.example/", true), ("ample", "http://api.example/", false),
        ("127.0.0.10", "http://127.0.0.1/", false), ("127.0.0.0/8", "http://127.0.0.1/", false),
        ("", "http://127.0.0.1/", false), ("localhost,*", "http://127.0.0.1/", false),
        ("*,", "http://127.0.0.1/", false), ("* ", "http://api.example/", false), ("1", "http://127.0.0.1/", false),
        ("0.0.1", "http://127.0.0.1/", false), (".127.0.0.1", "http://127.0.0.1/", false),
        ("..example", "http://api.example/", false), ("a b,example", "http://api.example/", false),
    ])
    func `what no_proxy names goes to the server itself`(names: String, url: String, isExcepted: Bool) throws {
        for name in ["no_proxy", "NO_PROXY"] {
            let found = try variable(url, ["http_proxy": "http://proxy:3128", name: names])
            #expect((found == nil) == isExcepted, "\(name)")
        }
    }

    @Test func `the refusal names the variable and what to do`() throws {
        let origin = try #require(URL(string: "http://127.0.0.1").flatMap { Origin($0) })
        let proxy = EnvironmentProxy { $0 == "all_proxy" ? "http://proxy" : nil }
        let error = #expect(throws: HTTPTransportError.self) { try proxy.refuse(origin) }
        #expect(error?.code == .cleartextRefused && error?.reason.contains("all_proxy") == true)
        #expect(error?.reason.contains("no_proxy") == true)
    }
}
