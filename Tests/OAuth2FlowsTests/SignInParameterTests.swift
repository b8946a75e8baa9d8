#if canImport(CryptoKit) || Crypto
import AuthInterface
import AuthTesting
import ContractTesting
import Foundation
import NetworkCore
import OAuth2Flows
import Testing

/// Parameters of a server's own, on the page, in a pushed request and at the token endpoint.
@Suite(.timeLimit(.minutes(10))) struct SignInParameterTests {
    private static let page: QueryItems = [
        "access_type": "offline", "prompt": "consent", "organization": "org_1", "login_hint": "a@example.com",
    ]

    private func provider() throws -> LoopbackProvider {
        try LoopbackProvider { call in
            switch call.path {
            case "/par": .json(#"{"request_uri":"urn:example:1","expires_in":60}"#, status: 201)
            case "/token": .json(#"{"access_token":"fixture","token_type":"Bearer","refresh_token":"fixture-2"}"#)
            default: nil
            }
        }
    }

    private func signIn(at provider: LoopbackProvider) -> OAuth2CodeSignIn {
        var server = provider.description
        server.pushedAuthorizationRequestEndpoint = provider.url.appendingPathComponent("par")
        return OAuth2CodeSignIn(server: server, client: .public(id: "a"), network: provider.network, scope: "notes")
    }

    @Test(arguments: [false, true])
    func `they are sent where they are set, and nowhere else`(isPushed: Bool) async throws {
        let provider = try provider()
        var signIn = signIn(at: provider)
        signIn.pageParameters = Self.page
        signIn.tokenParameters = ["audience": "notes"]
        signIn.pushesRequest = isPushed
        let userAgent = PromptUserAgent()
        try await signIn.start(StubSession(.signedOut(.never)), with: userAgent)
        let shown = try #require(userAgent.pages.first)
        #expect(shown.values(of: "prompt") == (isPushed ? [] : ["consent"]))
        let pushed = provider.calls(at: "/par").first
        for (name, value) in [("access_type", "offline"), ("organization", "org_1"), ("login_hint", "a@example.com")] {
            #expect(isPushed ? pushed?[name] == [value] : shown.values(of: name) == [value])
        }
        let token = try #require(provider.calls(at: "/token").first)
        #expect(token["audience"] == ["notes"] && token["prompt"].isEmpty && !shown.itemNames.contains("audience"))
    }

    @Test(arguments: [
        "state", "State", "redirect_uri", "response_type", "client_id", "scope", "nonce", "code_challenge",
        "code_challenge_method", "code_verifier", "grant_type", "request_uri", "dpop_jkt", "client_secret", "resource",
    ])
    func `a name that the sign-in sets itself is refused before a page is shown`(_ name: String) async throws {
        let provider = try provider()
        for isOfPage in [true, false] {
            var signIn = signIn(at: provider)
            signIn.target = try OAuth2Target(resources: [provider.url])
            signIn.pushesRequest = true
            signIn.pageParameters = isOfPage ? [name: "x"] : [:]
            signIn.tokenParameters = isOfPage ? [:] : [name: "x"]
            let userAgent = PromptUserAgent()
            let error = await signInError { try await signIn.start(StubSession(.signedOut(.never)), with: userAgent) }
            #expect(error?.code == .unsupported && error?.reason.contains(name.lowercased()) == true)
            #expect(userAgent.pages.isEmpty && provider.calls.isEmpty)
        }
    }

    @Test func `a resource is free where the target has none`() async throws {
        let provider = try provider()
        var signIn = signIn(at: provider)
        signIn.tokenParameters = ["resource": "https://api.example.com"]
        try await signIn.start(StubSession(.signedOut(.never)), with: PromptUserAgent())
        #expect(provider.calls(at: "/token").first?["resource"] == ["https://api.example.com"])
    }

    @Test func `what a step-up demands takes the place of a parameter`() async throws {
        let provider = try provider()
        var signIn = signIn(at: provider)
        signIn.pageParameters = ["acr_values": "low", "prompt": "login"]
        let userAgent = PromptUserAgent()
        let session = StubSession(tokens: .fixture())
        let challenge = StepUpChallenge(.userAuthentication, acrValues: ["high"])
        try await signIn.stepUp(session, for: challenge, with: userAgent)
        let shown = try #require(userAgent.pages.first)
        #expect(shown.values(of: "acr_values") == ["high"] && shown.values(of: "prompt") == ["login"])
    }
}
#endif
