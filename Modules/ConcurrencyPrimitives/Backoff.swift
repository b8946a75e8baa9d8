/// Full-jitter exponential backoff with a floor: before attempt *n* a random time between `floor` and `base · 2ⁿ`, at
/// most `limit`.
public struct Backoff: Sendable, Hashable {
    /// The upper bound before the first attempt.
    public var base: Duration

    /// The upper bound at which doubling stops.
    public var limit: Duration

    /// The shortest pause, so that many failures at once do not become many attempts at once.
    public var floor: Duration

    /// Creates a backoff.
    ///
    /// - Parameters:
    ///   - base: The upper bound before the first attempt.
    ///   - limit: The upper bound at which doubling stops.
    ///   - floor: The shortest pause.
    public init(
        base: Duration = .seconds(1),
        limit: Duration = .seconds(60),
        floor: Duration = .milliseconds(500)
    ) {
        self.base = base
        self.limit = limit
        self.floor = floor
    }

    /// The time to wait.
    ///
    /// - Parameters:
    ///   - failures: How many attempts have failed so far, from 1.
    ///   - generator: Where the jitter comes from.
    /// - Returns: A duration from the floor up to the bound.
    package func delay(afterFailures failures: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        let doublings = min(max(failures, 1) - 1, 30)
        let bound = min(base * (1 << doublings), limit)
        let least = min(floor, bound)
        return least + (bound - least) * Double.random(in: 0...1, using: &generator)
    }

    /// The time to wait, with jitter from the system's generator.
    ///
    /// - Parameter failures: How many attempts have failed so far, from 1.
    /// - Returns: A duration from the floor up to the bound.
    package func delay(afterFailures failures: Int) -> Duration {
        var generator = SystemRandomNumberGenerator()
        return delay(afterFailures: failures, using: &generator)
    }
}
