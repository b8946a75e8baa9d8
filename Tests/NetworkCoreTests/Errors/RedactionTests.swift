import AuthInterface
import Foundation
import NetworkCore
import NetworkTesting
import Testing

/// G17: a canary in every place a secret can be, and a look at everything that can be printed.
@Suite("Nothing prints a secret", .timeLimit(.minutes(10)))
struct RedactionTests {
    static let canary = "canary-5ecret"

    static func texts(of value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return ["\(value)", String(reflecting: value), dumped]
    }

    static func isSilent(_ value: Any, sourceLocation: SourceLocation = #_sourceLocation) {
        for text in texts(of: value) {
            #expect(!text.contains(canary), "\(type(of: value)) says \(text)", sourceLocation: sourceLocation)
        }
    }

    static let token = SessionToken(
        value: "\(canary)-access",
        refreshToken: "\(canary)-refresh",
        session: SessionID(rawValue: "s"),
        generation: 0
    )

    static var bodies: [RequestBody] {
        var form = MultipartForm()
        form.append("password", canary)
        form.append("photo", data: Data(canary.utf8), filename: canary, contentType: "text/plain")
        let file = url("file:///tmp/\(canary)")
        return [
            .data(Data(canary.utf8)), .json(["password": canary]), .form(["password": canary]), .multipart(form),
            .file(file), .sequence { Data(canary.utf8).pieces },
            .oneShot(Data(canary.utf8).pieces),
        ]
    }

    @Test func bodiesAndForms() {
        for body in Self.bodies { Self.isSilent(body) }
        var form = MultipartForm()
        form.append(Self.canary, Self.canary)
        Self.isSilent(form)
    }

    @Test func endpoints() {
        for body in Self.bodies {
            let endpoint = Endpoint<Article>.post("login", query: ["token": Self.canary], body: body)
                .header("X-API-Key", Self.canary)
                .idempotent(key: Self.canary)
            Self.isSilent(endpoint)
            Self.isSilent(endpoint.query)
            Self.isSilent(endpoint.headers)
        }
        let link = url("https://user:\(Self.canary)@x.net/a?token=\(Self.canary)")
        Self.isSilent(Endpoint<Article>.get(.url(link)))
        Self.isSilent(EndpointPath.url(link))
    }

    @Test func requestsAndResponsesOfATransport() throws {
        var head = HTTPRequestHead(url: url("https://x.net/a?access_token=\(Self.canary)"))
        try head.set("Authorization", to: Self.canary)
        let file = try TemporaryFile(Data(), named: Self.canary)
        let bodies: [HTTPBody] = [
            HTTPBody(Data(Self.canary.utf8)), try HTTPBody(file: file.url),
            HTTPBody { Data(Self.canary.utf8).pieces }, HTTPBody(once: Data(Self.canary.utf8).pieces),
        ]
        for body in bodies { Self.isSilent(HTTPTransportRequest(head: head, body: body)) }
        let answer = HTTPResponseHead(
            status: 200,
            headers: ["Set-Cookie": Self.canary],
            url: url("https://x.net/?token=\(Self.canary)")
        )
        Self.isSilent(answer)
        Self.isSilent(HTTPResponse(head: answer, body: Data(Self.canary.utf8)))
        Self.isSilent(HTTPTransportResponse(head: answer, body: HTTPBody(Data(Self.canary.utf8))))
    }

    /// What the server does to a call that is full of canaries.
    @Test(
        arguments: [
            StubResponse.status(
                200, headers: ["Set-Cookie": canary], body: Data(#"{"data":{"id":"\#(canary)"}}"#.utf8)),
            .status(200, body: Data(canary.utf8)),
            .status(500, headers: ["X-Secret": canary], body: Data(#"{"accessToken":"\#(canary)"}"#.utf8)),
            .error(400, code: "BAD"), .status(401), .failure(.connectionFailed),
            .status(302, headers: ["Location": "https://x.net/?token=\(canary)"]),
            .status(307, headers: ["Location": "https://evil.net/?token=\(canary)"]),
            StubResponse { _ in
                throw URLError(.badURL, userInfo: ["NSErrorFailingURLKey": "https://x.net/?token=\(canary)"])
            },
        ]
    )
    func errorsAndEvents(answer: StubResponse) async throws {
        let observer = Recorder<NetworkEvent>()
        let client = NetworkClient(
            configuration: NetworkConfiguration(baseURL: baseURL, headers: ["X-API-Key": Self.canary]),
            transport: StubTransport(Array(repeating: .any ~> answer, count: 8)),
            interceptors: [RetryPolicy(baseDelay: .zero)],
            observers: [observer]
        )
        for placement in [TokenPlacement.bearer, .fields(refreshToken: "refreshToken")] {
            let policy = AuthenticationPolicy(placement: placement)
            let network = client.authenticated(by: ScriptedTokenProvider(Self.token), policy: policy)
            let secrets = ["password": Self.canary]
            let call = Endpoint<Article>.post("login", query: ["password": Self.canary], json: secrets)
            let error = try await #require(throws: NetworkError.self) { _ = try await network.send(call) }
            Self.isSilent(error)
            if let response = error.response { Self.isSilent(response) }
            if let cause = error.cause as? HTTPTransportError { Self.isSilent(cause) }
            if let cause = error.cause as? DecodingFailure { Self.isSilent(cause) }
        }
        #expect(observer.values.count >= 4)
        for event in observer.values { Self.isSilent(event) }
    }

    @Test func theClientItselfAndItsConfiguration() {
        let configuration = NetworkConfiguration(baseURL: baseURL, headers: ["X-API-Key": Self.canary])
        Self.isSilent(configuration)
        let client = NetworkClient(configuration: configuration, transport: StubTransport())
        Self.isSilent(client)
        Self.isSilent(client.authenticated(by: ScriptedTokenProvider(Self.token)))
    }
}
