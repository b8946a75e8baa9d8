import AuthInterface
import AuthTesting
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import NetworkURLSession
import OAuth2Flows
import Testing

@Suite(.timeLimit(.minutes(10))) struct OAuth2HandlerTests {
    static let clients: [(client: OAuth2Client, authorization: String?, form: String)] = [
        (.fixture, nil, "&client_id=fixture-client"),
        (.basic(id: "app:1", secret: "b hidden&ü"), "app%3A1:b+hidden%26%C3%BC", ""),
        (.body(id: "a", secret: "hidden&2"), nil, "&client_id=a&client_secret=hidden%262"),
    ]

    @Test(arguments: clients.indices)
    func `a refresh sends the form of RFC 6749, with the client in it or in HTTP Basic`(_ index: Int) async throws {
        let (client, authorization, form) = Self.clients[index]
        let transport = StubTransport(.any ~> .text(#"{"access_token":"fixture-access"}"#))
        let handler = OAuth2TokenRefreshHandler(transport, as: client)
        _ = try await handler.refresh(TokenRefreshRequest(refreshToken: "a+b/c d"))
        let request = try #require(transport.requests.first)
        #expect(request.method == .post && request.url == .tokenEndpoint)
        #expect(request.headers["Content-Type"] == "application/x-www-form-urlencoded")
        #expect(request.text == "grant_type=refresh_token&refresh_token=a%2Bb%2Fc%20d\(form)")
        let credentials = authorization.map { "Basic \(Data($0.utf8).base64EncodedString())" }
        #expect(request.headers["Authorization"] == credentials)
        var text = "\(client) \(String(reflecting: client))"
        dump(client, to: &text)
        #expect(!text.contains("hidden"), "no description shows the secret")
    }

    /// Members of a response, and what they mean.
    static let members: [(text: String, expiresIn: Duration?, expiresAt: TimeInterval?, scope: String?)] = [
        (#""token_type":"bearer","expires_in":3600"#, .seconds(3_600), nil, nil),
        (#""expires_in":"3600""#, .seconds(3_600), nil, nil), (#""expires_in":1.5"#, .seconds(1.5), nil, nil),
        (#""expires_in":0"#, nil, nil, nil), (#""expires_in":-5"#, nil, nil, nil),
        (#""expires_in":null"#, nil, nil, nil), (#""expires_in":[]"#, nil, nil, nil),
        (#""expires_at":1893553445"#, nil, 1_893_553_445, nil),
        (#""scope":"read write""#, nil, nil, "read write"), (#""scope":7"#, nil, nil, nil),
        // Without a validator an id token is not looked at.
        (#""id_token":"a.b.c""#, nil, nil, nil),
    ]

    @Test func `G31: lifetime, expiry and scope are read in common forms, an invalid one is ignored`() async throws {
        for (text, expiresIn, expiresAt, scope) in Self.members {
            let body = #"{"access_token":"fixture-access","refresh_token":"fixture-next",\#(text)}"#
            let read = TokenRefreshResult(
                accessToken: "fixture-access", refreshToken: "fixture-next", expiresIn: expiresIn,
                expiresAt: expiresAt.map { Date(timeIntervalSince1970: $0) }, serverDate: StubResponse.date,
                scope: scope)
            let handler = OAuth2TokenRefreshHandler(StubTransport(.any ~> .text(body)))
            #expect(try await handler.refresh(.fixture) == read, "\(text)")
        }
    }

    @Test func `a refresh names its target (RFC 8707); the error of a refused one says what to check`() async throws {
        let transport = StubTransport(.any ~> .text(#"{"error":"invalid_target"}"#, status: 400))
        var handler = OAuth2TokenRefreshHandler(transport)
        handler.target = try OAuth2Target(resources: [.api, .tokenEndpoint], audiences: ["notes"])
        let error = await handler.refreshError()
        #expect(error?.code == .unavailable && error?.serverCode == "invalid_target")
        #expect(error?.reason?.contains("check the resources and audiences of the target") == true)
        let form = try #require(URL(string: "https://id.example.com/?\(transport.requests.first?.text ?? "")"))
        #expect(form.values(of: "resource") == [URL.api.absoluteString, URL.tokenEndpoint.absoluteString])
        #expect(form.values(of: "audience") == ["notes"])
    }

    @Test(arguments: ["api/v1", "//api.example.com", "https://api.example.com/#part", "urn:example:a#b"])
    func `a resource is an absolute URI without a fragment, and an audience has a name`(_ text: String) async throws {
        let (url, urn) = (try #require(URL(string: text)), try #require(URL(string: "urn:example:notes")))
        #expect(await signInError { try OAuth2Target(resources: [url]) }?.code == .unsupported)
        #expect(try OAuth2Target(resources: [urn]).resources == [urn])
        #expect(await signInError { try OAuth2Target(audiences: [""]) }?.code == .unsupported)
    }

    @Test(arguments: [("fixture-refresh", "refresh_token"), (nil, "access_token")] as [(String?, String)])
    func `a revocation sends the refresh token, or the access token`(_ token: String?, _ kind: String) async throws {
        let transport = StubTransport(.post("oauth2/revoke") ~> .status(200))
        let handler = OAuth2TokenRefreshHandler(transport, as: .basic(id: "fixture-client", secret: "fixture-secret"))
        try await handler.revoke(TokenBundle(accessToken: "fixture-access", refreshToken: token))
        let request = try #require(transport.requests.first)
        #expect(request.url == .revocationEndpoint)
        #expect(request.text == "token=\(token ?? "fixture-access")&token_type_hint=\(kind)")
        #expect(request.headers["Authorization"]?.hasPrefix("Basic ") == true)
    }

    @Test func `G15: a revocation follows no redirect, and without an endpoint nothing is sent`() async throws {
        let transport = StubTransport(.any ~> .redirect)
        let error = await #expect(throws: NetworkError.self) {
            try await OAuth2TokenRefreshHandler(transport).revoke(.signedIn)
        }
        #expect(error?.code == .redirectRefused)
        let handler = OAuth2TokenRefreshHandler(
            tokenEndpoint: .tokenEndpoint, client: .fixture, network: NetworkClient(transport))
        try await handler.revoke(.signedIn)
        #expect(transport.requests.count == 1)
    }
}

/// What a refresh call carries beside the refresh token, and what the handler declares.
@Suite(.timeLimit(.minutes(10))) struct RefreshCallTests {
    private let request = TokenRefreshRequest(
        refreshToken: "fixture-refresh/2", accessToken: "fixture-access", idempotencyKey: "fixture-key")

    @Test(arguments: ["Idempotency-Key", "X-Request-Key", nil])
    func `G12, G8: a refresh has its key in the field that is set, and a timeout`(_ field: String?) async throws {
        let transport = StubTransport((.any ~> .text(#"{"access_token":"fixture-access-2"}"#)).repeated())
        let handler = OAuth2TokenRefreshHandler(
            tokenEndpoint: .tokenEndpoint, client: .fixture, network: NetworkClient(transport),
            idempotencyKeyField: field)
        for _ in 0..<2 { _ = try await handler.refresh(request) }
        #expect(transport.requests.map(\.idleTimeout) == [.seconds(120), .seconds(120)])
        for name in ["Idempotency-Key", "X-Request-Key"] {
            let keys = transport.requests.map { $0.headers[name] }
            #expect(keys == Array(repeating: name == field ? "fixture-key" : nil, count: 2))
        }
    }

    @Test func `the declared replay tolerance and revocation scope are the careful ones by default`() {
        let careful = OAuth2TokenRefreshHandler(StubTransport())
        #expect(careful.replayTolerance == .none && !careful.affectsRevokedSessionOnly && careful.needsRefreshToken)
        let declared = OAuth2TokenRefreshHandler(
            tokenEndpoint: .tokenEndpoint, client: .fixture, network: NetworkClient(StubTransport()),
            replayTolerance: .within(.seconds(10)))
        #expect(declared.replayTolerance == .within(.seconds(10)) && !declared.affectsRevokedSessionOnly)
    }

    @Test func `G17: no error holds a secret that the server quoted`() async throws {
        let client = OAuth2Client.basic(id: "fixture-client", secret: "fixture secret/1")
        let credential = Data("fixture-client:fixture+secret%2F1".utf8).base64EncodedString()
        let secrets = [
            "fixture-refresh/2", "fixture-refresh%2F2", "fixture-refresh%2f2", "fixture-access", "fixture-key",
            "fixture secret/1", "fixture+secret%2F1", credential,
        ]
        let quote = secrets.joined(separator: " ")
        let body =
            #"{"error":"\#(quote)","error_description":"\#(quote)","requestId":"\#(quote)","errors":["\#(quote)"]}"#
        let response = StubResponse.status(400, headers: ["X-Request-ID": quote], body: Data(body.utf8))
        let handler = OAuth2TokenRefreshHandler(StubTransport(.any ~> response, .any ~> response), as: client)
        let bundle = TokenBundle(accessToken: "fixture-access", refreshToken: "fixture-refresh/2")
        let errors: [any Error] = [
            try #require(await handler.refreshError(request)),
            try await #require(throws: NetworkError.self) { try await handler.revoke(bundle) },
        ]
        for error in errors {
            var text = "\(error) \(String(reflecting: error)) \(error.localizedDescription)"
            dump(error, to: &text)
            let verdict = error as? TokenRefreshError
            text += [verdict?.serverCode, verdict?.requestID, verdict?.reason].compactMap(\.self).joined()
            #expect(!text.contains("fixture-key") || error is NetworkError, "a revocation carries no key")
            for secret in secrets where secret != "fixture-key" { #expect(!text.contains(secret), "\(secret)") }
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct HandlerContractTests {
    @Test(arguments: [ReplayTolerance.none, .within(.seconds(10)), .sameKey])
    func `the OAuth 2.0 handler keeps the contract over HTTP`(_ tolerance: ReplayTolerance) async throws {
        try await TokenRefreshHandlerContract.check(.oauth2, timeLimit: .seconds(300)) { url in
            OAuth2TokenRefreshHandler(
                tokenEndpoint: url, client: .basic(id: "fixture-client", secret: "fixture-secret"),
                network: NetworkClient(baseURL: url, transport: URLSessionTransport(), interceptors: []),
                replayTolerance: tolerance)
        }
    }
}

/// G4 for an OAuth 2.0 token endpoint: every status with every error and media type.
@Suite(.timeLimit(.minutes(10))) struct VerdictTests {
    static let otherBodies = [
        #"{"error":"invalid_request"}"#, #"{"error":"invalid_client"}"#, #"{"error":"unauthorized_client"}"#,
        #"{"error":"unsupported_grant_type"}"#, #"{"error":"invalid_scope"}"#, #"{"error":"invalid_target"}"#,
        #"{"error":"server_error"}"#, #"{"access_token":"fixture-access","token_type":"DPoP"}"#,
        #"{"error":"temporarily_unavailable"}"#, #"{"error":"of_their_own"}"#, #"{"error":"INVALID_GRANT"}"#,
        #"{"error":{"code":"invalid_grant"}}"#, #"{"code":"invalid_grant"}"#, #"{"message":"Unauthorized"}"#,
        #"{"success":false,"code":"REFRESH_TOKEN_INVALID"}"#, #"{"error":"invalid_gr"#, "{}", "[]", "", "invalid_grant",
        "<html>invalid_grant</html>", "  <!DOCTYPE html>",
    ]

    static let refusals = [#"{"error":"invalid_grant"}"#, #"{"code":400,"error":"invalid_grant"}"#]

    /// No other body ends it, or is ambiguous.
    @Test(arguments: refusals + otherBodies)
    func `invalid_grant ends the session with 400, 401 and 403 only`(_ body: String) async throws {
        for status in RefusalCases.statuses {
            let isRejected = Self.refusals.contains(body) && [400, 401, 403].contains(status)
            for type in RefusalCases.mediaTypes {
                let error = await ProviderRefusalTests.error(after: .body(body, status: status, type: type))
                #expect(error?.code == (isRejected ? .rejected : .unavailable), "\(status) \(type ?? "no type")")
                #expect(error?.status == status && (!isRejected || error?.serverCode == "invalid_grant"))
            }
        }
    }

    @Test func `a refused client is reported as a wrong configuration`() async throws {
        let responses: [StubResponse] = [.text(#"{"error":"invalid_client"}"#, status: 401), .status(401)]
        for response in responses {
            #expect(
                await ProviderRefusalTests.error(after: response)?.reason?.contains("identifier and secret") == true)
        }
    }
}
