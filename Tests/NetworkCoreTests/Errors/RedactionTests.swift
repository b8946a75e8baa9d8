import AuthInterface
import ConcurrencyPrimitives
import Foundation
import NetworkTestSupport
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkCore

/// G17: each place of a secret contains a canary, and no printed form of any value does.
@Suite("Redaction", .timeLimit(.minutes(10)))
struct RedactionTests {
    static let canary = "canary-5ecret"

    static func texts(of value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return ["\(value)", String(reflecting: value), dumped]
    }

    static func expectNoSecret(_ value: Any, sourceLocation: SourceLocation = #_sourceLocation) {
        for text in texts(of: value) {
            #expect(!text.contains(canary), "\(type(of: value)) shows \(text)", sourceLocation: sourceLocation)
        }
    }

    static let token = SessionToken(
        value: "\(canary)-access", refreshToken: "\(canary)-refresh", session: SessionID(rawValue: "s"), generation: 0)

    static var bodies: [RequestBody] {
        var form = MultipartForm()
        form.append("password", canary)
        form.append("photo", data: Data(canary.utf8), filename: canary, contentType: "text/plain")
        let file = url("file:///tmp/\(canary)")
        return [
            .data(Data(canary.utf8)), .json(["password": canary]), .form(["password": canary]), .multipart(form),
            .file(file), .sequence { Data(canary.utf8).pieces }, .oneShot(Data(canary.utf8).pieces),
        ]
    }

    @Test func `endpoints, bodies and forms show no secret`() {
        var form = MultipartForm()
        form.append(Self.canary, Self.canary)
        Self.expectNoSecret(form)
        for body in Self.bodies {
            Self.expectNoSecret(body)
            let endpoint = Endpoint<Article>.post("login", query: ["token": Self.canary], body: body)
                .header("X-API-Key", Self.canary)
                .idempotent(key: Self.canary)
            Self.expectNoSecret(endpoint)
            Self.expectNoSecret(endpoint.query)
            Self.expectNoSecret(endpoint.settings.headers)
        }
        let link = url("https://user:\(Self.canary)@x.net/a?token=\(Self.canary)")
        Self.expectNoSecret(Endpoint<Article>.get(.url(link)))
        Self.expectNoSecret(EndpointPath.url(link))
    }

    @Test func `clients, and requests and responses of a transport, show no secret`() throws {
        let link = url("https://user:\(Self.canary)@x.net/api?token=\(Self.canary)")
        for configuration in [Self.configuration, NetworkConfiguration(baseURL: link)] {
            Self.expectNoSecret(configuration)
            let client = NetworkClient(configuration: configuration, transport: StubTransport())
            Self.expectNoSecret(client)
            Self.expectNoSecret(client.authenticated(by: ScriptedTokenProvider(Self.token)))
        }
        var head = HTTPRequestHead(url: url("https://x.net/a?access_token=\(Self.canary)"))
        try head.set("Authorization", to: Self.canary)
        let file = try TemporaryFile(Data(), named: Self.canary)
        let bodies: [HTTPBody] = [
            HTTPBody(Data(Self.canary.utf8)), try HTTPBody(file: file.url),
            HTTPBody { Data(Self.canary.utf8).pieces }, HTTPBody(once: Data(Self.canary.utf8).pieces),
        ]
        for body in bodies { Self.expectNoSecret(HTTPTransportRequest(head: head, body: body)) }
        let response = HTTPResponseHead(
            status: 200, headers: ["Set-Cookie": Self.canary], url: url("https://x.net/?token=\(Self.canary)"))
        Self.expectNoSecret(response)
        Self.expectNoSecret(HTTPResponse(head: response, body: Data(Self.canary.utf8)))
        Self.expectNoSecret(HTTPTransportResponse(head: response, body: HTTPBody(Data(Self.canary.utf8))))
    }

    @Test func `what a transport and an interceptor are told shows no secret`() async throws {
        let quoting = StubResponse.redirect(303, to: "/x/\(Self.canary)-access")
        let transport = RequestRecorder(next: StubTransport(responding: .status(204), quoting, .status(204)))
        let heads = Recorder<HTTPRequestHead>()
        let noting = AdaptingInterceptor { head in
            heads.record(head)
            return try head.setting("X-A", to: "b")
        }
        let policy = AuthenticationPolicy(placement: .fields(refreshToken: "refresh_token"))
        let network = NetworkClient(transport, interceptors: [noting])
            .authenticated(by: ScriptedTokenProvider(Self.token), policy: policy)
        try await network.send(Endpoint<Void>.get("links/\(secret: Self.canary)/open"))
        try await network.send(Endpoint<Void>.get("x"))
        let requests = transport.requests.values
        #expect(requests.map(\.context.carried.count) == [2, 2, 2], "there is something to show")
        for request in requests {
            Self.expectNoSecret(request)
            Self.expectNoSecret(request.context)
        }
        for head in heads.values + requests.prefix(1).map(\.head) { Self.expectNoSecret(head) }
        var link = HTTPRequestHead(url: baseURL)
        link.secrets.values = [Self.canary]
        #expect(link == HTTPRequestHead(url: baseURL) && Set([link, HTTPRequestHead(url: baseURL)]).count == 1)
        Self.expectNoSecret(Locked(Self.canary))
        Self.expectNoSecret([Locked(Self.canary)])
    }

    /// Calls whose every field is a canary, with each kind of response.
    @Test(arguments: [
        StubResponse.status(
            200, headers: ["Set-Cookie": canary], body: Data(#"{"id":"\#(canary)"}"#.utf8)),
        .status(200, body: Data(canary.utf8)),
        .status(500, headers: ["X-Secret": canary], body: Data(#"{"accessToken":"\#(canary)"}"#.utf8)),
        .error(400, code: "BAD"), .status(401), .failure(.connectionFailed),
        .status(302, headers: ["Location": "https://x.net/?token=\(canary)"]),
        .status(307, headers: ["Location": "https://evil.net/?token=\(canary)"]),
        StubResponse { _ in
            throw URLError(.badURL, userInfo: ["NSErrorFailingURLKey": "https://x.net/?token=\(canary)"])
        },
    ])
    func `errors and events show no secret`(response: StubResponse) async throws {
        let observer = Recorder<NetworkEvent>()
        let client = NetworkClient(
            StubTransport((.any ~> response).repeated()), interceptors: [RetryPolicy(baseDelay: .zero)],
            observers: [observer]
        ) { $0 = Self.configuration }
        for placement in [TokenPlacement.bearer, .fields(refreshToken: "refreshToken")] {
            let policy = AuthenticationPolicy(placement: placement)
            let network = client.authenticated(by: ScriptedTokenProvider(Self.token), policy: policy)
            let secrets = ["password": Self.canary]
            let call = Endpoint<Article>.post("login", query: ["password": Self.canary], json: secrets)
            let error = try await #require(throws: NetworkError.self) { _ = try await network.send(call) }
            Self.expectNoSecret(error)
            if let response = error.response { Self.expectNoSecret(response) }
            if let cause = error.cause as? HTTPTransportError { Self.expectNoSecret(cause) }
            if let cause = error.cause as? DecodingFailure { Self.expectNoSecret(cause) }
        }
        #expect(observer.values.count >= 4)
        for event in observer.values { Self.expectNoSecret(event) }
    }

    private static var configuration: NetworkConfiguration {
        var configuration = NetworkConfiguration(baseURL: baseURL)
        configuration.headers = ["X-API-Key": canary]
        return configuration
    }

    // MARK: A server that quotes the request in its error

    private static let basic = "Basic \(Data("client-1:canary-of-basic".utf8).base64EncodedString())"

    @Test func `a target of a redirect and a key of a response that quote the token are not shown`() async throws {
        let body = Data(#"{"canary-5ecret-access\nline":"x"}"#.utf8)
        let transport = StubTransport(
            responding: .redirect(to: "/x/canary-5ecret-access?q=canary-5ecret-access"), .status(200, body: body))
        let (error, texts) = try await WithheldTextTests.shown(
            of: Endpoint<[String: Int]>.get("x"), by: transport, token: Self.token)
        for text in texts { #expect(!text.contains("canary")) }
        #expect(error.code == .decodingFailed && "\(error)".contains("typeMismatch at redacted line"))
    }

    @Test(arguments: [
        ("canary-5ecret-access", WithheldTextTests.Call.get("articles/7")),
        ("canary-5ecret-refresh", .get("articles/7")),
        ("canary-of-a-body", .post("x", json: ["auth": ["provider_token": "canary-of-a-body"]])),
        ("canary-of-a-form", .post("x", body: .form(["client_secret": "canary-of-a-form"]))),
        (canary, .post("x", body: bodies[3])),
        ("canary-of-basic", .post("x", body: .none).header("Authorization", basic).withoutAuthentication()),
        ("canary-of-a-key", .get("x").header("X-API-Key", "canary-of-a-key")),
        ("canary-of-a-query", .get("x", query: ["code_verifier": "canary-of-a-query"])),
        ("canary/of a path", .get("reset/\(secret: "canary/of a path")")),
        ("canary", .get("reset/\(secret: "canary")")),
    ])
    func `nothing that a call carried is shown`(secret: String, endpoint: WithheldTextTests.Call) async throws {
        for quote in [
            secret, secret.percentEncodedComponent, secret.replacing("/", with: #"\/"#),
            Data(secret.utf8).base64EncodedString(),
        ] {
            let (error, texts) = try await WithheldTextTests.shown(
                of: endpoint, quoting: "no such thing: \(quote)", token: Self.token,
                placement: .fields(refreshToken: "rt"))
            #expect(error.status == 400 && error.body?.isEmpty == false)
            for text in texts + ["\(endpoint)"] {
                #expect(!text.contains(secret) && !text.contains(quote), "\(text) shows \(secret)")
            }
        }
    }

    @Test func `a transport's text is shown without the secrets of the call`() async throws {
        let response = StubResponse { _ in
            throw HTTPTransportError(.transportFailed, reason: "curl -H 'Authorization: Bearer canary-5ecret-access'")
        }
        let (error, texts) = try await WithheldTextTests.shown(
            of: .article(7), by: StubTransport(responding: response), token: Self.token)
        for text in texts { #expect(!text.contains("canary-5ecret-access"), "\(text)") }
        #expect("\(error)".contains("curl -H 'Authorization: redacted'"))
    }

    @Test func `values that are returned stay as the server sent them`() async throws {
        let article = Article(id: 7, title: "canary-5ecret-access")
        let client = NetworkClient(StubTransport(responding: .json(article)))
            .authenticated(by: ScriptedTokenProvider(Self.token))
        #expect(try await client.send(.article(7)) == article)
    }

    @Test func `the longer of two secrets is replaced first, and a text without secrets is not changed`() {
        #expect("abcdef abc".withoutQuoting(["abc", "abcdef"]) == "redacted redacted")
        #expect("nothing to see".withoutQuoting([nil, "", "s3cret"]) == "nothing to see")
        #expect("s3cret".withoutQuoting([]) == "s3cret")
    }

    /// G26: the cost is bounded for any length of text.
    @Test(arguments: [4_080, 4_090, 4_095, 4_096, 4_100])
    func `a long text is cut, and never in the middle of a secret`(_ length: Int) {
        let secret = "s3cret-0123456789"
        let text = String(repeating: "x", count: length) + secret + String(repeating: "y", count: 10_000_000)
        let clean = text.withoutQuoting([secret])
        #expect(clean.utf8.count <= 4_096 + secret.utf8.count)
        #expect(!clean.contains("s3c"))
    }
}
