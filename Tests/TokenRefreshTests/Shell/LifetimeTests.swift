import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import TestSupport
import Testing

@testable import TokenRefresh

/// What happens to a refresh, and to the engine, when the app releases the engine.
@Suite(.timeLimit(.minutes(10))) struct LifetimeTests {
    /// An engine that a test can release, and its doubles.
    private final class Loose: Sendable {
        let clock = ManualTimeSource()
        let handler = ScriptedRefreshHandler()
        let revocation = RecordingRevocation()
        let store: FaultyTokenStore<RecordingTokenStore>
        private let engine: Locked<TokenRefreshCoordinator?>
        private let kept: any TokenStore

        init(_ kind: Bench.StoreKind) {
            let store = FaultyTokenStore(RecordingTokenStore(holding: .fixture(), clock: clock))
            self.store = store
            kept = kind == .shared ? store : OwnTokenStore(base: store)
            engine = Locked(TokenRefreshCoordinator(over: kept, handler, revocation: revocation, clock: clock))
        }

        func with<Value: Sendable>(_ body: (TokenRefreshCoordinator) async throws -> Value) async throws -> Value {
            guard let engine = engine.withLock({ $0 }) else { throw CancellationError() }
            return try await body(engine)
        }

        var place: StorePlace { StorePlace(of: kept) ?? .object(ObjectIdentifier(self)) }

        /// Cancels a request whose token was refused, once its refresh waits at a gate.
        func abandonRequest(waitingAt gate: Gate) async throws {
            let request = try await with { engine in
                let token = try await engine.token()
                return Task { try await engine.replacement(for: token) }
            }
            try await gate.arrivals(atLeast: 1)
            request.cancel()
            #expect(await request.outcome() == "cancelled")
        }

        /// Releases the engine.
        func forget() { engine.withLock { $0 = nil } }

        /// Releases the engine and waits until it is deallocated.
        func letGo(while action: () -> Void = {}) async throws {
            weak let engine = engine.withLock { $0 }
            self.engine.withLock { $0 = nil }
            action()
            try await until { engine == nil }
        }
    }

    @Test(arguments: Bench.StoreKind.allCases, [true, false])
    func `G7, G11: an engine that is released during a refresh, or while it stores the tokens, completes the write`(
        kind: Bench.StoreKind, isStoring: Bool
    ) async throws {
        let loose = Loose(kind)
        let gate = isStoring ? loose.store.hold(.save) : Gate()
        if !isStoring { loose.handler.add(.rotateThenHold(at: gate)) }
        try await loose.abandonRequest(waitingAt: gate)
        #expect(loose.store.base.bundle?.generation == 0)
        try await loose.letGo { gate.open() }
        if !isStoring { try await until { loose.store.base.bundle?.generation == 1 } }
        #expect(loose.store.base.bundle?.generation == 1)
    }

    @Test(arguments: Bench.StoreKind.allCases)
    func `A stream of states keeps its engine, and lets it go when its reader ends`(kind: Bench.StoreKind) async throws
    {
        let loose = Loose(kind)
        let reader = try await loose.with { engine in
            let states = engine.states
            try await engine.restore()
            return Task { for await _ in states {} }
        }
        weak let engine = try await loose.with { $0 }
        loose.forget()
        await settle()
        #expect(engine != nil)
        reader.cancel()
        try await until { engine == nil }
    }

    @Test(arguments: Bench.StoreKind.allCases)
    func `Nothing that the shell holds grows, and an idle engine is deallocated when it is released`(
        kind: Bench.StoreKind
    ) async throws {
        let loose = Loose(kind)
        try await loose.with { engine in
            for request in try await Self.useUp(engine, loose) { _ = await request.outcome() }
            for round in 0..<300 {
                try await engine.signIn(.fixture("user\(round)", expiresIn: .seconds(900)))
                loose.handler.add(.failure(TokenRefreshError(.unavailable, retryAfter: .seconds(1))))
                _ = try? await engine.refresh()
                loose.clock.advance(by: .seconds(60))
                for await _ in engine.states { break }
                if round.isMultiple(of: 3) { try await engine.signOut() }
                #expect(await engine.settle())
            }
            try await until {
                engine.core.withLock { core in
                    core.waiters.isEmpty && core.calls.isEmpty && core.leases.isEmpty && core.revocations.isEmpty
                        && core.subscribers.isEmpty && core.timers.count < 4
                }
            }
        }
        try await loose.letGo()
        #expect(EnginesAtWork.count(at: loose.place) == 0)
    }

    /// Runs everything that starts a task: failures, pauses, retries, timers, revocations.
    private static func useUp(_ engine: TokenRefreshCoordinator, _ loose: Loose) async throws -> [Bench.Request] {
        let first = try await engine.token()
        loose.handler.add(.failure(TokenRefreshError(.unavailable, retryAfter: .seconds(1))))
        _ = try? await engine.replacement(for: first)
        let again = try await engine.token()
        let waiting = Task { try await engine.replacement(for: again) }
        try await until { engine.core.withLock { $0.waiters.count } == 1 }
        waiting.cancel()
        loose.clock.advance(by: .seconds(60))
        loose.store.fail(.save, times: 1)
        let second = try await engine.replacement(for: first)
        let refused = Task { try await engine.replacement(for: second) }
        try await engine.signOut()
        try await engine.signIn(.fixture("bob1", expiresIn: .seconds(900)))
        try await engine.signOut()
        return [waiting, refused]
    }

    @Test func `An unused engine reads nothing and is deallocated when it is released`() async throws {
        let loose = Loose(.shared)
        try await loose.letGo()
        #expect(loose.store.base.events == [])
    }
}
