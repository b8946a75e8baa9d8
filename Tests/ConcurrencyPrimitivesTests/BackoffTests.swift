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

@Suite struct DurationTests {
    @Test(
        arguments: [
            (.zero, "0 ms"), (.milliseconds(250), "250 ms"), (.microseconds(999_600), "999 ms"),
            (.milliseconds(570), "570 ms"), (.milliseconds(1_500), "1.5 s"), (.seconds(30), "30 s"),
            (.milliseconds(59_960), "59.9 s"), (.seconds(90), "1 min 30 s"), (.seconds(120), "2 min"),
            (.seconds(3_600), "1 h"), (.seconds(3_900), "1 h 5 min"), (.seconds(-9.5), "-9.5 s"),
        ] as [(Duration, String)]
    )
    func `a duration has at most two units`(duration: Duration, text: String) {
        #expect(duration.inWords == text)
    }

    @Test func `every duration has words`() {
        for seconds in [Int64.min, Int64.max] { #expect(Duration.seconds(seconds).inWords.hasSuffix("min")) }
    }
}
