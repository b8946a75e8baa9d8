/// Exponential backoff with jitter: before try *n* a random time between `floor` and `base · 2ⁿ`, at most `limit`.
///
/// The jitter keeps processes that failed together from trying again together.
public struct Backoff: Sendable, Hashable {
    /// The bound before the first try.
    public var base: Duration

    /// The bound that doubling stops at.
    public var limit: Duration

    /// The shortest time to wait.
    public var floor: Duration

    /// Creates a backoff.
    ///
    /// - Parameters:
    ///   - base: The bound before the first try.
    ///   - limit: The bound that doubling stops at.
    ///   - floor: The shortest time to wait. A bound below it counts as the floor.
    public init(base: Duration = .milliseconds(500), limit: Duration = .seconds(60), floor: Duration = .zero) {
        self.base = base
        self.limit = limit
        self.floor = floor
    }

    /// The time to wait.
    ///
    /// - Parameters:
    ///   - failures: How many tries have failed so far, from 1.
    ///   - generator: Where the jitter comes from.
    /// - Returns: A duration from the floor up to the bound.
    package func delay(afterFailures failures: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        let doublings = min(max(failures, 1) - 1, 30)
        let bound = min(base * (1 << doublings), limit)
        return floor + max(bound - floor, .zero) * Double.random(in: 0...1, using: &generator)
    }

    /// The time to wait, with jitter from the system's generator.
    ///
    /// - Parameter failures: How many tries have failed so far, from 1.
    /// - Returns: A duration from the floor up to the bound.
    package func delay(afterFailures failures: Int) -> Duration {
        var generator = SystemRandomNumberGenerator()
        return delay(afterFailures: failures, using: &generator)
    }
}
