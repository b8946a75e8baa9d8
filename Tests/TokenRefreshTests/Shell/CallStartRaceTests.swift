import AuthInterface
import AuthTesting
import ContractTesting
import TestSupport
import Testing

@testable import TokenRefresh

/// G28: the right to spend the refresh token is checked when the first byte is written.
@Suite(.timeLimit(.minutes(10))) struct CallStartRaceTests {
    private let gate = Gate()
    private let cancelled = Gate()

    /// A refresh that connects until the gate opens, and then asks whether it may start. Its handler may read the state
    /// of the session as its call is cancelled.
    private func connecting() async throws -> (bench: Bench, waiter: Task<String?, Never>) {
        let bench = try await Bench.signedIn(.shared)
        await bench.engine.settle()
        bench.handler.add(
            .custom { [gate, cancelled] request, server in
                request.startPermit?.adopt()
                await withTaskCancellationHandler {
                    await gate.pass()
                } onCancel: {
                    _ = bench.engine.state
                    cancelled.open()
                }
                guard request.startPermit?.start() ?? true else {
                    throw TokenRefreshError(.unavailable, reason: "not started")
                }
                return try server.refresh(request)
            })
        let waiter = Task { await code { try await bench.engine.refresh() } }
        try await gate.arrivals(atLeast: 1)
        return (bench, waiter)
    }

    @Test func `A process that was stopped before the first byte does not call, and its intent goes`() async throws {
        let (bench, waiter) = try await connecting()
        #expect(bench.store.base.bundle?.refreshIntent != nil)
        // No timer fires while it is stopped.
        bench.clock.advance(by: .seconds(31))
        gate.open()
        #expect(await waiter.value == "refreshUnavailable")
        try await until { bench.store.base.bundle?.refreshIntent == nil && !bench.engine.status.isRefreshing }
        #expect(bench.server.rotations == 0)
        bench.clock.advance(by: .seconds(60))
        try await bench.engine.refresh()
        #expect(bench.handler.mostAtOnce == 1 && bench.server.reuses == 0)
        #expect(Set(bench.handler.calls.map(\.idempotencyKey)).count == 1)
    }

    @Test func `A suspension withdraws a call that connects, and releases the lease at once`() async throws {
        let (bench, waiter) = try await connecting()
        bench.activity.expire()
        try await cancelled.passUnlessCancelled()
        #expect(await waiter.value == "refreshUnavailable")
        try await until { bench.activity.running == 0 }
        #expect(bench.store.base.bundle?.refreshIntent == nil)
        let other = try await bench.store.lease(waitingAtMost: .seconds(30))
        await other.release()
        gate.open()
        try await until { bench.handler.calls.count == 1 }
        #expect(bench.server.rotations == 0)
    }

    @Test func `A sign-out withdraws a call that connects`() async throws {
        let (bench, waiter) = try await connecting()
        try await bench.engine.signOut()
        _ = await waiter.value
        gate.open()
        #expect(await bench.engine.settle())
        #expect(bench.server.rotations == 0)
    }
}

/// G28: the right to start a call, as a handler and an engine use it.
@Suite struct StartPermitTests {
    private let clock = ManualTimeSource()

    private var permit: StartPermit { StartPermit(until: clock.uptime + .seconds(30), on: clock) }

    @Test func `a call is under way once its right was used or handed over, and before that it was not made`() {
        #expect(permit.withdraw() == .notMade)
        let adopted = permit
        #expect(adopted.handOver())
        adopted.adopt()
        #expect(adopted.withdraw() == .notMade)
        #expect(!adopted.start() && !adopted.handOver(), "for good")
        let started = permit
        started.adopt()
        #expect(started.start() && started.start(), "the head, and then the body")
        #expect(started.withdraw() == .made && !started.start())
        let handedOver = permit
        handedOver.adopt()
        #expect(handedOver.handOver() && handedOver.withdraw() == .made)
    }

    @Test func `a right that has ended starts nothing`() {
        let (permit, unused) = (permit, permit)
        permit.adopt()
        clock.advance(by: .milliseconds(29_999))
        #expect(permit.timeLeft == .milliseconds(1) && permit.start())
        clock.advance(by: .milliseconds(1))
        #expect(!permit.start() && !permit.handOver() && !permit.startOver())
        #expect(unused.timeLeft == .zero && unused.withdraw() == .notMade)
    }

    @Test func `G34: a call that has spent nothing starts over, and until then none was made`() {
        let over = permit
        #expect(over.handOver() && over.start(isUnsent: { true }) && over.startOver())
        #expect(over.withdraw() == .notMade)
        #expect(!over.startOver())
        let late = permit
        #expect(late.handOver() && late.start())
        clock.advance(by: .seconds(30))
        #expect(!late.startOver() && late.withdraw() == .made, "the first call stays the last one")
    }

    @Test func `a call that a library has not sent yet is one that can be cancelled`() {
        for isUnsent in [true, false] {
            let permit = permit
            permit.adopt()
            let mayStart = permit.start(isUnsent: { isUnsent })
            #expect(mayStart)
            #expect(permit.withdraw() == (isUnsent ? .unsent : .made))
            #expect(permit.withdraw() == .made, "once")
        }
    }
}
