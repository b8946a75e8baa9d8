import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import TestSupport
import Testing

@testable import TokenRefresh

/// What happens to a refresh, and to the engine, when the app releases the engine.
@Suite(.timeLimit(.minutes(10))) struct LifetimeTests {
    @Test(arguments: Bench.StoreKind.allCases, [true, false])
    func `G7, G11: an engine that is released during a refresh, or while it stores the tokens, completes the write`(
        kind: Bench.StoreKind, isStoring: Bool
    ) async throws {
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
    func `A stream of states keeps its engine, and lets it go when its reader ends`(kind: Bench.StoreKind) async throws
    {
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
    func `Nothing that the shell holds grows, and an idle engine is deallocated when it is released`(
        kind: Bench.StoreKind
    ) async throws {
        let bench = Bench(kind, holding: .fixture())
        for request in try await useUp(bench) { _ = await request.outcome() }
        for round in 0..<300 {
            try await bench.engine.signIn(.fixture("user\(round)", expiresIn: .seconds(900)))
            bench.handler.add(.failure(TokenRefreshError(.unavailable, retryAfter: .seconds(1))))
            _ = try? await bench.engine.refresh()
            bench.clock.advance(by: .seconds(60))
            for await _ in bench.engine.states { break }
            if round.isMultiple(of: 3) { try await bench.engine.signOut() }
            #expect(await bench.engine.settle())
        }
        try await until {
            bench.engine.core.withLock { core in
                core.waiters.isEmpty && core.calls.isEmpty && core.leases.isEmpty && core.revocations.isEmpty
                    && core.subscribers.isEmpty && core.timers.count < 4
            }
        }
        let place = bench.engine.place
        try await bench.releaseEngine()
        #expect(EnginesAtWork.count(at: place) == 0)
    }

    /// Runs everything that starts a task: failures, pauses, retries, timers, revocations.
    private func useUp(_ bench: Bench) async throws -> [Bench.Request] {
        let first = try await bench.engine.token()
        bench.handler.add(.failure(TokenRefreshError(.unavailable, retryAfter: .seconds(1))))
        _ = try? await bench.engine.replacement(for: first)
        let waiting = bench.refuse(try await bench.engine.token())
        try await bench.waiters(atLeast: 1)
        waiting[0].cancel()
        bench.clock.advance(by: .seconds(60))
        bench.store.fail(.save, times: 1)
        let refused = bench.refuse(try await bench.engine.replacement(for: first))
        try await bench.engine.signOut()
        try await bench.engine.signIn(.fixture("bob1", expiresIn: .seconds(900)))
        try await bench.engine.signOut()
        return waiting + refused
    }

    @Test func `An unused engine reads nothing and is deallocated when it is released`() async throws {
        let bench = Bench(.shared, holding: .fixture())
        try await bench.releaseEngine()
        #expect(bench.store.base.events == [])
    }
}
