#if canImport(CryptoKit) || Crypto
import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import Storage
import Testing
import TokenRefresh

@testable import OAuth2Flows

/// A sign-in and an engine, over one prover.
private struct SigningIn {
    let server: StrictDPoPServer
    let store: MemoryTokenStore
    let engine: TokenRefreshCoordinator
    let userAgent = PromptUserAgent()
    var signIn: OAuth2CodeSignIn

    init(
        keys: any SigningKeyStore = FailingKeys(), store: MemoryTokenStore = MemoryTokenStore(),
        _ change: (inout StrictDPoPServer.Settings) -> Void = { _ in }
    ) throws {
        server = try StrictDPoPServer(change)
        self.store = store
        signIn = server.codeSignIn(prover: server.prover(keys))
        engine = TokenRefreshCoordinator(store: store, handler: server.handler(prover: signIn.prover))
    }

    func start() async throws { try await signIn.start(engine, with: userAgent) }

    var thumbprint: String? { get async { await store.load()?.binding?.thumbprint } }

    /// Whether the last page named a key.
    func hasShown(_ thumbprint: String) -> Bool { userAgent.pages.last?.values(of: "dpop_jkt") == [thumbprint] }
}

@Suite("G34: a sign-in makes the key of its session", .timeLimit(.minutes(10))) struct DPoPSignInTests {
    @Test func `the tokens are bound to a key of their own, from the code to the last request`() async throws {
        let keys = FailingKeys()
        let session = try SigningIn(keys: keys)
        let (server, engine) = (session.server, session.engine)
        try await session.start()
        let thumbprint = try #require(await session.thumbprint)
        #expect(server.now.thumbprint == thumbprint && server.now.faults == [])
        #expect(session.hasShown(thumbprint))

        try await engine.refresh()
        #expect(server.now.refreshes.count == 1 && server.now.faults == [])
        // The one call without a refresh token that was challenged is that for the code.
        #expect(server.now.probes == 1 && server.now.challenges == 0, "the nonce of the sign-in is fresh")

        try await engine.signOut()
        _ = await engine.settle()
        #expect(try await keys.key(withThumbprint: thumbprint) == nil)
    }

    @Test(
        arguments: [
            (7_200.0, 1, true), (7_200, 1, false), (7_200, nil, true), (-7_200, 1, true), (-7_200, nil, true),
        ] as [(TimeInterval, Int?, Bool)])
    func `G19: a wrong clock costs a sign-in one proof`(offset: Double, nonces: Int?, names: Bool) async throws {
        let signingIn = try SigningIn {
            ($0.clockOffset, $0.acceptedNonces, $0.namesNonceInFaults) = (offset, nonces, names)
        }
        let server = signingIn.server
        let session = StubSession(.signedOut(.never))
        try await signingIn.signIn.start(session, with: signingIn.userAgent)
        #expect(session.signIns.count == 1 && server.now.faults == ["iat"])
    }

    @Test func `G32: a sign-in that a call demands is bound to the key of the session`() async throws {
        let keys = FailingKeys()
        var session = try SigningIn(keys: keys)
        let (server, engine, userAgent) = (session.server, session.engine, session.userAgent)
        try await session.start()
        let thumbprint = try #require(await session.thumbprint)

        try await session.signIn.stepUp(engine, for: StepUpChallenge(.userAuthentication), with: userAgent)
        #expect(session.hasShown(thumbprint))
        #expect(await session.thumbprint == thumbprint)
        _ = await engine.settle()
        try await engine.refresh()
        #expect(server.now.faults == [] && Set(keys.kept).count == 1)

        session.signIn.prover = nil
        let signIn = session.signIn
        let error = await signInError {
            try await signIn.stepUp(engine, for: StepUpChallenge(.userAuthentication), with: userAgent)
        }
        #expect(error?.code == .unavailable)
    }

    @Test func `a step-up without the session's key has another one, and the key of a sign-in stays`()
        async throws
    {
        let keys = FailingKeys()
        let session = try SigningIn(keys: keys)
        let (server, engine) = (session.server, session.engine)
        try await session.start()
        let first = try #require(await session.thumbprint)
        var stranger = session.signIn
        stranger.prover = server.prover(FailingKeys())
        try await stranger.stepUp(engine, for: StepUpChallenge(.key), with: session.userAgent)
        #expect(await session.thumbprint == server.now.thumbprint && server.now.thumbprint != first)

        // The session may end after the code was exchanged, and its key with it.
        let prover = server.prover(keys)
        let key = DPoPTokenCall(prover, try await prover.makeKey())
        try await key.keep()
        try await prover.deleteKey(key.thumbprint)
        try await key.keep()
        #expect(try await keys.key(withThumbprint: key.thumbprint) != nil)
    }

    @Test func `a key that cannot be read blocks no sign-in, and the new session has one of its own`() async throws {
        let keys = FailingKeys()
        let store = MemoryTokenStore(
            holding: TokenBundle(
                accessToken: "access-old", refreshToken: "refresh-old", binding: TokenBinding(thumbprint: "restored")))
        let session = try SigningIn(keys: keys, store: store)
        let (server, engine) = (session.server, session.engine)
        keys.failure.withLock { $0 = TokenStoreError(.unavailable, reason: "no key opens it") }
        await #expect(throws: AuthenticationError.self) { try await engine.refresh() }
        #expect(engine.state == .signedIn(try #require(await store.load()).session), "it is unavailable")
        try await session.start()
        try await engine.refresh()
        #expect(await session.thumbprint == server.now.thumbprint && server.now.faults == [])
    }

    @Test func `KE7: the key is in memory until the code has come, and kept before it is exchanged`() async throws {
        let keys = FailingKeys()
        let session = try SigningIn(keys: keys)
        let userAgent = PromptUserAgent { _ in #expect(keys.kept.isEmpty, "the page is shown") }
        try await session.signIn.start(session.engine, with: userAgent)
        let thumbprint = try #require(await session.thumbprint)
        #expect(Set(keys.kept) == [thumbprint])
        #expect(try await keys.key(withThumbprint: thumbprint) != nil)

        let full = StoredSigningKeys { _ in
            let store = FaultyTokenStore(MemoryTokenStore())
            store.fail(.save)
            return store
        }
        let failing = try SigningIn(keys: full)
        let error = await signInError { try await failing.start() }
        #expect(error?.code == .unavailable && failing.server.requests.isEmpty, "the code is not exchanged")
    }

    @Test func `US2: the second half of a sign-in needs the key that the first one made`() async throws {
        let keys = FailingKeys()
        let first = try SigningIn(keys: keys)
        let (page, state) = try await first.signIn.begin(redirectingTo: redirectURI)
        var second = first.signIn
        second.prover = first.server.prover(FailingKeys())
        let absent = await signInError { try await second.finish(callback: callback(of: page), state: state) }
        #expect(absent?.code == .unavailable && absent?.cause is SigningKeyError)
        second.prover = nil
        let unset = await signInError { try await second.finish(callback: callback(of: page), state: state) }
        #expect(unset?.code == .unavailable && unset?.reason.contains("prover") == true)
        second.prover = first.server.prover(keys)
        keys.failure.withLock { $0 = TokenStoreError(.unavailable, reason: "the device is locked") }
        let unreadable = await signInError { try await second.finish(callback: callback(of: page), state: state) }
        #expect(unreadable?.code == .unavailable && unreadable?.cause is TokenStoreError)
        #expect(first.server.requests.isEmpty)
        keys.failure.withLock { $0 = nil }
        let (tokens, _) = try await second.finish(callback: callback(of: page), state: state)
        let thumbprint = try #require(tokens.binding?.thumbprint)
        #expect(page.values(of: "dpop_jkt") == [thumbprint])
        #expect(first.server.now.thumbprint == thumbprint && first.server.now.faults == [])
    }

    @Test func `US2: a code that is sent twice deletes no key, and a page that fails leaves none`() async throws {
        let keys = FailingKeys()
        let provider = try LoopbackProvider { _ in .json(#"{"error":"invalid_grant"}"#, status: 400) }
        var signIn = provider.codeSignIn(prover: DPoPProver(keys: keys)) {
            $0.pushedAuthorizationRequestEndpoint = nil
        }
        let (page, state) = try await signIn.begin(redirectingTo: redirectURI)
        let finishing = signIn
        let error = await signInError { try await finishing.finish(callback: callback(of: page), state: state) }
        #expect(error?.code == .refused)
        #expect(try await keys.key(withThumbprint: try #require(state.thumbprint)) != nil)

        signIn.pushesRequest = true
        let pushing = signIn
        #expect(await signInError { try await pushing.begin(redirectingTo: redirectURI) }?.code == .unsupported)
        #expect(Set(keys.kept) == [try #require(state.thumbprint)])
    }

    @Test func `a sign-in that fails leaves no key, and a bearer token is not taken for a bound one`() async throws {
        for body in [
            #"{"error":"invalid_grant"}"#, #"{"access_token":"a","token_type":"Bearer"}"#,
            #"{"access_token":"a b","token_type":"DPoP"}"#,
        ] {
            let provider = try LoopbackProvider { _ in .json(body, status: body.contains("error") ? 400 : 200) }
            let keys = FailingKeys()
            let signIn = provider.codeSignIn(prover: DPoPProver(keys: keys))
            let session = StubSession(.signedOut(.never))
            _ = await signInError { try await signIn.start(session, with: PromptUserAgent()) }
            #expect(session.signIns.isEmpty)
            let thumbprint = try #require(keys.kept.first, "it was kept for the exchange")
            #expect(try await keys.key(withThumbprint: thumbprint) == nil)
        }
    }
}
#endif
