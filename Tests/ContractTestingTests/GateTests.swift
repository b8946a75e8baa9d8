import ContractTesting
import Testing

@Suite struct GateTests {
    @Test func `a task that was cancelled before a closed gate does not wait`() async {
        let (gate, start) = (Gate(), Gate())
        let task = Task {
            await start.pass()
            try await gate.passUnlessCancelled()
        }
        task.cancel()
        start.open()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `a task that is cancelled at a closed gate leaves, unless it ignores cancellation`() async throws {
        let gate = Gate()
        let task = Task { try await gate.passUnlessCancelled() }
        let other = Task { await gate.pass() }
        await gate.arrivals(atLeast: 2)
        task.cancel()
        other.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        gate.open()
        await other.value
        #expect(gate.arrivals == 2)
    }
}
