import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import TestSupport
import Testing

@testable import TokenRefresh

/// One engine for each account, and no more than the limit.
@Suite(.timeLimit(.minutes(10))) struct SessionRegistryTests {
    /// The stores of accounts, and the registries of engines over them.
    private final class Accounts: Sendable {
        let handler: ScriptedRefreshHandler
        let clock = ManualTimeSource()
        let made = Locked(0)
        private let kind: Bench.StoreKind
        private let stores = Locked<[Int: (base: FaultyTokenStore<RecordingTokenStore>, view: any TokenStore)]>([:])

        init(_ kind: Bench.StoreKind = .shared, _ handler: ScriptedRefreshHandler = ScriptedRefreshHandler()) {
            (self.kind, self.handler) = (kind, handler)
        }

        func store(of account: Int) -> (base: FaultyTokenStore<RecordingTokenStore>, view: any TokenStore) {
            stores.withLock { stores in
                if let store = stores[account] { return store }
                let base = FaultyTokenStore(RecordingTokenStore(holding: .fixture("user\(account)")))
                let store = (base, kind.view(of: base))
                stores[account] = store
                return store
            }
        }

        func registry(limit: Int) -> SessionRegistry<Int> {
            SessionRegistry(limit: limit) { [self] account in
                made.withLock { $0 += 1 }
                return TokenRefreshCoordinator(over: store(of: account).view, handler, clock: clock)
            }
        }
    }

    @Test func `Concurrent look-ups of an account return one engine`() async {
        let accounts = Accounts()
        let registry = accounts.registry(limit: 10)
        let sessions = await withTaskGroup(of: ObjectIdentifier.self) { group in
            for _ in 0..<1_000 { group.addTask { ObjectIdentifier(registry[7]) } }
            return await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(sessions.count == 1)
        #expect(accounts.made.withLock { $0 } == 1)
    }

    @Test func `G26: a registry without a limit has one that is never reached`() {
        let registry = Accounts().registry(limit: .max)
        #expect((0..<4).map { ObjectIdentifier(registry[$0]) }.count == 4 && registry.count <= 4)
    }

    @Test func `G23: two names that differ in their bytes only have two engines`() {
        let registry = SessionRegistry<String> { _ in
            TokenRefreshCoordinator(over: RecordingTokenStore(), ScriptedRefreshHandler())
        }
        let (composed, decomposed) = (registry["\u{e9}va"], registry["e\u{301}va"])
        #expect(composed !== decomposed)
        #expect(registry["\u{e9}va"] === composed && registry["e\u{301}va"] === decomposed)
        struct Account: RawRepresentable, Hashable { let rawValue: String }
        let typed = SessionRegistry<Account> { _ in composed }
        let engines = ["\u{e9}va", "e\u{301}va"].map { name in
            typed.count + (typed[Account(rawValue: name)] === composed ? 0 : 9)
        }
        #expect(engines == [0, 1] && typed.count == 2)
    }

    @Test func `Engines beyond the limit are released, oldest use first, and their sessions read again`() async throws {
        let accounts = Accounts()
        let registry = accounts.registry(limit: 100)
        for account in 0..<1_000 { #expect(try await registry[account].token().name == "user\(account) g0") }
        #expect(registry.count <= 125)
        #expect(registry.knownCount <= 400, "what has ended is forgotten")
        let made = accounts.made.withLock { $0 }
        #expect(try await registry[999].token().name == "user999 g0")
        #expect(accounts.made.withLock { $0 } == made, "a recent one is there")
        #expect(try await registry[0].token().name == "user0 g0")
        #expect(accounts.made.withLock { $0 } == made + 1)
    }

    @Test func `An account that was used again outlives those that were used before`() {
        let accounts = Accounts()
        let registry = accounts.registry(limit: 4)
        for account in [0, 1, 2, 3, 4, 0, 5, 0, 4, 5] { _ = registry[account] }
        #expect(accounts.made.withLock { $0 } == 6)
    }

    @Test func `Accounts that were released are forgotten, however few are kept`() {
        let accounts = Accounts()
        let registry = accounts.registry(limit: 10)
        for account in 0..<1_000 {
            _ = registry[account]
            registry.release(account)
        }
        #expect(registry.knownCount <= 25)
    }

    @Test func `Engines that were released do not count towards the limit`() {
        let accounts = Accounts()
        let registry = accounts.registry(limit: 4)
        for account in 0..<4 {
            _ = registry[account]
            registry.release(account)
        }
        for account in [4, 5, 6, 7, 8, 4, 5, 6, 7, 8] { _ = registry[account] }
        #expect(accounts.made.withLock { $0 } == 9)
    }

    @Test func `A released engine that a caller holds, or that refreshes, stays the account's`() async throws {
        let (accounts, gate) = (Accounts(), Gate())
        accounts.handler.add(.rotateThenHold(at: gate))
        let registry = accounts.registry(limit: 1)
        let request = Task { try await registry[0].replacement(for: registry[0].token()) }
        try await gate.arrivals(atLeast: 1)
        for account in 1...50 { _ = try await registry[account].token() }
        registry.release(0)
        let other = Task {
            try await registry[0].replacement(
                for: .init(value: "access-user0-0", session: .init(rawValue: "user0"), generation: 0))
        }
        try await until { registry[0].core.withLock { $0.callers.waiters.count } == 2 }
        gate.open()
        #expect(try await request.value.name == "user0 g1")
        #expect(try await other.value.name == "user0 g1")
        #expect(accounts.handler.calls.count == 1)
        #expect(await registry.settle())
    }

    @Test func `An evicted engine that a caller held stays the account's until its tokens are stored`() async throws {
        let accounts = Accounts(.own)
        let (registry, store, handler) = (accounts.registry(limit: 1), accounts.store(of: 0).base, accounts.handler)
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
        accounts.clock.advance(by: .seconds(60))
        #expect(await settled.value)
        #expect(store.base.bundle?.generation == 1)
    }

    @Test func `G20: one session that cannot settle, even an evicted one, is enough`() async throws {
        let (accounts, results) = (Accounts(), Locked<[Bool]>([]))
        let registry = accounts.registry(limit: 1)
        // It waits for all sessions, its own among them.
        accounts.handler.add(
            .custom { _, _ in
                _ = try await registry[1].token()
                let isSettled = await registry.settle()
                results.withLock { $0.append(isSettled) }
                return .fixture(ordinal: 1)
            })
        try await registry[0].refresh()
        #expect(results.withLock { $0 } == [false])
    }

    @Test func `G6: an evicted engine's pause holds for the account, and not longer`() async throws {
        let overload = TokenRefreshError(.unavailable, retryAfter: .seconds(300), status: 503)
        let accounts = Accounts(.own, ScriptedRefreshHandler(otherwise: .failure(overload)))
        let (registry, handler) = (accounts.registry(limit: 10), accounts.handler)
        for _ in 1...5 {
            for account in 0..<60 {
                #expect(await code { try await registry[account].refresh() } == "refreshUnavailable")
            }
        }
        #expect(handler.calls.count == 60)
        #expect(registry.count == 60)
        accounts.clock.advance(by: .seconds(301))
        try await until { registry.count <= 12 }
        #expect(await code { try await registry[0].refresh() } == "refreshUnavailable")
        #expect(handler.calls.count == 61)
    }
}
