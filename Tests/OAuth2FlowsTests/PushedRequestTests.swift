#if canImport(CryptoKit) || Crypto
import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import OAuth2Flows
import Testing

/// Pushed authorization requests (RFC 9126), over real sockets.
@Suite(.timeLimit(.minutes(10))) struct PushedRequestTests {
    private let session = StubSession(.signedOut(.never))
    private let userAgent = PromptUserAgent()
    private let clock = ManualTimeSource()

    /// A server that takes requests, and numbers the references it gives.
    private func provider(
        _ response: @escaping @Sendable (Int) -> LoopbackServer.Action = {
            .json(#"{"request_uri":"urn:example:\#($0)","expires_in":60}"#, status: 201)
        }
    ) throws -> LoopbackProvider {
        let count = Locked(0)
        return try LoopbackProvider { call in
            guard call.path == "/par" else { return nil }
            return response(
                count.withLock {
                    $0 += 1; return $0
                })
        }
    }

    private func signIn(
        at provider: LoopbackProvider, _ userAgent: PromptUserAgent? = nil, requires: Bool = true,
        asks: Bool = false, hasEndpoint: Bool = true, as client: OAuth2Client = .fixture
    ) async throws {
        var signIn = provider.codeSignIn(as: client, scope: "notes") {
            $0.requiresPushedAuthorizationRequests = requires
            if !hasEndpoint { $0.pushedAuthorizationRequestEndpoint = nil }
        }
        (signIn.pushesRequest, signIn.clock) = (asks, clock)
        try await signIn.start(session, with: userAgent ?? self.userAgent)
    }

    @Test(arguments: [(true, false), (false, true), (true, true), (false, false)])
    func `a request is pushed when the server requires it, and when it is asked for`(_ requires: Bool, _ asks: Bool)
        async throws
    {
        let provider = try provider()
        try await signIn(at: provider, requires: requires, asks: asks)
        guard requires || asks else {
            #expect(provider.calls(at: "/par").isEmpty)
            #expect(userAgent.pages.first?.itemNames.contains("code_challenge") == true)
            return
        }
        let pushed = try #require(provider.calls.first)
        #expect(pushed.method == "POST" && pushed.path == "/par")
        #expect(
            pushed.names == [
                "response_type", "redirect_uri", "state", "scope", "code_challenge", "code_challenge_method",
                "client_id",
            ])
        #expect(pushed["scope"] == ["notes"] && pushed["redirect_uri"] == ["http://127.0.0.1:9/callback"])
        let page = try #require(userAgent.pages.first)
        #expect(page.itemNames == ["client_id", "request_uri"], "the browser sees nothing of the request")
        #expect(page.values(of: "request_uri") == ["urn:example:1"])
        #expect(provider.calls(at: "/token").count == 1 && session.signIns.count == 1)
    }

    @Test func `the client authenticates as at the token endpoint, and is named once`() async throws {
        for client in [OAuth2Client.basic(id: "id", secret: "fixture"), .body(id: "id", secret: "fixture")] {
            let provider = try provider()
            try await signIn(at: provider, as: client)
            let pushed = try #require(provider.calls.first)
            #expect(pushed["client_id"] == ["id"])
            #expect((pushed.authorization == nil) == (pushed["client_secret"] == ["fixture"]))
        }
    }

    @Test(arguments: [true, false])
    func `without an endpoint no page is shown`(_ requires: Bool) async throws {
        let provider = try provider()
        let error = await signInError {
            try await signIn(at: provider, requires: requires, asks: !requires, hasEndpoint: false)
        }
        #expect(error?.code == .unsupported)
        #expect(provider.calls.isEmpty && userAgent.pages.isEmpty)
    }

    @Test func `each URL of the page has a reference of its own`() async throws {
        let provider = try provider()
        let userAgent = PromptUserAgent(showing: 2)
        try await signIn(at: provider, userAgent)
        #expect(userAgent.pages.flatMap { $0.values(of: "request_uri") } == ["urn:example:1", "urn:example:2"])
    }

    @Test(arguments: [(59, nil), (60, "expired"), (90, "expired")])
    func `a reference that has expired when it arrives is not used`(_ seconds: Int, _ expected: String?) async throws {
        let clock = clock
        let provider = try provider { _ in
            clock.advance(by: .seconds(seconds))
            return .json(#"{"request_uri":"urn:example:1","expires_in":60}"#, status: 201)
        }
        do {
            try await signIn(at: provider)
            #expect(expected == nil)
        } catch let error as OAuth2SignInError {
            #expect(error.code.rawValue == expected)
            #expect(userAgent.pages.isEmpty && session.signIns.isEmpty)
        }
    }

    static let refusals: [(LoopbackServer.Action, code: String, serverCode: String?)] = [
        (.json(#"{"error":"invalid_request"}"#, status: 400), "refused", "invalid_request"),
        (.json(#"{"error":"invalid_client"}"#, status: 401), "refused", "invalid_client"),
        (.respond(413), "refused", nil), (.respond(429), "unavailable", nil), (.respond(503), "unavailable", nil),
        (.json(#"{"expires_in":60}"#, status: 201), "invalidResponse", nil),
        (.json(#"{"request_uri":"","expires_in":60}"#, status: 201), "invalidResponse", nil),
        (.close, "unavailable", nil),
    ]

    @Test(arguments: refusals.indices)
    func `a request that was not taken opens no page and is sent once`(_ index: Int) async throws {
        let (response, code, serverCode) = Self.refusals[index]
        let provider = try provider { _ in response }
        let error = await signInError { try await signIn(at: provider) }
        #expect(error?.code.rawValue == code && error?.serverCode == serverCode, "\(String(describing: error))")
        #expect(userAgent.pages.isEmpty && session.signIns.isEmpty && provider.calls(at: "/token").isEmpty)
        #expect(provider.calls.count == 1)
    }

    @Test func `G16: a request is not pushed over plain http`() async throws {
        let transport = StubTransport()
        var server = OAuth2Server(
            issuer: "https://id.example.com", tokenEndpoint: .tokenEndpoint,
            authorizationEndpoint: URL(string: "https://id.example.com/authorize"))
        server.pushedAuthorizationRequestEndpoint = URL(string: "http://id.example.com/par")
        var signIn = OAuth2CodeSignIn(server: server, client: .public(id: "a"), network: NetworkClient(transport))
        signIn.pushesRequest = true
        _ = await signInError { try await signIn.start(session, with: userAgent) }
        #expect(transport.requests.isEmpty)
    }
}
#endif
