import AuthInterface
import ConcurrencyPrimitives

/// How many retries all requests of a client may make between them.
///
/// A bucket of tokens: each retry takes one, each call puts a part of one back, and so does time, lest a quiet client
/// never earn one. While calls succeed, the bucket is full and nobody notices it; in an outage it runs dry, and
/// retries fall to a tenth of the traffic.
public final class RetryBudget: Sendable {
    /// The most retries saved up, unless told otherwise.
    public static let defaultCapacity = 20.0

    /// The retries earned by one call, unless told otherwise.
    public static let defaultEarnedPerCall = 0.1

    /// The retries earned in one second, unless told otherwise.
    public static let defaultEarnedPerSecond = 0.1

    private struct State {
        var tokens: Double
        var updatedAt: Duration?
    }

    private let capacity: Double
    private let earnedPerCall: Double
    private let earnedPerSecond: Double
    private let state: Locked<State>

    /// Creates a full budget.
    ///
    /// - Parameters:
    ///   - capacity: The most retries saved up.
    ///   - earnedPerCall: The retries earned by one call.
    ///   - earnedPerSecond: The retries earned in one second.
    public init(
        capacity: Double = defaultCapacity,
        earnedPerCall: Double = defaultEarnedPerCall,
        earnedPerSecond: Double = defaultEarnedPerSecond
    ) {
        self.capacity = capacity
        self.earnedPerCall = earnedPerCall
        self.earnedPerSecond = earnedPerSecond
        state = Locked(State(tokens: capacity))
    }

    func deposit(at uptime: Duration) {
        state.withLock { earn(earnedPerCall, at: uptime, &$0) }
    }

    /// - Returns: Whether there was a retry left; it is used now.
    func withdraw(at uptime: Duration) -> Bool {
        state.withLock { state in
            earn(0, at: uptime, &state)
            guard state.tokens >= 1 else { return false }
            state.tokens -= 1
            return true
        }
    }

    private func earn(_ amount: Double, at uptime: Duration, _ state: inout State) {
        let seconds = max(0, (uptime - (state.updatedAt ?? uptime)) / .seconds(1))
        state.updatedAt = max(uptime, state.updatedAt ?? uptime)
        state.tokens = min(capacity, state.tokens + amount + seconds * earnedPerSecond)
    }
}
