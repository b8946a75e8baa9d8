import Testing

@testable import TokenRefresh

/// Each caller gets exactly one response: it waits in one queue, and is taken out once.
@Suite struct CallersTests {
    private let queues: [Callers.Queue] = [
        .load, .publication, .settle, .check, .nextCheck, .write(version: 1, isSignIn: true),
        .write(version: 1, isSignIn: false), .attempt, .pause,
    ]

    private func waiter(_ number: Int, since seconds: Int = 0) -> Waiter {
        Waiter(id: WaiterID(number: number), request: .token, since: .seconds(seconds))
    }

    private func numbers(_ waiters: [Waiter]) -> [Int] { waiters.map(\.id.number) }

    /// A room with three callers in each queue, who came in turns.
    private func full() -> Callers {
        var room = Callers()
        for number in 0..<3 * queues.count { room.add(waiter(number), to: queues[number % queues.count]) }
        return room
    }

    @Test func `a caller that is taken out is not there any more`() {
        for (index, queue) in queues.enumerated() {
            var room = full()
            let expected = (0..<3).map { index + $0 * queues.count }
            #expect(numbers(room.take(queue)) == expected, "in the order in which they came")
            #expect(room.isEmpty(queue))
            #expect(room.take(queue) == [])
            #expect(expected.map { room.remove(WaiterID(number: $0)) } == [false, false, false])
            for other in queues where other != queue { #expect(room.take(other).count == 3) }
            #expect(room == Callers())
        }
    }

    @Test func `a caller that is removed is not taken out with the others`() {
        for (index, queue) in queues.enumerated() {
            var room = full()
            for (count, number) in [index, index + queues.count, index + 2 * queues.count].enumerated() {
                #expect(!room.isEmpty(queue), "\(count) of three have left")
                #expect((0..<2).map { _ in room.remove(WaiterID(number: number)) } == [true, false])
            }
            #expect(room.isEmpty(queue))
            #expect(room.take(queue) == [])
        }
    }

    @Test func `callers in several queues are taken out in the order in which they came`() {
        var room = full()
        let expected = (0..<3).flatMap { round in [0, 7, 8].map { $0 + round * queues.count } }
        #expect(numbers(room.take(.pause, .load, .attempt)) == expected)
        #expect(room.isEmpty(.pause) && room.isEmpty(.load) && room.isEmpty(.attempt) && !room.isEmpty(.check))
    }

    @Test func `those who have waited for too long are taken out, and the others stay`() {
        var room = Callers()
        for number in 1...5 { room.add(waiter(number, since: number), to: .attempt) }
        room.add(waiter(6, since: 1), to: .pause)
        #expect(room.earliest(at: .attempt) == .seconds(1) && room.earliest(at: .load) == nil)
        #expect(numbers(room.take(.attempt, since: .seconds(3))) == [1, 2, 3])
        #expect(room.earliest(at: .attempt) == .seconds(4) && room.earliest(at: .pause) == .seconds(1))
        #expect(numbers(room.take(.attempt)) == [4, 5])
    }

    @Test func `the write of a version serves those who wait for it or for an older one`() {
        var room = Callers()
        room.add(waiter(1), to: .write(version: 1, isSignIn: true))
        room.add(waiter(2), to: .write(version: 3, isSignIn: false))
        room.add(waiter(3), to: .write(version: 2, isSignIn: false))
        room.add(waiter(4), to: .attempt)
        #expect(room.takeWriters(upTo: 0).map(\.id) == [])
        let served = room.takeWriters(upTo: 2)
        #expect(served.map(\.id.number) == [1, 3] && served.map(\.isSignIn) == [true, false])
        #expect(room.takeWriters(upTo: 2).map(\.id) == [])
        #expect(!room.isEmpty(.attempt))
        #expect(room.takeWriters(upTo: 3).map(\.id.number) == [2])
    }

    @Test func `callers that move wait in the other queue only`() {
        var room = full()
        room.move(from: .pause, to: .attempt)
        #expect(room.isEmpty(.pause))
        #expect(room.take(.attempt).count == 6)
        room.move(from: .pause, to: .load)
        #expect(room.take(.load).count == 3)
    }

    @Test func `the order in which callers came makes no difference between two rooms`() {
        var (one, other) = (Callers(), Callers())
        for number in 1...20 { one.add(waiter(number), to: .attempt) }
        for number in (1...20).reversed() { other.add(waiter(number), to: .attempt) }
        #expect(one == other && one.hashValue == other.hashValue)
        #expect([one.remove(WaiterID(number: 7))] == [true])
        #expect(one != other)
    }

    @Test func `a caller that comes again, or late, is served in its turn`() {
        var room = Callers()
        for number in 1...40 { room.add(waiter(number), to: number % 2 == 0 ? .pause : .attempt) }
        let even = room.take(.pause)
        for waiter in even.reversed() { room.add(waiter, to: .attempt) }
        #expect([41, 3, 4].map { room.remove(WaiterID(number: $0)) } == [false, true, true])
        for number in 50...90 { room.add(waiter(number), to: .load) }
        room.add(waiter(45), to: .attempt)
        #expect(room.take(.load).count == 41)
        room.add(waiter(100), to: .attempt)
        #expect(numbers(room.take(.attempt)) == [1, 2] + Array(5...40) + [45, 100])
        #expect(room == Callers())
        for number in 5...8 { room.add(waiter(number), to: .pause) }
        #expect([5, 6].map { room.remove(WaiterID(number: $0)) } == [true, true])
        room.add(waiter(6), to: .pause)
        #expect(numbers(room.take(.pause)) == [6, 7, 8])
    }

    @Test func `a caller does not wait twice`() async {
        await #expect(processExitsWith: .failure) {
            var room = Callers()
            let waiter = Waiter(id: WaiterID(number: 1), request: .token, since: .zero)
            room.add(waiter, to: .load)
            room.add(waiter, to: .attempt)
        }
    }
}
