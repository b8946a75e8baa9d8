import AuthInterface
import ContractTesting
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite("Calls of a service that may hang", .timeLimit(.minutes(10)))
struct TimedCallQueueTests {
    private let clock = ManualTimeSource()
    private let limit = Duration.seconds(20)

    @Test func `a call that ends in time returns its value, and the next one is made after it`() async throws {
        let queue = TimedCallQueue(label: "test", clock: clock)
        for number in 1...3 {
            #expect(try await queue.run(within: limit) { () throws(TokenStoreError) in number } == number)
        }
    }

    @Test func `an error of the call is thrown to the caller`() async {
        let queue = TimedCallQueue(label: "test", clock: clock)
        let error = await storeError {
            try await queue.run(within: limit) { () throws(TokenStoreError) in
                throw TokenStoreError(.corrupt, reason: "scripted")
            }
        }
        #expect(error?.code == .corrupt)
    }

    @Test func `a call that hangs and the one behind it end at one limit, and the second is never made`() async throws {
        let queue = TimedCallQueue(label: "test", clock: clock)
        let service = HangingService()
        let wasMade = Flag(false)
        let first = Task { try await queue.run(within: limit) { () throws(TokenStoreError) in service.call() } }
        try await service.started()
        let second = Task {
            try await queue.run(within: limit) { () throws(TokenStoreError) in wasMade.isSet = true }
        }
        try await clock.advance(by: limit, whenAsleep: 2)
        #expect(await storeError { try await first.value }?.reason.contains("within 20 s") == true)
        #expect(await storeError { try await second.value }?.reason.contains("within 20 s") == true)
        service.recover()
        try await afterEarlierCalls(of: queue)
        #expect(!wasMade.isSet)
    }

    @Test func `while an overdue call has not ended, new calls fail at once; after its end they are made`() async throws
    {
        let queue = TimedCallQueue(label: "test", clock: clock)
        let service = HangingService()
        let first = Task { try await queue.run(within: limit) { () throws(TokenStoreError) in service.call() } }
        try await service.started()
        try await clock.advance(toTimerIn: limit)
        #expect(await storeError { try await first.value }?.code == .unavailable)
        for _ in 1...3 {
            let error = await storeError { try await queue.run(within: limit) { () throws(TokenStoreError) in } }
            #expect(error?.code == .unavailable)
            #expect(error?.reason.contains("earlier call") == true)
        }
        service.recover()
        try await afterEarlierCalls(of: queue)
    }

    @Test func `a call whose task is cancelled runs to its end, and returns its result`() async throws {
        let queue = TimedCallQueue(label: "test", clock: clock)
        let service = HangingService()
        let call = Task {
            try await queue.run(within: limit) { () throws(TokenStoreError) in
                service.call()
                return 1
            }
        }
        try await service.started()
        call.cancel()
        service.recover()
        #expect(try await call.value == 1)
    }

    @Test func `the queue of one account does not wait for that of another`() async throws {
        let service = HangingService()
        let hung = TimedCallQueue(label: "test", clock: clock)
        let call = Task { try await hung.run(within: limit) { () throws(TokenStoreError) in service.call() } }
        try await service.started()
        let other = TimedCallQueue(label: "test", clock: clock)
        #expect(try await other.run(within: limit) { () throws(TokenStoreError) in 2 } == 2)
        service.recover()
        try await call.value
    }

    /// Waits until the call that hung has ended, and the queue makes calls again.
    private func afterEarlierCalls(of queue: TimedCallQueue) async throws {
        try await until {
            await storeError(of: { try await queue.run(within: limit) { () throws(TokenStoreError) in } }) == nil
        }
    }
}

/// A service whose first call does not end until ``recover()``.
private final class HangingService: Sendable {
    private let recovery = DispatchSemaphore(value: 0)
    private let starts = Gate()

    /// Blocks its thread.
    func call() {
        starts.open()
        recovery.wait()
    }

    func started() async throws { try await starts.passUnlessCancelled() }

    func recover() { recovery.signal() }
}
