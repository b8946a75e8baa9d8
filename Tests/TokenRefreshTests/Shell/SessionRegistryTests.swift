import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import TestSupport
import Testing

@testable import TokenRefresh

/// One engine for each account, and no more than the limit.
@Suite(.timeLimit(.minutes(10))) struct SessionRegistryTests {
    private final class Stores: Sendable {
        let made = Locked(0)
        private let byAccount = Locked<[Int: RecordingTokenStore]>([:])

        func store(of account: Int) -> RecordingTokenStore {
            byAccount.withLock { stores in
                if let store = stores[account] { return store }
                let store = RecordingTokenStore(holding: .fixture("user\(account)"))
                stores[account] = store
                return store
            }
        }

        func registry(limit: Int, handler: ScriptedRefreshHandler = ScriptedRefreshHandler()) -> SessionRegistry<Int> {
            SessionRegistry(limit: limit) { [self] account in
                made.withLock { $0 += 1 }
                return TokenRefreshCoordinator(over: store(of: account), handler)
            }
        }
    }

    @Test func `Concurrent look-ups of an account return one engine`() async {
        let stores = Stores()
        let registry = stores.registry(limit: 10)
        let sessions = await withTaskGroup(of: ObjectIdentifier.self) { group in
            for _ in 0..<1_000 { group.addTask { ObjectIdentifier(registry[7]) } }
            return await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(sessions.count == 1)
        #expect(stores.made.withLock { $0 } == 1)
    }

    @Test func `G26: a registry without a limit has one that is never reached`() {
        let registry = Stores().registry(limit: .max)
        #expect((0..<4).map { ObjectIdentifier(registry[$0]) }.count == 4 && registry.count <= 4)
    }

    @Test func `G23: two names that differ in their bytes only have two engines`() {
        let registry = SessionRegistry<String> { _ in
            TokenRefreshCoordinator(over: RecordingTokenStore(), ScriptedRefreshHandler())
        }
        let (composed, decomposed) = (registry["\u{e9}va"], registry["e\u{301}va"])
        #expect(composed !== decomposed)
        #expect(registry["\u{e9}va"] === composed && registry["e\u{301}va"] === decomposed)
    }

    @Test func `Engines beyond the limit are released, least recently used first, and their sessions are read again`()
        async throws
    {
        let stores = Stores()
        let registry = stores.registry(limit: 100)
        for account in 0..<1_000 { #expect(try await registry[account].token().name == "user\(account) g0") }
        #expect(registry.count <= 125)
        #expect(registry.knownCount <= 400, "what has ended is forgotten")
        let made = stores.made.withLock { $0 }
        #expect(try await registry[999].token().name == "user999 g0")
        #expect(stores.made.withLock { $0 } == made, "a recent one is there")
        #expect(try await registry[0].token().name == "user0 g0")
        #expect(stores.made.withLock { $0 } == made + 1)
    }

    @Test func `Accounts that were released are forgotten, however few are kept`() {
        let stores = Stores()
        let registry = stores.registry(limit: 10)
        for account in 0..<1_000 {
            _ = registry[account]
            registry.release(account)
        }
        #expect(registry.knownCount <= 25)
    }

    @Test func `Engines that were released do not count towards the limit`() {
        let stores = Stores()
        let registry = stores.registry(limit: 4)
        for account in 0..<4 {
            _ = registry[account]
            registry.release(account)
        }
        for account in [4, 5, 6, 7, 8, 4, 5, 6, 7, 8] { _ = registry[account] }
        #expect(stores.made.withLock { $0 } == 9)
    }

    @Test func `An engine that a caller holds, or that refreshes, stays the account's engine after its release`()
        async throws
    {
        let (stores, gate) = (Stores(), Gate())
        let handler = ScriptedRefreshHandler(.rotateThenHold(at: gate))
        let registry = stores.registry(limit: 1, handler: handler)
        let request = Task { try await registry[0].replacement(for: registry[0].token()) }
        try await gate.arrivals(atLeast: 1)
        for account in 1...50 { _ = try await registry[account].token() }
        registry.release(0)
        let other = Task {
            try await registry[0].replacement(
                for: .init(value: "access-user0-0", session: .init(rawValue: "user0"), generation: 0))
        }
        try await until { registry[0].core.withLock { $0.waiters.count } == 2 }
        gate.open()
        #expect(try await request.value.name == "user0 g1")
        #expect(try await other.value.name == "user0 g1")
        #expect(handler.calls.count == 1)
        #expect(await registry.settle())
    }

    @Test func `An evicted engine that a caller held stays the account's while its tokens are not stored`()
        async throws
    {
        let store = FaultyTokenStore(RecordingTokenStore(holding: .fixture("user0")))
        let (others, clock, handler) = (Stores(), ManualTimeSource(), ScriptedRefreshHandler())
        let registry = SessionRegistry<Int>(limit: 1) { account in
            let own: any TokenStore = account == 0 ? OwnTokenStore(base: store) : others.store(of: account)
            return TokenRefreshCoordinator(over: own, handler, clock: clock)
        }
        do {
            let held = registry[0]
            _ = try await held.token()
            for account in 1...50 { _ = try await registry[account].token() }
            store.fail(.save)
            try await held.refresh()
        }
        #expect(await !registry.settle(within: .zero))
        #expect(store.base.bundle?.generation == 0)
        for account in 1...50 { _ = try await registry[account].token() }
        registry.release(0)
        try await until { registry.count <= 3 }
        let settled = Task { await registry.settle(within: .seconds(600)) }
        #expect(try await registry[0].token().name == "user0 g1")
        #expect(handler.calls.count == 1 && handler.server.reuses == 0)
        store.recover(.save)
        clock.advance(by: .seconds(60))
        #expect(await settled.value)
        #expect(store.base.bundle?.generation == 1)
    }

    @Test func `A later engine for a store waits until an earlier one has stored its tokens`() async throws {
        let store = FaultyTokenStore(RecordingTokenStore(holding: .fixture()))
        let own = OwnTokenStore(base: store)
        let (clock, handler) = (ManualTimeSource(), ScriptedRefreshHandler())
        let later = TokenRefreshCoordinator(over: own, handler, clock: clock)
        store.fail(.save)
        do {
            let earlier = TokenRefreshCoordinator(over: own, handler, clock: clock)
            try await earlier.refresh()
        }
        let loads = store.calls(.load)
        let failing = Task { await code { _ = try await later.token() } }
        // The wait for the earlier engine ends before the deadline of the read.
        try await clock.advance(toTimerIn: .seconds(5))
        #expect(await failing.value == "storeUnavailable")
        #expect(store.calls(.load) == loads && later.status.storeFailure?.code == .busy)

        store.recover(.save)
        let waiting = Task { try await later.token() }
        try await clock.advance(by: .seconds(1), until: { store.base.bundle?.generation == 1 })
        #expect(try await waiting.value.name == "ada1 g1")
        #expect(handler.calls.count == 1 && handler.server.reuses == 0)
    }

    @Test func `G20: one session that cannot settle, even an evicted one, is enough`() async throws {
        let (stores, results) = (Stores(), Locked<[Bool]>([]))
        let shared = Locked<SessionRegistry<Int>?>(nil)
        // It waits for all sessions, its own among them.
        let handler = ScriptedRefreshHandler(
            .custom { _, _ in
                guard let registry = shared.withLock({ $0 }) else { throw TokenRefreshError(.unavailable) }
                _ = try await registry[1].token()
                let isSettled = await registry.settle()
                results.withLock { $0.append(isSettled) }
                return .fixture(ordinal: 1)
            })
        let registry = stores.registry(limit: 1, handler: handler)
        shared.withLock { $0 = registry }
        try await registry[0].refresh()
        #expect(results.withLock { $0 } == [false])
        shared.withLock { $0 = nil }
    }

    @Test func `G6: an evicted engine's pause holds for the account, and not longer`() async throws {
        let clock = ManualTimeSource()
        let overload = TokenRefreshError(.unavailable, retryAfter: .seconds(300), status: 503)
        let handler = ScriptedRefreshHandler(otherwise: .failure(overload))
        let registry = SessionRegistry<Int>(limit: 10) { account in
            let store = RecordingTokenStore(holding: .fixture("user\(account)"))
            return TokenRefreshCoordinator(over: OwnTokenStore(base: store), handler, clock: clock)
        }
        for _ in 1...5 {
            for account in 0..<60 {
                #expect(await code { try await registry[account].refresh() } == "refreshUnavailable")
            }
        }
        #expect(handler.calls.count == 60)
        #expect(registry.count == 60)
        clock.advance(by: .seconds(301))
        try await until { registry.count <= 12 }
        #expect(await code { try await registry[0].refresh() } == "refreshUnavailable")
        #expect(handler.calls.count == 61)
    }
}
