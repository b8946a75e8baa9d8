import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import TestSupport
import Testing

@testable import TokenRefresh

/// G8: a part that hangs delays the app up to its limit only.
@Suite(.timeLimit(.minutes(10))) struct DeadlineRaceTests {
    @Test func `G8: a handler that calls the engine from its cancellation does not deadlock`() async throws {
        let gate = Gate()
        let handler = InquisitiveHandler(gate: gate)
        let clock = ManualTimeSource()
        var policy = TokenRefreshPolicy()
        // A clock that jumps is that of a process that slept.
        policy.wakeGrace = .zero
        let engine = TokenRefreshCoordinator(
            over: RecordingTokenStore(holding: .fixture(), clock: clock), handler, policy: policy, clock: clock)
        handler.engine.withLock { $0 = engine }
        let token = try await engine.token()
        let first = Task { try await engine.replacement(for: token) }
        await gate.arrivals(atLeast: 1)
        clock.advance(by: .seconds(30))
        #expect(await first.outcome() == "refreshUnavailable")
        // At its last limit the call is cancelled. There was no second one meanwhile.
        clock.advance(by: .seconds(90))
        try await until { handler.responses.withLock { $0 } == [.signedIn(token.session)] }
        gate.open()
        try await until { !engine.status.isRefreshing }
        clock.advance(by: .seconds(60))
        #expect(await Task { try await engine.replacement(for: token) }.outcome() == "ada1 g1")
        #expect(gate.arrivals == 2)
        handler.engine.withLock { $0 = nil }
    }

    @Test func `G8: a hung revocation delays a sign-out until the deadline at most, and its state not at all`()
        async throws
    {
        let bench = try await Bench.signedIn()
        let gate = bench.revocation.hold()
        let logout = Task { [engine = bench.engine] in try await engine.signOut() }
        await bench.revocation.calls(atLeast: 1)
        #expect(bench.engine.state == .signedOut(.byUser))
        try await until { bench.store.base.bundle == nil }
        bench.clock.advance(by: .seconds(30))
        try await logout.value
        #expect(bench.events.count("revocationFailed") == 1)
        #expect(try await bench.signIn("bob").name == "bob1 g0")
        gate.open()
    }

    @Test func `G9: a revocation that fails is an event, and the sign-out holds`() async throws {
        let bench = try await Bench.signedIn()
        bench.revocation.fail(with: TokenRefreshError.unavailable)
        try await bench.engine.signOut()
        #expect(bench.events.count("revocationFailed") == 1)
        #expect(bench.engine.state == .signedOut(.byUser))
        #expect(bench.store.base.bundle == nil)
    }
}

/// Reads the engine's state when its call is cancelled, as a handler that logs does.
private final class InquisitiveHandler: TokenRefreshHandler {
    let engine = Locked<TokenRefreshCoordinator?>(nil)
    let responses = Locked<[SessionState]>([])
    private let gate: Gate

    init(gate: Gate) {
        self.gate = gate
    }

    func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        await withTaskCancellationHandler {
            await gate.pass()
        } onCancel: {
            guard let state = engine.withLock({ $0 })?.state else { return }
            responses.withLock { $0.append(state) }
        }
        try Task.checkCancellation()
        return .fixture(ordinal: 1)
    }
}
