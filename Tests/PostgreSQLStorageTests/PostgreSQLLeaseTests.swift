#if PostgreSQL
import AuthInterface
import ContractTesting
import ConcurrencyPrimitives
import TestSupport
import Testing

@testable import PostgreSQLStorage

/// The lease is a claim in the row, which does not depend on a connection.
@Suite(
    "G13: the lease of a fleet has one holder, and survives its connections", .needsPostgreSQL,
    .timeLimit(.minutes(10)))
struct PostgreSQLLeaseTests {
    private let other = ProcessIdentity.other
    private let server: PostgreSQLServer

    init() async throws { server = try await .shared }

    @Test func `a lease holds no connection, and neither does a waiter`() async throws {
        let first = server.named(limits: .patient.with { $0.connections = 1 })
        let stores = (0..<20).map { first.store(for: "\(first.account)/\($0)") }
        var leases: [any TokenStoreLease] = []
        for store in stores { leases.append(try await store.lease(waitingAtMost: .zero)) }
        let waiters = stores.map { store in
            Task { await (try await store.owned(by: other).lease(waitingAtMost: .seconds(3_600))).release() }
        }
        for store in stores { try await store.save(.fleet(1)) }
        let connections = try await server.run(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1", [.text(first.account)])
        #expect((connections.integer(0) ?? 9) <= 2, "one connection serves 20 leases and 20 waiters; one listens")
        for lease in leases { await lease.release() }
        for waiter in waiters { try await waiter.value }
    }

    @Test func `the next holder of a lapsed claim knows that its owner may still be waiting`() async throws {
        let limits = PostgreSQLLimits.patient.with { $0.claim = .milliseconds(300) }
        // The holder's clock stands still: it renews nothing.
        let mine = server.store(limits: limits, clock: ManualTimeSource()).owned(by: other)
        let theirs = server.store(mine.account)
        let late = try #require(try await mine.lease(waitingAtMost: .zero) as? PostgreSQLTokenStoreLease)
        #expect(!late.mayStillCall(.fleet(under: late)))

        let next = try #require(try await theirs.lease(waitingAtMost: .seconds(3_600)) as? PostgreSQLTokenStoreLease)
        #expect(next.fence > late.fence)
        #expect(next.mayStillCall(.fleet(under: late)))
        #expect(!next.mayStillCall(.fleet(under: next)))
        await next.release()
        // The first owner may still be waiting: the release of another claim proves nothing about it.
        let third = try await theirs.lease(waitingAtMost: .zero)
        #expect(third.mayStillCall(.fleet(under: late)))
        #expect(!third.mayStillCall(.fleet(under: next)))

        await late.release()
        await expectFailure(.busy) { _ = try await mine.lease(waitingAtMost: .zero) }
        await third.release()
        let fourth = try await theirs.lease(waitingAtMost: .zero)
        #expect(!fourth.mayStillCall(.fleet(under: late)), "its late release says that its call has ended")
        await fourth.release()
    }

    @Test func `a lease is lost when its claim has lapsed, until it is renewed`() async throws {
        let limits = PostgreSQLLimits.patient.with { ($0.claim, $0.heartbeat) = (.seconds(20), .seconds(60)) }
        let clock = ManualTimeSource()
        let lease = try await server.store(limits: limits, clock: clock).lease(waitingAtMost: .zero)
        clock.advance(by: limits.claim - .milliseconds(1))
        #expect(!lease.isLost)
        clock.advance(by: .milliseconds(1))
        #expect(lease.isLost)
        try await clock.advance(by: limits.heartbeat, whenAsleep: 1)
        try await until { !lease.isLost }
        await lease.release()
    }

    @Test func `a holder finds at its next renewal that its lease was taken`() async throws {
        let limits = PostgreSQLLimits.patient.with {
            ($0.claim, $0.heartbeat) = (.milliseconds(300), .milliseconds(100))
        }
        let clock = ManualTimeSource()
        let mine = server.store(limits: limits, clock: clock).owned(by: other)
        let lease = try await mine.lease(waitingAtMost: .zero)
        let next = try await server.store(mine.account).lease(waitingAtMost: .seconds(3_600))
        #expect(!lease.isLost)
        try await clock.advance(by: limits.heartbeat, whenAsleep: 1)
        try await until { lease.isLost }
        await lease.release()
        await next.release()
    }

    @Test func `a lapsed claim is renewed if its owner returns before another process takes it`() async throws {
        let limits = PostgreSQLLimits.patient.with { $0.claim = .milliseconds(200) }
        let clock = ManualTimeSource()
        let mine = server.store(limits: limits, clock: clock).owned(by: other)
        let lease = try await mine.lease(waitingAtMost: .zero)
        let hasLapsed = "SELECT claim_expires < clock_timestamp() FROM latchkey_tokens WHERE account = $1"
        try await server.wait(until: hasLapsed, [.text(mine.account)])
        // From now on the claim does not lapse.
        try await server.set("claim_heartbeat = claim_heartbeat - interval '1 hour'", of: mine.account)
        let before = try await server.heartbeat(of: mine.account)
        try await clock.advance(by: limits.heartbeat, whenAsleep: 1)
        try await until { try await server.heartbeat(of: mine.account) != before }
        try await until { !lease.isLost }
        await lease.release()
        let next = try await server.store(mine.account).lease(waitingAtMost: .zero)
        #expect(!next.mayStillCall(.fleet(under: lease)), "it was released, however late it was renewed")
        await next.release()
    }

    @Test func `a lease that is deallocated is released`() async throws {
        let store = server.store()
        _ = try await store.lease(waitingAtMost: .zero)
        await (try await store.lease(waitingAtMost: .seconds(3_600))).release()
    }

    @Test func `the wait for a lease uses the injected clock, and its error names the holder`() async throws {
        let holder = server.store().owned(by: other)
        let lease = try await holder.lease(waitingAtMost: .zero)
        let clock = ManualTimeSource()
        let waiting = server.store(holder.account, clock: clock)
        let waiter = Task {
            await #expect(throws: TokenStoreError.self) { try await waiting.lease(waitingAtMost: .milliseconds(5)) }
        }
        try await clock.advance(by: .milliseconds(5), whenAsleep: 1)
        let error = await waiter.value
        #expect(error?.code == .busy)
        #expect(error?.reason.contains("another process's lease") == true)
        #expect(error?.reason.contains("process 4711-other of host other-host since 20") == true)
        await lease.release()
    }

    @Test func `a waiter is told of each holder`() async throws {
        let holder = server.store().owned(by: other)
        let lease = try await holder.lease(waitingAtMost: .zero)
        let holders = Recorder<ProcessIdentity>()
        let waiter = Task {
            try await server.store(holder.account)
                .lease(waitingAtMost: .seconds(3_600)) { holders.record($0.process) }
        }
        try await until { holders.values == [other] }
        try await server.set("claim_owner = 'third-host/4712/1', last_writer = txid_current()", of: holder.account)
        try await until { holders.values == [other, ProcessIdentity(host: "third-host", process: "4712")] }
        await expectCancellation(of: waiter)
        await lease.release()
    }

    @Test func `a waiter that is cancelled does not take a claim that is free`() async throws {
        let store = try await server.store().holding(.fleet(1))
        let waiter = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await store.lease(waitingAtMost: .seconds(3_600))
        }
        await #expect(throws: CancellationError.self) { try await waiter.value }
        await (try await store.owned(by: other).lease(waitingAtMost: .zero)).release()
    }

    @Test(arguments: [false, true])
    func `a waiter is notified of a release, also of one while nothing was listening`(isCut: Bool) async throws {
        // Neither the claim's lapse nor a pause of the waiter comes first.
        let limits = PostgreSQLLimits.patient.with {
            ($0.claim, $0.leasePolling) = (.seconds(1_000_000), .every(.seconds(1_000_000)))
        }
        let holder = server.store(limits: limits).owned(by: other)
        let lease = try await holder.lease(waitingAtMost: .zero)
        let resting = Gate(isOpen: !isCut)
        let clock = CountingClock(resting: resting)
        let theirs = server.named(holder.account, limits: limits, clock: clock)
        let changes = theirs.changes
        try await until { theirs.session.database.changes.isListening }
        let waiter = Task { try await theirs.lease(waitingAtMost: limits.claim * 2) }
        try await until { clock.pauses >= 1 }
        if isCut {
            try await server.cutConnections(of: theirs.account, running: "LISTEN%")
            // It listens again after a pause, which does not end before the release.
            try await until { !theirs.session.database.changes.isListening }
        }
        await lease.release()
        resting.open()
        await (try await waiter.value).release()
        _ = changes
    }

    @Test func `without notifications a waiter tries again after pauses`() async throws {
        let pause = Duration.milliseconds(20)
        let limits = PostgreSQLLimits.patient.with { $0.leasePolling = .every(pause) }
        var options = PostgreSQLOptions()
        options.directConnection = "host=/nowhere"
        let clock = CountingClock()
        let holder = server.store().owned(by: other)
        let lease = try await holder.lease(waitingAtMost: .zero)
        let waiter = server.store(holder.account, options: options, limits: limits, clock: clock)
        let start = clock.uptime
        let waiting = Task { try await waiter.lease(waitingAtMost: .seconds(3_600)) }
        try await until { clock.pauses >= 10 }
        let (pauses, elapsed) = (clock.pauses, clock.uptime - start)
        await lease.release()
        await (try await waiting.value).release()
        // The feed and the limits sleep a few times more.
        #expect(Double(pauses) <= elapsed / pause + 6)
    }
}

extension Backoff {
    fileprivate static func every(_ pause: Duration) -> Backoff { Backoff(base: pause, limit: pause, floor: pause) }
}

extension PostgreSQLServer {
    /// Closes the current connections of a program, or those with a last statement, and waits until they are closed.
    func cutConnections(of application: String, running statement: String = "%") async throws {
        try await run(
            """
            SELECT pg_terminate_backend(pid, 600000)::text FROM pg_stat_activity
            WHERE application_name = $1 AND query LIKE $2
            """,
            [.text(application), .text(statement)]
        )
    }

    /// When the claim of an account was last renewed; `nil` when there is none.
    fileprivate func heartbeat(of account: String) async throws -> String? {
        try await run("SELECT claim_heartbeat::text FROM latchkey_tokens WHERE account = $1", [.text(account)]).text(0)
    }
}
#endif
