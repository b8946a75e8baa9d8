import ContractTesting
import TestSupport
import Testing

@testable import NetworkCore

@Suite(.timeLimit(.minutes(10))) struct DeadlineQueueTests {
    private let clock = ManualTimeSource(uptime: .zero)
    private let called = Recorder<Int>()

    private struct Expired: Error {}

    /// Adds a closure that records its number of seconds.
    @discardableResult
    private func add(_ seconds: Int, to queue: DeadlineQueue) -> UInt64 {
        queue.add(at: .seconds(seconds)) { [called] in called.record(seconds) }
    }

    @Test func `closures are called in the order of their deadlines, and none that was removed`() async throws {
        let queue = DeadlineQueue(clock: clock)
        var ids: [Int: UInt64] = [:]
        for number in (1...200).shuffled() {
            ids[number] = queue.add(at: .milliseconds(100 * number)) { [called] in called.record(number) }
        }
        for number in stride(from: 1, through: 200, by: 2) { queue.remove(ids[number] ?? 0) }
        for second in 1...20 {
            try await clock.advance(by: .seconds(1), whenAsleep: 1)
            // Those of two wakes may be called on two threads at once.
            try await until { called.values.count >= 5 * second }
        }
        #expect(called.values == stride(from: 2, through: 200, by: 2).map { $0 })
        withExtendedLifetime(queue) {}
    }

    @Test func `work that passes its limit is cancelled, and the value that it has later is dropped`() async throws {
        let queue = DeadlineQueue(clock: clock)
        let (gate, dropped, cancelled) = (Gate(), Recorder<Int>(), Recorder<Bool>())
        let work = Task {
            try await queue.limit(.seconds(1)) {
                Expired()
            } dropped: {
                dropped.record($0)
            } _: {
                await gate.pass()
                cancelled.record(Task.isCancelled)
                return 7
            }
        }
        try await gate.arrivals(atLeast: 1)
        let ticking = DeadlineTests.tick(clock)
        defer { ticking.cancel() }
        await #expect(throws: Expired.self) { try await work.value }
        gate.open()
        try await until { !dropped.values.isEmpty }
        #expect(dropped.values == [7] && cancelled.values == [true])
    }

    @Test func `one task sleeps, and an earlier deadline wakes it earlier`() async throws {
        let queue = DeadlineQueue(clock: clock)
        add(60, to: queue)
        try await clock.sleepers(atLeast: 1)
        add(1, to: queue)
        // The sleeper of the first deadline is cancelled; the other takes its place.
        clock.advance(by: .seconds(1))
        try await until { !called.values.isEmpty }
        #expect(called.values == [1])
        withExtendedLifetime(queue) {}
    }

    /// Advances the clock when the queue sleeps.
    private func pass(_ duration: Duration) async throws {
        try await clock.advance(by: duration, whenAsleep: 1)
        try await clock.sleepers(atLeast: 1)
    }

    @Test(arguments: [Duration.zero, .seconds(26), .seconds(29)])
    func `a deadline that passed while the process slept counts after the grace`(awake: Duration) async throws {
        let queue = DeadlineQueue(clock: clock, grace: .seconds(5))
        add(31, to: queue)
        add(30, to: queue)
        let withdrawn = add(32, to: queue)
        add(1_000, to: queue)
        while clock.uptime < awake { try await pass(.seconds(1)) }
        try await pass(.seconds(200))
        for _ in 0..<4 {
            #expect(called.values.isEmpty)
            try await pass(.seconds(1))
        }
        // What has arrived was read in the meantime.
        queue.remove(withdrawn)
        #expect(called.values.isEmpty)
        try await pass(.seconds(1))
        try await until { called.values.count >= 2 }
        #expect(called.values == [30, 31])
        withExtendedLifetime(queue) {}
    }

    @Test(arguments: [Duration.milliseconds(1_001), .seconds(3), .seconds(3_600)])
    func `many sleeps do not hold a deadline back indefinitely`(each: Duration) async throws {
        let queue = DeadlineQueue(clock: clock, grace: .seconds(5))
        add(1, to: queue)
        add(1_000_000, to: queue)
        var sleeps = 0
        while called.values.isEmpty, sleeps < 100 {
            try await pass(.seconds(1) + each)
            sleeps += 1
        }
        #expect(sleeps <= DeadlineQueue.maximumSleeps + 1)
        #expect(called.values == [1])
        withExtendedLifetime(queue) {}
    }

    @Test func `a wait that begins long after its deadline, as after a sleep, has the grace too`() async throws {
        let clock = ManualTimeSource(uptime: .seconds(500))
        let queue = DeadlineQueue(clock: clock, grace: .seconds(5))
        let gate = Gate()
        let work = Task {
            try await queue.limit(.seconds(60)) {
                Expired()
            } _: {
                await gate.pass()
                return 7
            }
        }
        try await clock.sleepers(atLeast: 1)
        try await gate.arrivals(atLeast: 1)
        gate.open()
        #expect(try await work.value == 7)
    }

    @Test func `what a removed closure holds may remove another one as it is released`() {
        let queue = DeadlineQueue(clock: ManualTimeSource())
        final class Holder: Sendable {
            let queue: DeadlineQueue
            let other: UInt64

            init(_ queue: DeadlineQueue) {
                self.queue = queue
                other = queue.add(at: .seconds(2)) {}
            }

            deinit { queue.remove(other) }
        }
        weak var released: Holder?
        func add() -> UInt64 {
            let holder = Holder(queue)
            released = holder
            return queue.add(at: .seconds(1)) { withExtendedLifetime(holder) {} }
        }
        queue.remove(add())
        #expect(released == nil)
    }
}
