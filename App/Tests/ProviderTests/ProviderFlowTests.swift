import AuthInterface
import Foundation
import NetworkCore
import OAuth2Flows
import Storage
import Testing
import TokenRefresh

/// The flows of OAuth2Flows against Authlib's server, which is not this project's code: `make test-provider`.
@Suite(.enabled(if: RunningProvider.program != nil, "needs the provider: make test-provider"), .timeLimit(.minutes(20)))
struct ProviderFlowTests {
    typealias Authentication = RunningProvider.Authentication

    private let provider: RunningProvider

    init() async throws {
        provider = try await RunningProvider()
    }

    /// An engine over a store in memory, and what it stores.
    private func session(_ handler: OAuth2TokenRefreshHandler) -> (TokenRefreshCoordinator, MemoryTokenStore) {
        let store = MemoryTokenStore()
        return (TokenRefreshCoordinator(store: store, handler: handler), store)
    }

    private func signedIn(
        _ authentication: Authentication = .none
    ) async throws -> (coordinator: TokenRefreshCoordinator, tokens: TokenBundle, store: MemoryTokenStore) {
        let (coordinator, store) = session(try await provider.handler(authentication))
        try await provider.signIn(authentication).start(coordinator, with: ScriptedBrowser().userAgent)
        return (coordinator, try #require(await store.load()), store)
    }

    @Test(arguments: Authentication.allCases)
    func `a code is exchanged, a refresh rotates both tokens, and a sign-out revokes them`(
        authentication: Authentication
    ) async throws {
        let (coordinator, old, store) = try await signedIn(authentication)
        #expect(coordinator.state.isSignedIn)
        #expect(try await provider.accepts(old.accessToken))
        #expect(try await coordinator.refresh().isSignedIn)
        let new = try #require(await store.load())
        #expect(new.accessToken != old.accessToken && new.refreshToken != old.refreshToken)
        #expect(try await provider.accepts(new.accessToken))
        try await provider.handler(authentication).revoke(new)
        #expect(try await provider.accepts(new.accessToken) == false)
    }

    @Test(arguments: [
        ("code_challenge_method", "plain", "invalid_request"),
        ("code_challenge", String(repeating: "a", count: 43), "invalid_grant"),
    ])
    func `a plain challenge, and a code for another challenge, are refused`(
        item: String, value: String, code: String
    ) async throws {
        let browser = ScriptedBrowser(changingPage: { $0.set(item, value) })
        let (coordinator, store) = session(try await provider.handler(.none))
        let signIn = try await provider.signIn(.none)
        let error = await #expect(throws: OAuth2SignInError.self) {
            try await signIn.start(coordinator, with: browser.userAgent)
        }
        #expect(error?.code == .refused && error?.serverCode == code)
        #expect(await store.load() == nil)
    }

    @Test(arguments: Authentication.allCases)
    func `a device is signed in after the user has entered its code`(authentication: Authentication) async throws {
        let (coordinator, store) = session(try await provider.handler(authentication))
        let signIn = OAuth2DeviceSignIn(
            server: try await provider.server(), client: try provider.oauthClient(authentication),
            network: provider.network, scope: "resource")
        try await signIn.start(coordinator) { code in
            #expect(code.completeVerificationURI?.absoluteString.contains(code.userCode) == true)
            try await provider.enter(code, decision: "approve")
        }
        let tokens = try #require(await store.load())
        #expect(try await provider.accepts(tokens.accessToken))
    }

    @Test(arguments: [("deny", OAuth2SignInError.Code.denied), ("expire", .expired)])
    func `a device code that is denied or has expired ends the sign-in`(
        decision: String, code: OAuth2SignInError.Code
    ) async throws {
        let (coordinator, _) = session(try await provider.handler(.none))
        let signIn = OAuth2DeviceSignIn(
            server: try await provider.server(), client: try provider.oauthClient(.none), network: provider.network)
        let error = await #expect(throws: OAuth2SignInError.self) {
            try await signIn.start(coordinator) { try await provider.enter($0, decision: decision) }
        }
        #expect(error?.code == code)
        #expect(!coordinator.state.isSignedIn)
    }

    @Test func `a second use of a rotated refresh token is rejected, and ends the session of its successor`()
        async throws
    {
        let (coordinator, old, store) = try await signedIn()
        _ = try await coordinator.refresh()
        let new = try #require(await store.load())
        let handler = try await provider.handler(.none)
        let replay = TokenRefreshRequest(
            refreshToken: try #require(old.refreshToken), accessToken: old.accessToken, session: old.session,
            idempotencyKey: "fixture-key")
        let error = await #expect(throws: TokenRefreshError.self) { try await handler.refresh(replay) }
        #expect(error?.code == .rejected)
        #expect(try await provider.accepts(new.accessToken) == false)
        #expect(try await coordinator.refresh().isSignedIn == false)
    }

    @Test func `a wrong secret refuses the client, and the session stays`() async throws {
        let (_, tokens, _) = try await signedIn(.basic)
        let server = try await provider.server()
        for client in [OAuth2Client.basic(id: "endurance", secret: "fixture"), .public(id: "endurance")] {
            let handler = OAuth2TokenRefreshHandler(
                tokenEndpoint: server.tokenEndpoint, client: client, network: provider.network)
            let request = TokenRefreshRequest(
                refreshToken: try #require(tokens.refreshToken), accessToken: tokens.accessToken,
                session: tokens.session, idempotencyKey: "fixture-key")
            let error = await #expect(throws: TokenRefreshError.self) { try await handler.refresh(request) }
            #expect(error?.code == .unavailable)
        }
        #expect(try await provider.accepts(tokens.accessToken))
    }

    @Test(arguments: Authentication.allCases, ["ES256", "RS256"])
    func `a sign-in with openid returns the user, by a key of either algorithm`(
        authentication: Authentication, algorithm: String
    ) async throws {
        try await provider.changeKey(to: algorithm)
        let (coordinator, _) = session(try await provider.handler(authentication))
        let signIn = try await provider.signIn(authentication, scope: "openid resource")
        let user = try await signIn.start(coordinator, with: ScriptedBrowser().userAgent)
        #expect(user?.subject == "user" && user?.issuer == provider.issuer.absoluteString)
        #expect(user?.audiences == [try provider.oauthClient(authentication).id])
        #expect(coordinator.state.isSignedIn)
    }

    @Test func `a reference to a pushed request is taken once`() async throws {
        let (coordinator, _) = session(try await provider.handler(.key))
        let userAgent = LoopbackUserAgent(timeout: .seconds(600)) { page in
            #expect(page.query?.contains("scope") == false)
            let redirect = try await ScriptedBrowser.get(page).headers["Location"].flatMap { URL(string: $0) }
            #expect(try await ScriptedBrowser.get(page).status == 400)
            try await ScriptedBrowser.get(try #require(redirect))
        }
        try await provider.signIn(.key).start(coordinator, with: userAgent)
        #expect(coordinator.state.isSignedIn)
    }
}
