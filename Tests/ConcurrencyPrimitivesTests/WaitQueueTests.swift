import ContractTesting
import Foundation
import TestSupport
import Testing

@testable import ConcurrencyPrimitives

@Suite(.timeLimit(.minutes(10))) struct WaitQueueTests {
    @Test func `waiters are served in the order of their arrival, without those that have left`() {
        var queue = WaitQueue<Int, String>()
        for id in 0..<1_000 { queue.append("\(id)", for: id) }
        let left = stride(from: 0, to: 1_000, by: 2).map { queue.remove($0) }
        #expect(left == stride(from: 0, to: 1_000, by: 2).map { "\($0)" })
        #expect(queue.remove(0) == nil && queue.count == 500)
        #expect(Self.all(of: &queue) == Array(stride(from: 1, to: 1_000, by: 2)))
    }

    @Test func `a waiter that leaves and comes again waits at the end`() {
        var queue = WaitQueue<Int, String>()
        for id in 0..<3 { queue.append("", for: id) }
        _ = queue.remove(0)
        queue.append("", for: 0)
        #expect(Self.all(of: &queue) == [1, 2, 0])
    }

    @Test func `the first that can be served is served, and the others keep their places`() {
        var queue = WaitQueue<Int, String>()
        for id in 0..<6 { queue.append("", for: id) }
        #expect(queue.popFirst { $0 > 2 }?.id == 3)
        #expect(queue.popFirst { $0 > 5 } == nil)
        #expect(Self.all(of: &queue) == [0, 1, 2, 4, 5])
    }

    @Test func `the places of those that have left are not kept`() {
        var queue = WaitQueue<Int, String>()
        for id in 0...10_000 {
            queue.append("", for: id)
            if id > 0 { _ = queue.remove(id) }
        }
        #expect(queue.order.count <= 66)
        #expect(Self.all(of: &queue) == [0])
    }

    private static func all(of queue: inout WaitQueue<Int, String>) -> [Int] {
        var served: [Int] = []
        while let next = queue.popFirst() { served.append(next.id) }
        return served
    }
}

/// Tasks that wait in a queue.
@Suite(.timeLimit(.minutes(10))) struct TurnTests {
    private struct Busy: Error {}
    private struct Refused: Error {}

    /// A number of places, for which tasks wait.
    private final class Places: Sendable {
        private struct State {
            var free: Int
            var requests = 0
            var waiting = WaitQueue<Int, Turn<Void>>()
        }

        private let state: Locked<State>
        private let clock: any TimeSource

        init(_ count: Int, clock: any TimeSource = ManualTimeSource()) {
            state = Locked(State(free: count))
            self.clock = clock
        }

        var free: Int { state.withLock { $0.free } }
        var waiting: Int { state.withLock { $0.waiting.count } }

        func take(until deadline: Duration? = nil, refusing: Bool = false) async throws {
            let request = state.withLock { state in
                state.requests += 1
                return state.requests
            }
            try await state.wait(as: request, in: \.waiting, until: deadline, on: clock) {
                Busy()
            } unless: { state in
                if refusing { throw Refused() }
                guard state.free > 0 else { return nil }
                state.free -= 1
                return ()
            }
        }

        func giveBack() {
            let next = state.withLock { state in
                let next = state.waiting.popFirst()?.waiter
                if next == nil { state.free += 1 }
                return next
            }
            next?.end(.success(()))
        }

        func waiting(atLeast count: Int) async throws { try await until { waiting >= count } }
    }

    /// A clock whose sleepers wake only when they are cancelled.
    struct EndlessClock: TimeSource {
        let woken = Gate()
        let uptime: Duration = .zero
        let date = Date(timeIntervalSince1970: 0)

        func sleep(until deadline: Duration) async throws {
            defer { woken.open() }
            try await Gate().passUnlessCancelled()
        }
    }

    @Test func `tasks are served one by one, in the order of their arrival`() async throws {
        let (places, served) = (Places(1), Locked<[Int]>([]))
        try await places.take()
        for number in 0..<5 {
            Task {
                try await places.take()
                served.withLock { $0.append(number) }
            }
            try await places.waiting(atLeast: number + 1)
        }
        for number in 0..<5 {
            places.giveBack()
            try await until { served.withLock { $0.count } > number }
            #expect(served.withLock { $0 } == Array(0...number))
        }
        places.giveBack()
        #expect(places.free == 1)
    }

    @Test func `a wait that is cancelled ends at once, and its turn is the next one's`() async throws {
        let places = Places(0)
        let leaver = Task { try await places.take() }
        try await places.waiting(atLeast: 1)
        let other = Task { try await places.take() }
        try await places.waiting(atLeast: 2)
        await expectCancellation(of: leaver)
        places.giveBack()
        try await other.value
        #expect(places.free == 0 && places.waiting == 0)
    }

    @Test func `a task that is cancelled already does not wait`() async {
        let places = Places(0)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await places.take()
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(places.waiting == 0)
    }

    @Test func `a wait ends at its deadline, and leaves the queue`() async throws {
        let clock = ManualTimeSource()
        let places = Places(0, clock: clock)
        let end = clock.uptime + .seconds(5)
        let task = Task { try await places.take(until: end) }
        try await clock.advance(toTimerIn: .seconds(5))
        await #expect(throws: Busy.self) { try await task.value }
        #expect(places.waiting == 0)
    }

    @Test func `the timer of a wait ends with it`() async throws {
        let clock = EndlessClock()
        let places = Places(0, clock: clock)
        let task = Task { try await places.take(until: .seconds(5)) }
        try await places.waiting(atLeast: 1)
        places.giveBack()
        try await task.value
        try await clock.woken.passUnlessCancelled()
    }

    @Test func `a request that is refused does not wait`() async {
        let places = Places(0)
        await #expect(throws: Refused.self) { try await places.take(refusing: true) }
        #expect(places.waiting == 0)
    }

    @Test func `no place is lost or taken twice when tasks are cancelled while they are served`() async {
        let (places, held) = (Places(3), Locked((now: 0, most: 0)))
        let tasks = (0..<300).map { _ in
            Task {
                for _ in 0..<20 {
                    try await places.take()
                    held.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                    await Task.yield()
                    held.withLock { $0.now -= 1 }
                    places.giveBack()
                }
            }
        }
        for task in tasks.shuffled().prefix(200) {
            await Task.yield()
            task.cancel()
        }
        for task in tasks { _ = await task.result }
        #expect(held.withLock { $0.most <= 3 && $0.now == 0 })
        #expect(places.free == 3 && places.waiting == 0)
    }
}
