#if canImport(CryptoKit) || Crypto
import AuthInterface
import AuthTesting
import ContractTesting
import Foundation
import HandlerTesting
import NetworkCore
import OAuth2Flows
import Testing

/// What a code sign-in asks for, on the page or where it pushes its request (RFC 9126), over real sockets.
@Suite(.timeLimit(.minutes(10))) struct SignInRequestTests {
    private let session = StubSession(.signedOut(.never))
    private let userAgent = PromptUserAgent()
    private let clock = ManualTimeSource()

    private func start(
        at provider: LoopbackProvider, _ userAgent: PromptUserAgent? = nil, as client: OAuth2Client = .fixture,
        requires: Bool = true, hasEndpoint: Bool = true, _ change: (inout OAuth2CodeSignIn) throws -> Void = { _ in }
    ) async throws {
        var signIn = provider.codeSignIn(as: client, scope: "notes") {
            $0.requiresPushedAuthorizationRequests = requires
            if !hasEndpoint { $0.pushedAuthorizationRequestEndpoint = nil }
        }
        signIn.clock = clock
        try change(&signIn)
        try await signIn.start(session, with: userAgent ?? self.userAgent)
    }

    @Test(arguments: [(true, false), (false, true), (true, true), (false, false)])
    func `a request is pushed when the server requires it, or when asked`(_ requires: Bool, _ asks: Bool) async throws {
        let provider = try LoopbackProvider()
        try await start(at: provider, requires: requires) { $0.pushesRequest = asks }
        guard requires || asks else {
            #expect(provider.calls(at: "/par").isEmpty)
            #expect(userAgent.pages.first?.itemNames.contains("code_challenge") == true)
            return
        }
        let pushed = try #require(provider.calls.first)
        #expect(pushed.method == "POST" && pushed.path == "/par")
        let names = "response_type redirect_uri state scope code_challenge code_challenge_method client_id"
        #expect(Set(pushed.form.map(\.name)) == Set(names.components(separatedBy: " ")))
        #expect(pushed[form: "scope"] == ["notes"] && pushed[form: "redirect_uri"] == ["http://127.0.0.1:9/callback"])
        let page = try #require(userAgent.pages.first)
        #expect(page.itemNames == ["client_id", "request_uri"], "the browser sees nothing of the request")
        #expect(page.values(of: "request_uri") == ["urn:example:1"])
        #expect(provider.calls(at: "/token").count == 1 && session.signIns.count == 1)
    }

    @Test(arguments: [false, true])
    func `parameters and the target (RFC 8707) are sent with the request and the code`(isPushed: Bool) async throws {
        let provider = try LoopbackProvider()
        try await start(at: provider, requires: isPushed) {
            $0.pageParameters = [
                "access_type": "offline", "prompt": "consent", "organization": "org_1", "login_hint": "a@example.com",
            ]
            $0.tokenParameters = ["own": "1"]
            $0.target = try OAuth2Target(resources: [.api, .tokenEndpoint], audiences: ["notes"])
        }
        let (shown, pushed) = (try #require(userAgent.pages.first), provider.calls(at: "/par").first)
        let token = try #require(provider.calls(at: "/token").first)
        let target = [
            "resource": [URL.api.absoluteString, URL.tokenEndpoint.absoluteString], "audience": ["notes"], "own": [],
        ]
        let request = ["access_type": ["offline"], "organization": ["org_1"], "login_hint": ["a@example.com"]]
        for (name, values) in target.merging(request, uniquingKeysWith: { $1 }) {
            #expect(
                pushed?[form: name] ?? [] == (isPushed ? values : [])
                    && shown.values(of: name) == (isPushed ? [] : values))
        }
        #expect(shown.values(of: "prompt") == (isPushed ? [] : ["consent"]))
        #expect(token[form: "resource"] == target["resource"] && token[form: "audience"] == ["notes"])
        #expect(token[form: "own"] == ["1"] && token[form: "prompt"].isEmpty)
    }

    @Test(arguments: [
        "state", "State", "redirect_uri", "response_type", "client_id", "scope", "nonce", "code_challenge",
        "code_challenge_method", "code_verifier", "grant_type", "request_uri", "dpop_jkt", "client_secret", "resource",
    ])
    func `a name that the sign-in sets itself is refused before a page is shown`(_ name: String) async throws {
        let provider = try LoopbackProvider()
        for isOfPage in [true, false] {
            let error = await signInError {
                try await start(at: provider) {
                    $0.target = try OAuth2Target(resources: [provider.url])
                    $0.pageParameters = isOfPage ? [name: "x"] : [:]
                    $0.tokenParameters = isOfPage ? [:] : [name: "x"]
                }
            }
            #expect(error?.code == .unsupported && error?.reason.contains(name.lowercased()) == true)
            #expect(userAgent.pages.isEmpty && provider.calls.isEmpty)
        }
    }

    @Test func `a resource is free where the target has none`() async throws {
        let provider = try LoopbackProvider()
        try await start(at: provider) { $0.tokenParameters = ["resource": "https://api.example.com"] }
        #expect(provider.calls(at: "/token").first?[form: "resource"] == ["https://api.example.com"])
    }

    @Test func `the client authenticates as at the token endpoint, and is named once`() async throws {
        for client in [OAuth2Client.basic(id: "id", secret: "fixture"), .body(id: "id", secret: "fixture")] {
            let provider = try LoopbackProvider()
            try await start(at: provider, as: client)
            let pushed = try #require(provider.calls.first)
            #expect(pushed[form: "client_id"] == ["id"])
            #expect((pushed["Authorization"] == nil) == (pushed[form: "client_secret"] == ["fixture"]))
        }
    }

    @Test(arguments: [true, false])
    func `without an endpoint no page is shown`(_ requires: Bool) async throws {
        let provider = try LoopbackProvider()
        let error = await signInError {
            try await start(at: provider, requires: requires, hasEndpoint: false) { $0.pushesRequest = !requires }
        }
        #expect(error?.code == .unsupported)
        #expect(provider.calls.isEmpty && userAgent.pages.isEmpty)
    }

    @Test func `each URL of the page has a reference of its own`() async throws {
        let userAgent = PromptUserAgent(showing: 2)
        try await start(at: try LoopbackProvider(), userAgent)
        #expect(userAgent.pages.flatMap { $0.values(of: "request_uri") } == ["urn:example:1", "urn:example:2"])
    }

    @Test(arguments: [(59, nil), (60, "expired"), (90, "expired")])
    func `a reference that has expired when it arrives is not used`(_ seconds: Int, _ expected: String?) async throws {
        let provider = try LoopbackProvider { [clock] call in
            if call.path == "/par" { clock.advance(by: .seconds(seconds)) }
            return nil
        }
        #expect(try await signInCode { try await start(at: provider) } == expected)
        #expect(userAgent.pages.isEmpty == (expected != nil) && session.signIns.isEmpty == (expected != nil))
    }

    static let refusals: [(LoopbackServer.Action, code: String, serverCode: String?)] = [
        (.json(#"{"error":"invalid_request"}"#, status: 400), "refused", "invalid_request"),
        (.json(#"{"error":"invalid_client"}"#, status: 401), "refused", "invalid_client"),
        (.respond(413), "refused", nil), (.respond(429), "unavailable", nil), (.respond(503), "unavailable", nil),
        (.json(#"{"expires_in":60}"#, status: 201), "invalidResponse", nil),
        (.json(#"{"request_uri":"","expires_in":60}"#, status: 201), "invalidResponse", nil),
        (.close, "unavailable", nil), (.respond(307, headers: ["Location": "/elsewhere"]), "redirected", nil),
    ]

    @Test(arguments: refusals.indices)
    func `a request that was not taken opens no page and is sent once`(_ index: Int) async throws {
        let (response, code, serverCode) = Self.refusals[index]
        let provider = try LoopbackProvider { $0.path == "/par" ? response : nil }
        let error = await signInError { try await start(at: provider) }
        #expect(error?.code.rawValue == code && error?.serverCode == serverCode, "\(String(describing: error))")
        #expect(userAgent.pages.isEmpty && session.signIns.isEmpty && provider.calls.count == 1)
    }
}
#endif
