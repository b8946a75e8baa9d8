import ContractTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct GateTests {
    @Test func `a task that is cancelled at a closed gate leaves, unless it ignores cancellation`() async throws {
        let gate = Gate()
        let task = Task { try await gate.passUnlessCancelled() }
        let other = Task { await gate.pass() }
        try await gate.arrivals(atLeast: 2)
        task.cancel()
        other.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        gate.open()
        await other.value
        #expect(gate.arrivals == 2)
    }

    @Test func `a wait at a gate, for arrivals, for sleepers or for a timer ends with its task`() async {
        let (gate, clock) = (Gate(), ManualTimeSource())
        let waits: [@Sendable () async throws -> Void] = [
            { try await gate.arrivals(atLeast: 1) }, { try await gate.passUnlessCancelled() },
            { try await clock.sleepers(atLeast: 1) }, { try await clock.advance(by: .zero, whenAsleep: 1) },
            { try await clock.advance(toTimerIn: .seconds(1)) },
        ]
        for wait in waits {
            let task = Task { try await wait() }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test func `a timer is told from others by the time when it wakes`() async throws {
        let clock = ManualTimeSource()
        let start = clock.uptime
        let other = Task { try await clock.sleep(until: start + .seconds(60)) }
        try await clock.sleepers(atLeast: 1)
        let timer = Task { try await clock.sleep(until: start + .seconds(5)) }
        try await clock.advance(toTimerIn: .seconds(5))
        try await timer.value
        #expect(clock.uptime == start + .seconds(5))
        other.cancel()
    }
}
