import ConcurrencyPrimitives
import Testing

@Suite(.timeLimit(.minutes(10))) struct RaceTests {
    @Test func `the first end counts`() async {
        let race = Race<Int>()
        #expect(race.outcome == nil)
        #expect(race.end(1) && !race.end(2))
        #expect(race.outcome == 1)
        #expect(await race.value() == 1)
    }

    @Test func `of many ends at once one decides, and the task that waits has its outcome`() async {
        for _ in 0..<200 {
            let (race, winners) = (Race<Int>(), Locked<[Int]>([]))
            let value = Task { await race.value() }
            let runners = (0..<4).map { number in
                Task {
                    if race.end(number) { winners.withLock { $0.append(number) } }
                }
            }
            for runner in runners { await runner.value }
            #expect(winners.withLock { $0 } == [await value.value])
        }
    }

    @Test func `a wait that obeys cancellation ends with its task, and no later end counts`() async {
        let turn = Turn<Int>()
        let task = Task { try await turn.valueUnlessCancelled() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!turn.end(.success(1)))
    }
}
