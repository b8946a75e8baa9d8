import ConcurrencyPrimitives

/// The retries that all requests of a client share.
///
/// It is a token bucket: each retry takes a token, each call adds a part of one, and so does time, so that a client
/// with few calls can retry too. While calls succeed, the bucket is full. In an outage it is empty, and retries fall to
/// a tenth of the traffic.
public final class RetryBudget: Sendable {
    /// The default of the most retries that are saved.
    public static let defaultCapacity = 20.0

    /// The default of the retries that one call adds.
    public static let defaultEarnedPerCall = 0.1

    /// The default of the retries that one second adds.
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
    ///   - capacity: The most retries that are saved.
    ///   - earnedPerCall: The retries that one call adds.
    ///   - earnedPerSecond: The retries that one second adds.
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

    /// Takes a retry.
    ///
    /// - Returns: Whether there was one.
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
