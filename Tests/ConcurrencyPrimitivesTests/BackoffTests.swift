import ConcurrencyPrimitives
import Testing

@Suite struct BackoffTests {
    @Test func `the bound doubles from the base to the limit`() {
        let backoff = Backoff(base: .seconds(1), limit: .seconds(10), floor: .milliseconds(500))
        let bounds = [0, 1, 2, 3, 4, 5, 100].map { backoff.bound(afterFailures: $0) }
        #expect(bounds == [1, 1, 2, 4, 8, 10, 10].map { .seconds($0) })
    }

    @Test func `a pause is between the floor and the bound`() {
        let backoff = Backoff(base: .seconds(1), limit: .seconds(10), floor: .milliseconds(500))
        for failures in 1...50 {
            let pause = backoff.delay(afterFailures: failures)
            #expect(pause >= backoff.floor && pause <= backoff.bound(afterFailures: failures))
        }
        let fixed = Backoff(base: .seconds(1), limit: .seconds(1), floor: .seconds(5))
        #expect(fixed.delay(afterFailures: 3) == .seconds(1))
    }
}
