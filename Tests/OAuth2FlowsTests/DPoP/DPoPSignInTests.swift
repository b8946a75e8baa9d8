#if canImport(CryptoKit) || Crypto
import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkCore
import NetworkURLSession
import Storage
import Testing
import TokenRefresh

@testable import OAuth2Flows

/// Responds to a sign-in page at once, and keeps its URL.
private final class ImmediateUserAgent: OAuth2UserAgent {
    let page = Locked<URL?>(nil)

    func response(to page: OAuth2SignInPage) async throws -> (response: URL, redirectURI: URL) {
        let redirectURI = try #require(URL(string: "http://127.0.0.1:9/callback"))
        let url = try await page.url(redirectingTo: redirectURI)
        self.page.withLock { $0 = url }
        return (try #require(URL(string: "http://127.0.0.1:9/callback?code=c&state=\(page.state)")), redirectURI)
    }
}

@Suite("G34: a sign-in makes the key of its session", .timeLimit(.minutes(5)))
struct DPoPSignInTests {
    @Test func `the tokens are bound to a key of their own, from the code to the last request`() async throws {
        let server = try StrictDPoPServer()
        defer { server.stop() }
        let keys = FailingKeys()
        let prover = DPoPProver(keys: keys)
        let network = NetworkClient(baseURL: server.url, transport: URLSessionTransport())
        var signIn = OAuth2CodeSignIn(
            server: server.description, client: .public(id: "fixture-client"), network: network)
        signIn.prover = prover
        var handler = OAuth2TokenRefreshHandler(
            tokenEndpoint: server.tokenEndpoint, client: .public(id: "fixture-client"), network: network)
        handler.prover = prover
        let store = MemoryTokenStore()
        let engine = TokenRefreshCoordinator(store: store, handler: handler)
        let userAgent = ImmediateUserAgent()

        try await signIn.start(engine, with: userAgent)
        let thumbprint = try #require(await store.load()?.binding?.thumbprint)
        #expect(server.now.thumbprint == thumbprint && server.now.faults == [])
        #expect(userAgent.page.withLock { $0 }?.query?.contains("dpop_jkt=\(thumbprint)") == true)

        try await engine.refresh()
        #expect(server.now.refreshes.count == 1 && server.now.faults == [])
        // The one call without a refresh token that was challenged is that for the code.
        #expect(server.now.probes == 1 && server.now.challenges == 0, "the nonce of the sign-in is fresh")

        // The next user gets another key, and that of the first is deleted.
        try await signIn.start(engine, with: userAgent)
        let next = try #require(await store.load()?.binding?.thumbprint)
        _ = await engine.settle()
        #expect(next != thumbprint)
        #expect(try await keys.key(withThumbprint: thumbprint) == nil)
        #expect(try await keys.key(withThumbprint: next) != nil)
        try await engine.signOut()
        _ = await engine.settle()
        #expect(try await keys.key(withThumbprint: next) == nil)
    }

    @Test(
        arguments: [
            (7_200.0, 1, true), (7_200, 1, false), (7_200, nil, true), (-7_200, 1, true), (-7_200, nil, true),
        ] as [(TimeInterval, Int?, Bool)])
    func `G19: a wrong clock of the device costs a sign-in one proof`(
        offset: TimeInterval, nonces: Int?, namesNonceInFaults: Bool
    ) async throws {
        let server = try StrictDPoPServer {
            ($0.clockOffset, $0.acceptedNonces, $0.namesNonceInFaults) = (offset, nonces, namesNonceInFaults)
        }
        defer { server.stop() }
        let network = NetworkClient(baseURL: server.url, transport: URLSessionTransport())
        var signIn = OAuth2CodeSignIn(
            server: server.description, client: .public(id: "fixture-client"), network: network)
        signIn.prover = DPoPProver(keys: FailingKeys())
        let session = StubSession(.signedOut(.never))
        try await signIn.start(session, with: ImmediateUserAgent())
        #expect(session.signIns.count == 1 && server.now.faults == ["iat"])
    }

    @Test func `G32: a sign-in that a call demands is bound to the key of the session, and makes no other`()
        async throws
    {
        let server = try StrictDPoPServer()
        defer { server.stop() }
        let made = Locked<[String]>([])
        let keys = StoredSigningKeys { account in
            made.withLock { $0.append(account) }
            return MemoryTokenStore()
        }
        let network = NetworkClient(baseURL: server.url, transport: URLSessionTransport())
        var signIn = OAuth2CodeSignIn(
            server: server.description, client: .public(id: "fixture-client"), network: network)
        signIn.prover = DPoPProver(keys: keys)
        var handler = OAuth2TokenRefreshHandler(
            tokenEndpoint: server.tokenEndpoint, client: .public(id: "fixture-client"), network: network)
        handler.prover = signIn.prover
        let store = MemoryTokenStore()
        let engine = TokenRefreshCoordinator(store: store, handler: handler)
        let userAgent = ImmediateUserAgent()
        try await signIn.start(engine, with: userAgent)
        let thumbprint = try #require(await store.load()?.binding?.thumbprint)

        try await signIn.stepUp(engine, for: StepUpChallenge(.userAuthentication), with: userAgent)
        #expect(userAgent.page.withLock { $0 }?.query?.contains("dpop_jkt=\(thumbprint)") == true)
        #expect(await store.load()?.binding?.thumbprint == thumbprint)
        _ = await engine.settle()
        try await engine.refresh()
        #expect(server.now.faults == [] && made.withLock { Set($0).count } == 1)

        signIn.prover = nil
        let error = await #expect(throws: OAuth2SignInError.self) {
            try await signIn.stepUp(engine, for: StepUpChallenge(.userAuthentication), with: userAgent)
        }
        #expect(error?.code == .unavailable)
    }

    @Test func `a key that cannot be read blocks no sign-in, and the new session has one of its own`() async throws {
        let server = try StrictDPoPServer()
        defer { server.stop() }
        let keys = FailingKeys()
        let network = NetworkClient(baseURL: server.url, transport: URLSessionTransport())
        let store = MemoryTokenStore(
            holding: TokenBundle(
                accessToken: "access-old", refreshToken: "refresh-old", binding: TokenBinding(thumbprint: "restored")))
        var signIn = OAuth2CodeSignIn(
            server: server.description, client: .public(id: "fixture-client"), network: network)
        signIn.prover = DPoPProver(keys: keys)
        var handler = OAuth2TokenRefreshHandler(
            tokenEndpoint: server.tokenEndpoint, client: .public(id: "fixture-client"), network: network)
        handler.prover = signIn.prover
        let engine = TokenRefreshCoordinator(store: store, handler: handler)
        keys.failure.withLock { $0 = TokenStoreError(.unavailable, reason: "no key opens it") }
        await #expect(throws: AuthenticationError.self) { try await engine.refresh() }
        #expect(engine.state == .signedIn(try #require(await store.load()).session), "it is unavailable")
        try await signIn.start(engine, with: ImmediateUserAgent())
        try await engine.refresh()
        #expect(await store.load()?.binding?.thumbprint == server.now.thumbprint && server.now.faults == [])
    }

    @Test func `a sign-in that fails leaves no key, and a bearer token is not taken for a bound one`() async throws {
        for body in [
            #"{"error":"invalid_grant"}"#, #"{"access_token":"a","token_type":"Bearer"}"#,
            #"{"access_token":"a b","token_type":"DPoP"}"#,
        ] {
            let server = try LoopbackServer { _ in .json(body, status: body.contains("error") ? 400 : 200) }
            defer { server.stop() }
            let made = Locked<[String]>([])
            let keys = StoredSigningKeys { account in
                made.withLock { $0.append(account) }
                return MemoryTokenStore()
            }
            var signIn = OAuth2CodeSignIn(
                server: OAuth2Server(
                    issuer: server.url.absoluteString, tokenEndpoint: server.url.appendingPathComponent("token"),
                    authorizationEndpoint: server.url.appendingPathComponent("authorize")),
                client: .public(id: "fixture-client"),
                network: NetworkClient(baseURL: server.url, transport: URLSessionTransport()))
            signIn.prover = DPoPProver(keys: keys)
            let session = StubSession(.signedOut(.never))
            await #expect(throws: OAuth2SignInError.self) {
                try await signIn.start(session, with: ImmediateUserAgent())
            }
            #expect(session.signIns.isEmpty)
            let thumbprint = try #require(made.withLock { $0.first })
            #expect(try await keys.key(withThumbprint: thumbprint) == nil)
        }
    }
}

extension StrictDPoPServer {
    fileprivate var description: OAuth2Server {
        OAuth2Server(
            issuer: url.absoluteString, tokenEndpoint: tokenEndpoint,
            authorizationEndpoint: url.appendingPathComponent("authorize"))
    }
}
#endif
