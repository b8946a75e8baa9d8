import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import TestSupport
import Testing

@testable import TokenRefresh

/// G7: a refresh belongs to no request.
@Suite(.timeLimit(.minutes(10))) struct CancellationRaceTests {
    @Test func `G7: a request of a cancelled task throws, and the refresh that it started is kept`() async throws {
        let (bench, token) = try await Bench.withToken()
        let start = Gate()
        let request = Task { [engine = bench.engine] in
            await start.pass()
            return try await engine.replacement(for: token)
        }
        request.cancel()
        start.open()
        #expect(await request.outcome() == "cancelled")
        await bench.events.first("refreshed")
        #expect(bench.store.base.bundle?.generation == 1)
    }

    @Test func `G7: requests that are cancelled as the response arrives each return once`() async throws {
        let bench = try await Bench.signedIn()
        for round in 1...20 {
            let token = try await bench.engine.token()
            let (gate, requests) = try await bench.startRefresh(of: token, requests: 200)
            let canceller = Task { for request in requests { request.cancel() } }
            gate.open()
            let outcomes = Set(await requests.outcomes())
            await canceller.value
            #expect(outcomes.isSubset(of: ["cancelled", "ada1 g\(round)"]))
            // The engine has the new tokens later than the store.
            #expect(await bench.engine.settle())
            #expect(bench.store.base.bundle?.generation == round)
            bench.clock.advance(by: .seconds(60))
        }
        #expect(bench.engine.core.withLock { $0.waiters.isEmpty })
        #expect(bench.server.reuses == 0)
    }

    @Test func `G7: a cancelled restore returns at once, and the late result of the store is used`() async throws {
        let bench = Bench(holding: .fixture())
        let gate = bench.store.hold(.load)
        let restore = Task { [engine = bench.engine] in try await engine.restore() }
        await gate.arrivals(atLeast: 1)
        await expectCancellation(of: restore)
        #expect(bench.engine.state == .unknown)
        gate.open()
        #expect(try await bench.engine.restore() == .signedIn(TokenBundle.fixture().session))
        #expect(bench.store.calls(.load) == 1)
    }

    @Test func `G7: a cancelled sign-in or sign-out returns at once and is completed`() async throws {
        let bench = Bench()
        let gate = bench.store.hold(.save)
        bench.store.hold(.delete, at: gate)
        let tokens = bench.server.signIn()
        let login = Task { [engine = bench.engine] in try await engine.signIn(tokens) }
        await gate.arrivals(atLeast: 1)
        await expectCancellation(of: login)
        let requests = bench.ask()
        gate.open()
        #expect(await requests.outcomes() == ["ada1 g0"])
        let held = bench.store.hold(.delete)
        let logout = Task { [engine = bench.engine] in try await engine.signOut() }
        await held.arrivals(atLeast: 1)
        await expectCancellation(of: logout)
        #expect(bench.engine.state == .signedOut(.byUser))
        held.open()
        try await until { bench.store.base.bundle == nil }
    }

    @Test func `G7: a cancelled sign-out does not wait for a revocation that hangs`() async throws {
        let bench = try await Bench.signedIn()
        let gate = bench.revocation.hold()
        let logout = Task { [engine = bench.engine] in try await engine.signOut() }
        await bench.revocation.calls(atLeast: 1)
        try await until { bench.store.base.bundle == nil }
        await expectCancellation(of: logout)
        #expect(bench.engine.state == .signedOut(.byUser))
        gate.open()
    }
}
