/// Exponential backoff with full jitter and a floor.
///
/// Before attempt *n* + 1 the pause is a random time between ``floor`` and `base · 2ⁿ⁻¹`, and never more than
/// ``limit``.
public struct Backoff: Sendable, Hashable {
    /// The upper bound of the first pause.
    public var base: Duration

    /// The upper bound of every pause: doubling stops there.
    public var limit: Duration

    /// The shortest pause. Without it, simultaneous failures can cause simultaneous attempts.
    public var floor: Duration

    /// Creates a backoff.
    ///
    /// - Parameters:
    ///   - base: The upper bound of the first pause.
    ///   - limit: The upper bound of every pause.
    ///   - floor: The shortest pause. One over the upper bound counts as the upper bound.
    public init(base: Duration = .seconds(1), limit: Duration = .seconds(60), floor: Duration = .milliseconds(500)) {
        self.base = base
        self.limit = limit
        self.floor = floor
    }

    /// The longest pause after a number of failures, from 1: ``base``, doubled with each failure up to ``limit``.
    package func bound(afterFailures failures: Int) -> Duration {
        let doublings = min(max(failures, 1) - 1, 30)
        return min(base * (1 << doublings), limit)
    }

    /// The pause after a number of failures, from 1, with jitter: from the floor to the bound.
    package func delay(afterFailures failures: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        let bound = bound(afterFailures: failures)
        let least = min(floor, bound)
        return least + (bound - least) * Double.random(in: 0...1, using: &generator)
    }

    /// The pause after a number of failures, with jitter from the system's generator.
    package func delay(afterFailures failures: Int) -> Duration {
        var generator = SystemRandomNumberGenerator()
        return delay(afterFailures: failures, using: &generator)
    }
}
