import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import OAuth2Flows
import Testing

@Suite(.timeLimit(.minutes(10))) struct DiscoveryTests {
    private let transport = StubTransport()

    private func metadata(issuer: String = "https://id.example.com/tenant", _ members: String = "") -> StubResponse {
        .text(#"{"issuer":"\#(issuer)","token_endpoint":"https://id.example.com/token"\#(members)}"#)
    }

    /// Reads the description from the responses of one place after the other.
    private func discover(
        _ responses: StubResponse..., issuer: String = "https://id.example.com/tenant", tenants: OAuth2Tenants? = nil
    ) async throws -> OAuth2Server {
        for response in responses { transport.add(.any ~> response) }
        return try await OAuth2Server.discover(
            issuer: try #require(URL(string: issuer)), tenants: tenants,
            network: NetworkClient(baseURL: .api, transport: transport))
    }

    @Test func `the description is read from the location of RFC 8414`() async throws {
        let server = try await discover(
            metadata(
                #"""
                ,"code_challenge_methods_supported":["S256"],"authorization_response_iss_parameter_supported":true,
                "authorization_endpoint":"https://id.example.com/authorize","jwks_uri":"https://id.example.com/keys",
                "pushed_authorization_request_endpoint":"https://id.example.com/par",
                "require_pushed_authorization_requests":true
                """#))
        #expect(
            transport.requests.first?.url?.absoluteString
                == "https://id.example.com/.well-known/oauth-authorization-server/tenant")
        #expect(server.authorizationEndpoint?.path == "/authorize" && server.jwksURI?.path == "/keys")
        #expect(server.codeChallengeMethods == ["S256"] && server.namesIssuerInResponses)
        #expect(server.pushedAuthorizationRequestEndpoint?.path == "/par")
        #expect(server.requiresPushedAuthorizationRequests && server.deviceAuthorizationEndpoint == nil)
        #expect(try await !discover(metadata()).requiresPushedAuthorizationRequests)
    }

    @Test func `G15: a redirect within the issuer's origin is followed`() async throws {
        let redirect = StubResponse.status(302, headers: ["Location": "/elsewhere"])
        #expect(try await discover(redirect, metadata()).tokenEndpoint.path == "/token")
        #expect(transport.requests.last?.url?.absoluteString == "https://id.example.com/elsewhere")
    }

    @Test func `a browser logs out at the server's page, with what the application names`() async throws {
        let client = OAuth2Client.basic(id: "a b", secret: "fixture-secret")
        #expect(try await discover(metadata()).logoutURL(for: client) == nil)
        let server = try await discover(metadata(#","end_session_endpoint":"https://id.example.com/logout?a=b""#))
        let page = "https://id.example.com/logout?a=b&client_id=a%20b"
        #expect(server.logoutURL(for: client)?.absoluteString == page)
        let done = try #require(URL(string: "https://app.example.com/done"))
        let url = server.logoutURL(for: client, redirectingTo: done, state: "s&t", idToken: "e30.e30.AAAA")
        let redirect = "&post_logout_redirect_uri=https%3A%2F%2Fapp.example.com%2Fdone"
        #expect(url?.absoluteString == page + redirect + "&state=s%26t&id_token_hint=e30.e30.AAAA")
    }

    @Test(arguments: [#""""#, #""http://id.example.com/x""#, #""/x""#, #""false""#, "false", "null", "7", "[]"])
    func `an optional endpoint that cannot be used is absent, and the others are used`(_ value: String) async throws {
        let names = [
            "authorization_endpoint", "device_authorization_endpoint", "pushed_authorization_request_endpoint",
            "jwks_uri", "end_session_endpoint", "code_challenge_methods_supported",
        ]
        let members = names.map { #","\#($0)":\#(value)"# }.joined()
        let usable = #","revocation_endpoint":"https://id.example.com/revoke""#
        let server = try await discover(metadata(members + usable))
        #expect(server.authorizationEndpoint == nil && server.deviceAuthorizationEndpoint == nil)
        #expect(server.pushedAuthorizationRequestEndpoint == nil && server.jwksURI == nil)
        #expect(server.endSessionEndpoint == nil)
        #expect(server.revocationEndpoint?.path == "/revoke" && server.tokenEndpoint.path == "/token")
    }

    static let failures: [StubResponse] = [
        .status(404), .status(500), .status(503), .failure(.connectionFailed), .text("{}"), .text("[]"),
        // G15: another origin must not describe the issuer (RFC 8414 §6.2).
        .status(302, headers: ["Location": "https://evil.example.com/description"]),
        .text("<html></html>"), .text(#"{"issuer":"https://evil.example.com","token_endpoint":"https://a.example/t"}"#),
        .text(#"{"issuer":"https://id.example.com/tenant","token_endpoint":"/token"}"#),
    ]

    @Test(arguments: failures)
    func `after any failure of the first place that of OpenID Connect is read`(_ failure: StubResponse) async throws {
        #expect(try await discover(failure, metadata()).tokenEndpoint.path == "/token")
        #expect(
            transport.requests.last?.url?.absoluteString
                == "https://id.example.com/tenant/.well-known/openid-configuration")
    }

    @Test func `the reason names the documents that were read, and what is wrong with each`() async throws {
        let error = await signInError {
            try await discover(.status(404), metadata(issuer: "https://other.example"))
        }
        let reason = try #require(error?.reason)
        #expect(error?.code == .mismatch)
        #expect(reason.contains("https://id.example.com/.well-known/oauth-authorization-server/tenant: "))
        #expect(reason.contains("https://id.example.com/tenant/.well-known/openid-configuration: the description is"))
    }

    @Test(arguments: [
        "https://id.example.com/tenant/", "https://id.example.com", "https://evil.example.com/tenant",
        "http://id.example.com/tenant", "",
    ])
    func `the description of another issuer is refused`(_ issuer: String) async throws {
        #expect(await signInError { try await discover(metadata(issuer: issuer), .status(404)) }?.code == .mismatch)
    }

    @Test(arguments: ["http://id.example.com/token", "ftp://id.example.com/token", "not a url", ""])
    func `an endpoint that is not https is refused`(_ endpoint: String) async throws {
        let body = #"{"issuer":"https://id.example.com/tenant","token_endpoint":"\#(endpoint)"}"#
        let error = await signInError { try await discover(.text(body), .text(body)) }
        #expect(error?.code == .unsupported && error?.reason.contains("token_endpoint") == true)
    }

    @Test(arguments: [
        "http://id.example.com", "https://a:b@id.example.com", "https://id.example.com?a=b", "https://id.example.com#a",
    ])
    func `an invalid issuer is refused, and nothing is sent`(_ issuer: String) async throws {
        #expect(await signInError { try await discover(issuer: issuer) }?.code == .unsupported)
        #expect(transport.requests.isEmpty)
    }

    static let missing: [(first: StubResponse, second: StubResponse, code: OAuth2SignInError.Code)] = [
        (.status(503), .status(404), .unavailable), (.status(404), .status(503), .unavailable),
        (.status(404), .status(404), .unsupported), (.text("[]"), .text("[]"), .unsupported),
        (.text("<html></html>"), .text("<html></html>"), .unsupported),
    ]

    @Test(arguments: missing.indices)
    func `a server that fails is unavailable, and is not taken for one without a description`(_ index: Int) async {
        let (first, second, code) = Self.missing[index]
        #expect(await signInError { try await discover(first, second) }?.code == code)
    }

    // A server of many tenants, whose description names its issuer with a place for the tenant: Microsoft Entra ID.

    private static let template = "https://login.example.com/{tenantid}/v2.0"

    @Test(arguments: ["common", "organizations"])
    func `a template is the issuer only where tenants are named`(_ place: String) async throws {
        let common = "https://login.example.com/\(place)/v2.0"
        let found = try await discover(metadata(issuer: Self.template), issuer: common, tenants: .all)
        #expect(found.issuer == Self.template)
        let described = metadata(issuer: Self.template)
        let error = await signInError { try await discover(described, described, issuer: common) }
        #expect(error?.code == .mismatch && error?.reason.contains("tenants") == true)
    }

    @Test(arguments: [
        "https://evil.example.com/{tenantid}/v2.0", "https://login.example.com/{tenantid}", "{tenantid}",
        "https://login.example.com/{tenantid}/{tenantid}", "https://login.example.com/other/v2.0",
        "https://login.example.com/common/v2.0{tenantid}",
    ])
    func `another template is another issuer`(_ issuer: String) async throws {
        let (common, described) = ("https://login.example.com/common/v2.0", metadata(issuer: issuer))
        let error = await signInError { try await discover(described, described, issuer: common, tenants: .all) }
        #expect(error?.code == .mismatch)
        #expect(try await discover(metadata(issuer: common), issuer: common, tenants: .all).issuer == common)
    }
}
