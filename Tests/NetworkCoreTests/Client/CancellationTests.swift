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
    @Test func `cancelling ends a call during its exchange`() async throws {
        let gate = Gate()
        let stub = StubResponse { _ in
            try await gate.passUnlessCancelled()
            throw HTTPTransportError(.transportFailed, reason: "unreachable")
        }
        let client = NetworkClient(baseURL: baseURL, transport: StubTransport(.any ~> stub))
        let task = Task { try await client.send(.article(7)) }
        try await gate.arrivals(atLeast: 1)
        await expectCancellation(of: task)
    }

    @Test(arguments: [[], [RetryPolicy.standard]])
    func `cancelling is not reported as a failure of the transport`(interceptors: [RetryPolicy]) async throws {
        let gate = Gate()
        let stub = StubResponse { _ in
            await gate.pass()
            throw URLError(.cancelled)
        }
        let transport = StubTransport(.any ~> stub)
        let client = NetworkClient(baseURL: baseURL, transport: transport, interceptors: interceptors)
        let task = Task { try await client.send(.article(7)) }
        try await gate.arrivals(atLeast: 1)
        task.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(transport.requests.count == 1)
    }

    @Test func `cancelling ends a call during the pause before a retry`() async throws {
        let clock = ManualTimeSource()
        let transport = StubTransport(.any ~> .status(503))
        let observer = Recorder<NetworkEvent>()
        let client = NetworkClient(
            baseURL: baseURL, transport: transport, interceptors: [RetryPolicy(random: 0.5)], observers: [observer],
            clock: clock)
        let task = Task { try await client.send(.article(7)) }
        try await clock.timer(in: .milliseconds(250))
        await expectCancellation(of: task)
        #expect(observer.values.last?.kind == .cancelled)
    }

    @Test func `a task that is already cancelled sends nothing`() async throws {
        let transport = StubTransport()
        let client = NetworkClient(baseURL: baseURL, transport: transport)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.send(.article(7))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(transport.requests.isEmpty)
    }
}
