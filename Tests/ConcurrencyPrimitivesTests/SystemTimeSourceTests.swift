import ConcurrencyPrimitives
import ContractTesting
import Foundation
import Testing

@Suite struct SystemTimeSourceTests {
    @Test func `the system's clocks move forward, and a sleep until the past returns at once`() async throws {
        let clock = SystemTimeSource()
        let (before, asleep) = (clock.uptime, clock.asleep)
        #expect(asleep >= .zero && asleep <= before)
        try await clock.sleep(until: before - .seconds(10))
        #expect(clock.uptime >= before)
        #expect(abs(clock.date.timeIntervalSinceNow) < 60)
        #expect(clock.asleep - asleep < .seconds(60), "a process that waits, or is slow, is not asleep")
    }

    @Test func `an instant has come when a sleep until it ends`() async throws {
        let clock = SystemTimeSource()
        for _ in 0..<100 {
            let deadline = clock.uptime + .microseconds(100)
            try await clock.sleep(until: deadline)
            #expect(clock.uptime >= deadline)
        }
    }

    @Test func `the time since an instant is that of the system's clock`() async throws {
        let clock = SystemTimeSource()
        let (before, uptime, after) = (ContinuousClock.now, clock.uptime, ContinuousClock.now)
        try await clock.sleep(until: uptime + .milliseconds(5))
        let (laterBefore, later, laterAfter) = (ContinuousClock.now, clock.uptime, ContinuousClock.now)
        #expect(later - uptime >= laterBefore - after)
        #expect(later - uptime <= laterAfter - before)
    }
}

@Suite(.timeLimit(.minutes(10))) struct TimeSourceDeadlineTests {
    private let clock = ManualTimeSource()
    private struct Failure: Error {}

    @Test func `work that ends before the deadline returns or throws its own result`() async throws {
        #expect(try await clock.withDeadline(clock.uptime + .seconds(5)) { 7 } == 7)
        await #expect(throws: Failure.self) {
            try await clock.withDeadline(clock.uptime + .seconds(5)) { throw Failure() }
        }
    }

    @Test func `at the deadline the work is cancelled, and the caller continues, even if the work ignores that`()
        async throws
    {
        let (gate, cancelled) = (Gate(), Gate())
        let deadline = clock.uptime + .seconds(5)
        let call = Task { [clock] in
            try await clock.withDeadline(deadline) {
                await withTaskCancellationHandler {
                    await gate.pass()
                } onCancel: {
                    cancelled.open()
                }
            }
        }
        try await clock.advance(toTimerIn: .seconds(5))
        #expect(try await call.value == nil)
        try await cancelled.passUnlessCancelled()
        gate.open()
    }

    @Test func `the cancellation of the caller reaches the work`() async throws {
        let gate = Gate()
        let deadline = clock.uptime + .seconds(5)
        let call = Task { [clock] in
            try await clock.withDeadline(deadline) { try await gate.passUnlessCancelled() }
        }
        try await clock.timer(in: .seconds(5))
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    @Test func `the timer of a deadline ends with the work`() async throws {
        let clock = TurnTests.EndlessClock()
        #expect(try await clock.withDeadline(.seconds(5)) { 7 } == 7)
        try await clock.woken.passUnlessCancelled()
    }
}
