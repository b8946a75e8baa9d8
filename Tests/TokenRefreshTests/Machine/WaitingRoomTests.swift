import Testing

@testable import TokenRefresh

/// Each caller gets exactly one response: it waits in one queue, and is taken out once.
@Suite struct WaitingRoomTests {
    private let queues: [WaitingRoom.Queue] = [
        .load, .publication, .settle, .check, .nextCheck, .write(version: 1, isSignIn: true),
        .write(version: 1, isSignIn: false), .attempt, .pause,
    ]

    private func waiter(_ number: Int, since seconds: Int = 0) -> Waiter {
        Waiter(id: WaiterID(number: number), request: .token, since: .seconds(seconds))
    }

    private func numbers(_ waiters: [Waiter]) -> [Int] { waiters.map(\.id.number) }

    /// A room with three callers in each queue, who came in turns.
    private func full() -> WaitingRoom {
        var room = WaitingRoom()
        for number in 0..<3 * queues.count { room.add(waiter(number), to: queues[number % queues.count]) }
        return room
    }

    @Test func `a caller that is taken out, or removed, is not there any more, and the others are`() {
        for (index, queue) in queues.enumerated() {
            let expected = (0..<3).map { index + $0 * queues.count }
            var room = full()
            #expect(numbers(room.take(queue)) == expected, "in the order in which they came")
            #expect(room.isEmpty(queue) && room.take(queue) == [])
            #expect(expected.map { room.remove(WaiterID(number: $0)) } == [false, false, false])
            for other in queues where other != queue { #expect(room.take(other).count == 3) }
            #expect(room == WaitingRoom())
            room = full()
            for number in expected {
                #expect(!room.isEmpty(queue))
                #expect((0..<2).map { _ in room.remove(WaiterID(number: number)) } == [true, false])
            }
            #expect(room.isEmpty(queue) && room.take(queue) == [])
        }
    }

    @Test func `callers in several queues are taken out in the order in which they came`() {
        var room = full()
        let expected = (0..<3).flatMap { round in [0, 7, 8].map { $0 + round * queues.count } }
        #expect(numbers(room.take(.pause, .load, .attempt)) == expected)
        #expect(room.isEmpty(.pause) && room.isEmpty(.load) && room.isEmpty(.attempt) && !room.isEmpty(.check))
    }

    @Test func `those who have waited for too long are taken out, and the others stay`() {
        var room = WaitingRoom()
        for number in 1...5 { room.add(waiter(number, since: number), to: .attempt) }
        room.add(waiter(6, since: 1), to: .pause)
        #expect(room.earliest(at: .attempt) == .seconds(1) && room.earliest(at: .load) == nil)
        #expect(numbers(room.take(.attempt, since: .seconds(3))) == [1, 2, 3])
        #expect(room.earliest(at: .attempt) == .seconds(4) && room.earliest(at: .pause) == .seconds(1))
        #expect(numbers(room.take(.attempt)) == [4, 5])
    }

    @Test func `the write of a version serves those who wait for it or for an older one`() {
        var room = WaitingRoom()
        for (number, version, isSignIn) in [(1, 1, true), (2, 3, false), (3, 2, false)] {
            room.add(waiter(number), to: .write(version: version, isSignIn: isSignIn))
        }
        room.add(waiter(4), to: .attempt)
        #expect(room.takeWriters(upTo: 0).map(\.id) == [])
        let served = room.takeWriters(upTo: 2)
        #expect(served.map(\.id.number) == [1, 3] && served.map(\.isSignIn) == [true, false])
        #expect(room.takeWriters(upTo: 2).map(\.id) == [] && !room.isEmpty(.attempt))
        #expect(room.takeWriters(upTo: 3).map(\.id.number) == [2])
    }

    @Test func `callers that move wait in the other queue only, in their turn`() {
        var room = full()
        room.move(from: .pause, to: .attempt)
        #expect(room.isEmpty(.pause))
        #expect(numbers(room.take(.attempt)) == [7, 8, 16, 17, 25, 26])
        room.move(from: .pause, to: .load)
        #expect(room.take(.load).count == 3)
    }

    @Test func `a caller does not wait twice`() async {
        await #expect(processExitsWith: .failure) {
            var room = WaitingRoom()
            let waiter = Waiter(id: WaiterID(number: 1), request: .token, since: .zero)
            room.add(waiter, to: .load)
            room.add(waiter, to: .attempt)
        }
    }
}
