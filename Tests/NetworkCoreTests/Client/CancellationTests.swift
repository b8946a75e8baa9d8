import ContractTesting
import Foundation
import NetworkCore
import NetworkTestSupport
import NetworkTesting
import NetworkURLSession
import TestSupport
import Testing

@Suite("Cancelling a call", .timeLimit(.minutes(10)))
struct CancellationTests {
    @Test(arguments: [[], [RetryPolicy.standard]])
    func `cancelling is not reported as a failure of the transport`(interceptors: [RetryPolicy]) async throws {
        let gate = Gate()
        let stub = StubResponse { _ in
            await gate.pass()
            throw URLError(.cancelled)
        }
        let transport = StubTransport(responding: stub)
        let client = NetworkClient(transport, interceptors: interceptors)
        let task = Task { try await client.send(.article(7)) }
        try await gate.arrivals(atLeast: 1)
        task.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(transport.requests.count == 1)
    }

    @Test func `cancelling ends a call during the pause before a retry`() async throws {
        let clock = ManualTimeSource()
        let observer = Recorder<NetworkEvent>()
        let client = NetworkClient(
            StubTransport(responding: .status(503)), interceptors: [RetryPolicy(random: 0.5)], observers: [observer],
            clock: clock)
        let task = Task { try await client.send(.article(7)) }
        try await clock.timer(in: .milliseconds(250))
        await expectCancellation(of: task)
        #expect(observer.values.last?.kind == .cancelled)
    }

    @Test func `a task that is already cancelled sends nothing`() async throws {
        let transport = StubTransport()
        let client = NetworkClient(transport)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.send(.article(7))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(transport.requests.isEmpty)
    }
}
