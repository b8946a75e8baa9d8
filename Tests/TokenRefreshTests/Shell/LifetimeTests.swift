import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import Testing

@testable import TokenRefresh

/// What becomes of a refresh, and of the engine, when the app lets go.
@Suite(.timeLimit(.minutes(10))) struct LifetimeTests {
    /// An engine that a test can let go of, and its world.
    private final class Loose: Sendable {
        let clock = ManualTimeSource()
        let handler = ScriptedRefreshHandler()
        let revocation = RecordingRevocation()
        let store: FaultyTokenStore<RecordingTokenStore>
        private let engine: Locked<TokenRefreshCoordinator?>

        init(_ kind: Bench.StoreKind) {
            let store = FaultyTokenStore(RecordingTokenStore(holding: .fixture(), clock: clock))
            self.store = store
            engine = Locked(
                TokenRefreshCoordinator(
                    store: kind == .shared ? store : OwnTokenStore(base: store),
                    handler: handler,
                    revocation: revocation,
                    clock: clock
                )
            )
        }

        func with<Value: Sendable>(_ body: (TokenRefreshCoordinator) async throws -> Value) async throws -> Value {
            guard let engine = engine.withLock({ $0 }) else { throw CancellationError() }
            return try await body(engine)
        }

        /// Lets go of the engine and waits until it is gone.
        func letGo(while action: () -> Void = {}) async {
            weak let engine = engine.withLock { $0 }
            self.engine.withLock { $0 = nil }
            action()
            await until { engine == nil }
        }
    }

    @Test(
        "G7: an engine that is let go of while a refresh is under way still stores what it brings",
        arguments: Bench.StoreKind.allCases
    )
    func whileRefreshing(kind: Bench.StoreKind) async throws {
        let loose = Loose(kind)
        let gate = Gate()
        loose.handler.enqueue(.rotateThenHold(at: gate))
        let request = try await loose.with { engine in
            let token = try await engine.token()
            return Task { try await engine.replacement(for: token) }
        }
        await gate.arrivals(atLeast: 1)
        request.cancel()
        #expect(await request.outcome() == "cancelled")
        await loose.letGo { gate.open() }
        await until { loose.store.base.bundle?.generation == 1 }
    }

    @Test(
        "G11: an engine that is let go of while it stores new tokens still stores them",
        arguments: Bench.StoreKind.allCases
    )
    func whileStoring(kind: Bench.StoreKind) async throws {
        let loose = Loose(kind)
        let gate = Gate()
        loose.store.hold(.save, at: gate)
        let request = try await loose.with { engine in
            let token = try await engine.token()
            return Task { try await engine.replacement(for: token) }
        }
        await gate.arrivals(atLeast: 1)
        request.cancel()
        #expect(await request.outcome() == "cancelled")
        await loose.letGo()
        #expect(loose.store.base.bundle?.generation == 0)
        gate.open()
        await until { loose.store.base.bundle?.generation == 1 }
    }

    @Test("an engine that has done all it can do is gone when it is let go of", arguments: Bench.StoreKind.allCases)
    func nothingIsLeft(kind: Bench.StoreKind) async throws {
        let loose = Loose(kind)
        let states = try await loose.with { engine in
            let states = engine.states
            let requests = try await Self.useUp(engine, loose)
            for request in requests { _ = await request.outcome() }
            return states
        }
        await loose.letGo()
        var last: SessionState?
        for await state in states { last = state }
        #expect(last == .signedOut(.byUser), "and its streams have ended")
    }

    /// Goes through whatever starts a task: failures, pauses, retries, alarms, revocations.
    private static func useUp(_ engine: TokenRefreshCoordinator, _ loose: Loose) async throws -> [Bench.Request] {
        let first = try await engine.token()
        loose.handler.enqueue(.failure(TokenRefreshError(.unavailable, retryAfter: .seconds(1))))
        _ = try? await engine.replacement(for: first)
        let again = try await engine.token()
        let waiting = Task { try await engine.replacement(for: again) }
        await until { engine.core.withLock { $0.waiters.count } == 1 }
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

    @Test("an engine that nobody asked anything reads nothing and is gone when it is let go of")
    func unused() async {
        let loose = Loose(.shared)
        await loose.letGo()
        #expect(loose.store.base.events == [])
    }
}
