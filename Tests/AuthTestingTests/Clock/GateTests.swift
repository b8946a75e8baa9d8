import AuthTesting
import Testing

@Suite struct GateTests {
    @Test("a task that was cancelled before it came to a closed gate does not wait there")
    func cancelledBefore() async {
        let (gate, start) = (Gate(), Gate())
        let task = Task {
            await start.pass()
            try await gate.passUnlessCancelled()
        }
        task.cancel()
        start.open()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("a task that is cancelled at a closed gate leaves it; one that is deaf stays until it opens")
    func cancelledAtTheGate() async throws {
        let gate = Gate()
        let task = Task { try await gate.passUnlessCancelled() }
        let deaf = Task { await gate.pass() }
        await gate.arrivals(atLeast: 2)
        task.cancel()
        deaf.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        gate.open()
        await deaf.value
        #expect(gate.arrivals == 2)
    }
}
