import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import TestSupport
import Testing

@testable import TokenRefresh

/// What engines and registries release, and what they leave alone.
@Suite(.timeLimit(.minutes(10))) struct ReleaseTests {
    /// A shared store that counts the releases of its lease, and notes when no one watches it any more.
    private final class WatchedStore: OneLeaseStore {
        let base = RecordingTokenStore(holding: .fixture())
        let held = KeptLease()
        let watchEnds = Gate()
        private let watches = Locked<[AsyncStream<Void>.Continuation]>([])

        var isWatched: Bool { watches.withLock { !$0.isEmpty } }
        /// How often it was watched.
        var watchCount: Int { watches.withLock { $0.count } }

        func endWatch() { watches.withLock { $0.last }?.finish() }

        var changes: AsyncStream<Void> {
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
            continuation.onTermination = { [watchEnds] _ in watchEnds.open() }
            watches.withLock { $0.append(continuation) }
            return stream
        }
    }

    private struct NamedStore: TokenStore, Hashable {
        let name: String

        func load() async throws -> TokenBundle? { nil }
        func save(_ bundle: TokenBundle) async throws {}
        func delete() async throws {}
    }

    private let store = WatchedStore()

    @Test func `Equal stores are one place, and others are not`() {
        let (one, same, other) = (NamedStore(name: "a"), NamedStore(name: "a"), NamedStore(name: "b"))
        #expect(StorePlace(of: one) != nil && StorePlace(of: one) == StorePlace(of: same))
        #expect(StorePlace(of: one) != StorePlace(of: other))
    }

    @Test func `An engine that is released watches its store no longer`() async throws {
        do {
            let engine = TokenRefreshCoordinator(over: store)
            _ = try await engine.token()
            try await until { store.isWatched }
        }
        try await store.watchEnds.passUnlessCancelled()
    }

    @Test func `An account that was used again outlives those that were used before`() async throws {
        let made = Locked<[Int]>([])
        let registry = SessionRegistry<Int>(limit: 4) { account in
            made.withLock { $0.append(account) }
            return TokenRefreshCoordinator(over: RecordingTokenStore())
        }
        for account in [0, 1, 2, 3, 4, 0, 5] { _ = registry[account] }
        for account in [0, 4, 5] { _ = registry[account] }
        #expect(made.withLock { $0 } == [0, 1, 2, 3, 4, 5])
    }

    @Test func `G20: a handler may ask another engine for a token`() async throws {
        let other = TokenRefreshCoordinator(over: RecordingTokenStore(holding: .fixture("bob1")))
        let handler = ScriptedRefreshHandler(
            .custom { request, server in
                #expect(try await other.token().name == "bob1 g0")
                return try server.refresh(request)
            })
        let engine = TokenRefreshCoordinator(over: store, handler)
        try await engine.refresh()
        #expect(try await engine.token().name == "ada1 g1")
    }

    @Test(arguments: [false, true])
    func `G9: what a released engine has still to store replaces no later sign-in`(isSignOut: Bool) async throws {
        let recording = RecordingTokenStore()
        let faulty = FaultyTokenStore(recording)
        let (own, clock) = (OwnTokenStore(base: faulty), ManualTimeSource())
        do {
            let earlier = TokenRefreshCoordinator(over: own, clock: clock)
            if isSignOut { try await earlier.signIn(.fixture("ada")) }
            faulty.fail(isSignOut ? .delete : .save, times: 1)
            if isSignOut { try? await earlier.signOut() } else { try await earlier.signIn(.fixture("ada")) }
        }
        let later = TokenRefreshCoordinator(over: own, clock: clock)
        let signIn = Task { try await later.signIn(.fixture("bob")) }
        let place = later.place
        try await clock.advance(
            by: .milliseconds(100), until: { later.status.isStored && EnginesAtWork.count(at: place) == 0 })
        try await signIn.value
        #expect(RotatingTokenServer.login(of: recording.bundle?.accessToken ?? "") == "bob")
    }

    @Test func `G9: a later engine restores no session whose sign-out an earlier one has still to fulfil`() async throws
    {
        let faulty = FaultyTokenStore(RecordingTokenStore(holding: .fixture()))
        let (own, clock) = (OwnTokenStore(base: faulty), ManualTimeSource())
        faulty.fail(.delete)
        do {
            let earlier = TokenRefreshCoordinator(over: own, clock: clock)
            try? await earlier.signOut()
            #expect(earlier.state == .signedOut(.byUser) && earlier.status.isSignOutPending)
        }
        faulty.recover(.delete)
        let later = TokenRefreshCoordinator(over: own, clock: clock)
        let restored = Task { try await later.restore() }
        // The later engine waits for the earlier one, which then tries again.
        try await clock.timer(in: .seconds(5))
        clock.advance(by: .seconds(2))
        #expect(try await restored.value == .signedOut(.never))
    }

    @Test func `A later engine for a store waits for the refresh of an earlier one`() async throws {
        let own = OwnTokenStore(base: store)
        let gate = Gate()
        let handler = ScriptedRefreshHandler(.rotateThenHold(at: gate))
        do {
            let earlier = TokenRefreshCoordinator(over: own, handler)
            let refresh = Task { try await earlier.refresh() }
            try await gate.arrivals(atLeast: 1)
            refresh.cancel()
            _ = await refresh.result
        }
        let later = TokenRefreshCoordinator(over: own, handler)
        let token = Task { try await later.token() }
        await settle()
        gate.open()
        #expect(try await token.value.name == "ada1 g1")
        #expect(handler.server.reuses == 0)
    }

    @Test func `An engine has not settled when the wait for its revocation is cancelled`() async throws {
        let revocation = RecordingRevocation()
        let gate = revocation.hold()
        let engine = TokenRefreshCoordinator(over: store, revocation: revocation)
        _ = try await engine.token()
        let end = Task { try await engine.signOut() }
        try await gate.arrivals(atLeast: 1)
        let settling = Task { await engine.settle() }
        await settle()
        settling.cancel()
        #expect(await !settling.value)
        gate.open()
        try await end.value
    }

    @Test func `A store whose streams of changes have lasted counts as watched`() async throws {
        let clock = ManualTimeSource()
        let engine = TokenRefreshCoordinator(over: store, clock: clock)
        _ = try await engine.token()
        for count in 1...3 {
            try await until { store.watchCount == count }
            clock.advance(by: .seconds(10))
            store.endWatch()
            try await clock.advance(by: .milliseconds(100), until: { store.watchCount > count })
        }
        #expect(engine.status.isWatched)
    }
}
