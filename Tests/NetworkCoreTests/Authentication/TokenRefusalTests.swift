import AuthInterface
import AuthTesting
import Foundation
import NetworkCore
import NetworkTesting
import Testing

/// G10, G22, G24: what the engine is told about a refused token.
@Suite("What a refusal says", .timeLimit(.minutes(10)))
struct TokenRefusalTests {
    let provider = ScriptedTokenProvider()

    private func refusal(
        _ answer: StubResponse,
        policy: AuthenticationPolicy = AuthenticationPolicy(),
        to endpoint: Endpoint<HTTPResponse> = .request(.get, "articles/7", query: ["access_token": "x", "page": "2"])
    ) async throws -> TokenRefusal {
        let transport = StubTransport(.any ~> answer, .any ~> .status(204))
        let client = NetworkClient(baseURL: baseURL, transport: transport).authenticated(by: provider, policy: policy)
        _ = try await client.send(endpoint)
        return try #require(provider.refusals.first)
    }

    @Test("it names the method, the origin and the path, and no query")
    func endpoint() async throws {
        #expect(try await refusal(.status(401)).endpoint == "GET https://api.example.com/api/v1/articles/7")
    }

    @Test("it names the endpoint that refused, after a redirect too")
    func redirected() async throws {
        let transport = StubTransport(
            .any ~> .status(307, headers: ["Location": "/api/v2/articles/7?code=s3cret"]),
            .any ~> .status(401), .any ~> .status(204))
        let client = NetworkClient(baseURL: baseURL, transport: transport).authenticated(by: provider)
        _ = try await client.send(Endpoint<HTTPResponse>.request(.get, "articles/7"))
        #expect(provider.refusals.first?.endpoint == "GET https://api.example.com/api/v2/articles/7")
    }

    @Test("a port that is not the scheme's own is named")
    func port() async throws {
        let endpoint = Endpoint<HTTPResponse>.request(.get, .url(url("https://API.example.com:8443/a%20b?x=1#y")))
        let other = try #require(Origin(url("https://api.example.com:8443")))
        let refusal = try await refusal(.status(401), policy: AuthenticationPolicy(origins: [other]), to: endpoint)
        #expect(refusal.endpoint == "GET https://api.example.com:8443/a%20b")
    }

    @Test("it carries the status, the server's code and the server's name for the request")
    func details() async throws {
        let refusal = try await refusal(.error(401, code: "TOKEN_EXPIRED", requestId: "r-1"))
        #expect(refusal.token == .first)
        #expect(refusal.status == 401 && refusal.serverCode == "TOKEN_EXPIRED" && refusal.requestID == "r-1")
    }

    @Test("a listed code says that the token is invalid, in any case", arguments: ["TOKEN_EXPIRED", "invalid_token"])
    func listedCode(_ code: String) async throws {
        #expect(try await refusal(.error(401, code: code)).saysTokenIsInvalid)
    }

    @Test("a bare 401 and other codes do not say that the token is invalid")
    func otherRefusals() async throws {
        let answers: [StubResponse] = [
            .status(401), .error(401, code: "UNAUTHORIZED"), .error(401, code: "MFA_REQUIRED"),
            .status(401, headers: ["WWW-Authenticate": "Bearer"]),
            .status(401, headers: ["WWW-Authenticate": #"Basic realm="invalid_token""#]),
        ]
        for answer in answers {
            let test = Self()
            #expect(try await !test.refusal(answer).saysTokenIsInvalid)
        }
    }

    @Test("a Bearer challenge with invalid_token says so without a code")
    func challenge() async throws {
        let answer = StubResponse.status(401, headers: ["WWW-Authenticate": #"Bearer error="invalid_token""#])
        #expect(try await refusal(answer).saysTokenIsInvalid)
    }

    @Test("the codes are configurable, and so is the status they come with")
    func configured() async throws {
        let policy = AuthenticationPolicy(expiredStatuses: [419], invalidTokenCodes: ["E17"])
        #expect(try await refusal(.error(419, code: "e17"), policy: policy).saysTokenIsInvalid)
        #expect(try await !Self().refusal(.error(419, code: "TOKEN_EXPIRED"), policy: policy).saysTokenIsInvalid)
    }

    @Test("G17: a server that quotes the token in its code does not reach the engine with it")
    func quoted() async throws {
        let code = "BAD_TOKEN access-0\u{1B}[31m refresh-0" + String(repeating: "x", count: 1_000)
        let refusal = try await refusal(.error(401, code: code, requestId: "id of access-0"))
        #expect(refusal.serverCode?.hasPrefix("BAD_TOKEN redacted [31m redactedxxx") == true)
        #expect((refusal.serverCode?.count ?? 0) <= 128)
        #expect(refusal.requestID == "id of redacted")
    }

    @Test("a body that cannot be sent again leaves the same refusal")
    func oneShot() async throws {
        let asked = Gate(isOpen: true)
        provider.onReplacement { refused in
            await asked.pass()
            return refused.next
        }
        let transport = StubTransport(.any ~> .error(401, code: "TOKEN_EXPIRED"))
        let client = NetworkClient(baseURL: baseURL, transport: transport).authenticated(by: provider)
        let upload = Endpoint<Void>.post("files", body: .oneShot(Data("once".utf8).pieces))
        await #expect(throws: NetworkError.self) { try await client.send(upload) }
        await asked.arrivals(atLeast: 1)
        #expect(provider.refusals.first?.endpoint == "POST https://api.example.com/api/v1/files")
        #expect(provider.refusals.first?.saysTokenIsInvalid == true)
    }
}
