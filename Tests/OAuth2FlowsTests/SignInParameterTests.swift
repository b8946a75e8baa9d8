#if canImport(CryptoKit) || Crypto
import AuthInterface
import AuthTesting
import Foundation
import NetworkCore
import OAuth2Flows
import Testing

/// Parameters of a server's own, on the page, in a pushed request and at the token endpoint.
@Suite(.timeLimit(.minutes(10))) struct SignInParameterTests {
    private static let page: QueryItems = [
        "access_type": "offline", "prompt": "consent", "organization": "org_1", "login_hint": "a@example.com",
    ]

    private let provider: LoopbackProvider
    private let userAgent = PromptUserAgent()
    private let signIn: OAuth2CodeSignIn

    init() throws {
        provider = try LoopbackProvider()
        signIn = provider.codeSignIn(scope: "notes")
    }

    @Test(arguments: [false, true])
    func `they are sent where they are set, and nowhere else`(isPushed: Bool) async throws {
        var signIn = signIn
        signIn.pageParameters = Self.page
        signIn.tokenParameters = ["audience": "notes"]
        signIn.pushesRequest = isPushed
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
        for isOfPage in [true, false] {
            var signIn = signIn
            signIn.target = try OAuth2Target(resources: [provider.url])
            signIn.pushesRequest = true
            signIn.pageParameters = isOfPage ? [name: "x"] : [:]
            signIn.tokenParameters = isOfPage ? [:] : [name: "x"]
            let error = await signInError { try await signIn.start(StubSession(.signedOut(.never)), with: userAgent) }
            #expect(error?.code == .unsupported && error?.reason.contains(name.lowercased()) == true)
            #expect(userAgent.pages.isEmpty && provider.calls.isEmpty)
        }
    }

    @Test func `a resource is free where the target has none`() async throws {
        var signIn = signIn
        signIn.tokenParameters = ["resource": "https://api.example.com"]
        try await signIn.start(StubSession(.signedOut(.never)), with: userAgent)
        #expect(provider.calls(at: "/token").first?["resource"] == ["https://api.example.com"])
    }

    @Test func `what a step-up demands takes the place of a parameter`() async throws {
        var signIn = signIn
        signIn.pageParameters = ["acr_values": "low", "prompt": "login"]
        let session = StubSession(tokens: .fixture())
        let challenge = StepUpChallenge(.userAuthentication, acrValues: ["high"])
        try await signIn.stepUp(session, for: challenge, with: userAgent)
        let shown = try #require(userAgent.pages.first)
        #expect(shown.values(of: "acr_values") == ["high"] && shown.values(of: "prompt") == ["login"])
    }
}
#endif
