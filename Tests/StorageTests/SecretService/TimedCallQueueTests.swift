import AuthInterface
import ContractTesting
import Dispatch
import TestSupport
import Testing

@testable import Storage

@Suite("Calls of a service that may hang", .timeLimit(.minutes(10))) struct TimedCallQueueTests {
    private let clock = ManualTimeSource()
    private let limit = Duration.seconds(20)
    private let queue: TimedCallQueue
    private let starts = Gate()
    private let recovery = DispatchSemaphore(value: 0)

    init() { queue = TimedCallQueue(label: "test", clock: clock) }

    /// A call that has started, and blocks its thread until the recovery.
    private func hangingCall() async throws -> Task<Int, any Error> {
        let call = Task {
            try await queue.run(within: limit) { [starts, recovery] () throws(TokenStoreError) in
                starts.open()
                recovery.wait()
                return 1
            }
        }
        try await starts.passUnlessCancelled()
        return call
    }

    @Test func `a call that hangs and the one behind it end at one limit, and the second is never made`() async throws {
        let wasMade = Flag(false)
        let first = try await hangingCall()
        let second = Task {
            try await queue.run(within: limit) { () throws(TokenStoreError) in wasMade.isSet = true }
        }
        try await clock.advance(by: limit, whenAsleep: 2)
        #expect(await storeError { _ = try await first.value }?.reason.contains("within 20 s") == true)
        #expect(await storeError { try await second.value }?.reason.contains("within 20 s") == true)
        recovery.signal()
        try await afterEarlierCalls()
        #expect(!wasMade.isSet)
    }

    @Test func `while an overdue call has not ended, new calls fail at once; after it they are made`() async throws {
        let first = try await hangingCall()
        try await clock.advance(toTimerIn: limit)
        #expect(await storeError { _ = try await first.value }?.code == .unavailable)
        for _ in 1...3 {
            let error = await storeError { try await queue.run(within: limit) { () throws(TokenStoreError) in } }
            #expect(error?.code == .unavailable && error?.reason.contains("earlier call") == true)
        }
        recovery.signal()
        try await afterEarlierCalls()
    }

    @Test func `a cancelled call returns its result, and the queue of another account does not wait`() async throws {
        let call = try await hangingCall()
        call.cancel()
        let other = TimedCallQueue(label: "test", clock: clock)
        #expect(try await other.run(within: limit) { () throws(TokenStoreError) in 2 } == 2)
        let error = await storeError {
            try await other.run(within: limit) { () throws(TokenStoreError) in
                throw TokenStoreError(.corrupt, reason: "scripted")
            }
        }
        #expect(error?.code == .corrupt)
        recovery.signal()
        #expect(try await call.value == 1)
    }

    /// Waits until the call that hung has ended, and the queue makes calls again.
    private func afterEarlierCalls() async throws {
        try await until { (try? await queue.run(within: limit) { () throws(TokenStoreError) in }) != nil }
    }
}
