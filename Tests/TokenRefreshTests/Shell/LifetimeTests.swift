import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import TestSupport
import Testing

@testable import TokenRefresh

/// A refresh, and its engine, once the app has released the engine, and what a later engine for the store waits for.
@Suite(.timeLimit(.minutes(10))) struct LifetimeTests {
    private struct NamedStore: TokenStore, Hashable {
        let name: String

        func load() async throws -> TokenBundle? { nil }
        func save(_ bundle: TokenBundle) async throws {}
        func delete() async throws {}
    }

    private let store = FaultyTokenStore(RecordingTokenStore(holding: .fixture()))
    private let own: OwnTokenStore
    private let handler = ScriptedRefreshHandler()
    private let clock = ManualTimeSource()

    init() { own = OwnTokenStore(base: store) }

    /// The next engine of the process for its own store.
    private func engine() -> TokenRefreshCoordinator { TokenRefreshCoordinator(over: own, handler, clock: clock) }

    @Test(arguments: Bench.StoreKind.allCases, [true, false])
    func `G7, G11: a released engine completes its write`(kind: Bench.StoreKind, isStoring: Bool) async throws {
        let bench = Bench(kind, holding: .fixture())
        let gate = isStoring ? bench.store.hold(.save) : Gate()
        if !isStoring { bench.handler.add(.rotateThenHold(at: gate)) }
        let request = bench.refuse(try await bench.engine.token())[0]
        try await gate.arrivals(atLeast: 1)
        await expectCancellation(of: request)
        #expect(bench.store.base.bundle?.generation == 0)
        try await bench.releaseEngine { gate.open() }
        if !isStoring { try await until { bench.store.base.bundle?.generation == 1 } }
        #expect(bench.store.base.bundle?.generation == 1)
    }

    @Test(arguments: Bench.StoreKind.allCases)
    func `A stream of states keeps its engine until its reader ends`(kind: Bench.StoreKind) async throws {
        let bench = Bench(kind, holding: .fixture())
        let reader = Task { [states = bench.engine.states] in
            for await _ in states {}
        }
        try await bench.engine.restore()
        weak let engine = bench.engine
        try await bench.releaseEngine {
            await settle()
            #expect(engine != nil)
            reader.cancel()
        }
    }

    @Test(arguments: Bench.StoreKind.allCases)
    func `Nothing that the shell holds grows, and an idle engine can be freed`(kind: Bench.StoreKind) async throws {
        let bench = Bench(kind, holding: .fixture())
        for round in 0..<300 {
            if round.isMultiple(of: 5) { bench.store.fail(.save, times: 1) }
            try await bench.engine.signIn(.fixture("user\(round)", expiresIn: .seconds(900)))
            bench.handler.add(.failure(TokenRefreshError(.unavailable, retryAfter: .seconds(1))))
            _ = try? await bench.engine.refresh()
            await expectCancellation(of: bench.refuse(try await bench.engine.token())[0])
            bench.clock.advance(by: .seconds(60))
            for await _ in bench.engine.states { break }
            if round.isMultiple(of: 3) { try await bench.engine.signOut() }
            #expect(await bench.engine.settle())
        }
        try await until {
            bench.engine.core.withLock { core in
                core.callers.waiters.isEmpty && core.calls.isEmpty && core.leases.isEmpty && core.revocations.isEmpty
                    && core.callers.readers.isEmpty && core.timers.count < 4
            }
        }
        let place = bench.engine.place
        try await bench.releaseEngine()
        #expect(EnginesAtWork.count(at: place) == 0)
    }

    @Test func `Equal stores are one place, and others are not`() {
        let (one, same, other) = (NamedStore(name: "a"), NamedStore(name: "a"), NamedStore(name: "b"))
        let engine = engine()
        #expect(StorePlace(of: one, in: engine) == StorePlace(of: same, in: self.engine()))
        #expect(StorePlace(of: one, in: engine) != StorePlace(of: other, in: engine))
    }

    @Test func `An engine that is released watches its store no longer`() async throws {
        weak var released: RecordingTokenStore?
        do {
            let watched = RecordingTokenStore(holding: .fixture())
            released = watched
            _ = try await TokenRefreshCoordinator(over: watched).token()
        }
        // A task that waits for its changes would keep it.
        try await until { released == nil }
    }

    @Test func `G20: a handler may ask another engine for a token`() async throws {
        let other = TokenRefreshCoordinator(over: RecordingTokenStore(holding: .fixture("bob1")))
        handler.add(
            .custom { request, server in
                #expect(try await other.token().name == "bob1 g0")
                return try server.refresh(request)
            })
        let engine = engine()
        #expect(try await engine.refresh() == engine.state)
        #expect(try await engine.token().name == "ada1 g1")
    }

    @Test(arguments: [false, true])
    func `G9: what a released engine has still to store replaces no later sign-in`(isSignOut: Bool) async throws {
        store.fail(isSignOut ? .delete : .save, times: 1)
        do {
            let earlier = engine()
            try await earlier.restore()
            if isSignOut { try? await earlier.signOut() } else { try await earlier.signIn(.fixture("ada")) }
        }
        let later = engine()
        let signIn = Task { try await later.signIn(.fixture("bob")) }
        let place = later.place
        try await clock.advance(
            by: .milliseconds(100), until: { later.status.isStored && EnginesAtWork.count(at: place) == 0 })
        try await signIn.value
        #expect(RotatingTokenServer.login(of: store.base.bundle?.accessToken ?? "") == "bob")
    }

    @Test func `G9: a later engine restores no session whose sign-out an earlier one has to fulfil`() async throws {
        store.fail(.delete)
        do {
            let earlier = engine()
            try? await earlier.signOut()
            #expect(earlier.state == .signedOut(.byUser) && earlier.status.isSignOutPending)
        }
        store.recover(.delete)
        let later = engine()
        let restored = Task { try await later.restore() }
        // The later engine waits for the earlier one, which then tries again.
        try await clock.timer(in: .seconds(5))
        clock.advance(by: .seconds(2))
        #expect(try await restored.value == .signedOut(.never))
    }

    @Test func `G30: a later engine waits for one that reads late what it is to end, which is no later sign-in`()
        async throws
    {
        let end = PendingSignOut(upTo: .unknown, reason: .byUser, date: clock.date)
        let journal = MemorySessionJournal(holding: SessionJournalEntry(pending: end))
        func engine() -> TokenRefreshCoordinator {
            TokenRefreshCoordinator(over: own, handler, journal: journal, clock: clock)
        }
        let (earlier, later, gate) = (engine(), engine(), store.hold(.load, .after))
        let restored = Task { try await earlier.restore() }
        try await gate.arrivals(atLeast: 1)
        store.recover(.load)
        let signIn = Task { try await later.signIn(.fixture("bob")) }
        await settle()
        gate.open()
        _ = try await restored.value
        try await signIn.value
        for engine in [earlier, later] { #expect(await engine.settle()) }
        #expect(RotatingTokenServer.login(of: store.base.bundle?.accessToken ?? "") == "bob")
    }

    @Test func `A later engine for a store waits until an earlier one has stored its tokens`() async throws {
        store.fail(.save)
        do {
            let earlier = engine()
            try await earlier.refresh()
        }
        let (later, loads) = (engine(), store.calls(.load))
        let failing = Task { await code { _ = try await later.token() } }
        // The wait for the earlier engine ends before the deadline of the read.
        try await clock.advance(toTimerIn: .seconds(5))
        #expect(await failing.value == "storeUnavailable")
        #expect(store.calls(.load) == loads && later.status.storeFailure?.code == .busy)

        store.recover(.save)
        let gate = store.hold(.save)
        try await clock.advance(by: .seconds(1), until: { gate.arrivals == 1 })
        let waiting = Task { try await later.token() }
        gate.open()
        #expect(try await waiting.value.name == "ada1 g1")
        #expect(handler.calls.count == 1 && handler.server.reuses == 0)
    }

    @Test func `A later engine for a store waits for the refresh of an earlier one`() async throws {
        let gate = Gate()
        handler.add(.rotateThenHold(at: gate))
        do {
            let earlier = engine()
            let refresh = Task { try await earlier.refresh() }
            try await gate.arrivals(atLeast: 1)
            await expectCancellation(of: refresh)
        }
        let later = engine()
        let token = Task { try await later.token() }
        await settle()
        gate.open()
        #expect(try await token.value.name == "ada1 g1")
        #expect(handler.server.reuses == 0)
    }
}
