import ConcurrencyPrimitives

/// Sends failed requests again, if that is safe and may help.
///
/// It is safe if the method is idempotent or the endpoint has an `Idempotency-Key`, and the body can be sent again. It
/// may help if there was no response, or one with a transient status: one of ``statuses``, a 403 with a pause or for a
/// used-up limit, a 409 with a pause while the first call with the key goes on, or a 421, once, on a new connection.
///
/// Pauses use exponential backoff with full jitter (a random part of a bound that doubles), so that clients that failed
/// together do not retry together. What the server asks for (`Retry-After`, `retry-after-ms`, the reset of a limit) is
/// added, up to ``maximumRetryAfter``; when a server asks for more, the call fails and its error has the pause.
///
/// All requests of a client share a ``RetryBudget``: when most of them fail, retries stop, so that a failing server
/// gets little more than its usual traffic.
public struct RetryPolicy: RequestInterceptor {
    /// A policy with the defaults and a new budget.
    public static var standard: RetryPolicy { RetryPolicy() }

    /// The most attempts, the first one included. One with a token in place of one that was refused, or with a proof
    /// that a server asked for, does not count.
    public var attempts: Int

    /// The bound of the first pause. It doubles with each attempt.
    public var baseDelay: Duration

    /// The bound at which doubling stops.
    public var maximumDelay: Duration = .seconds(20)

    /// The longest pause of a server after which a request is sent again.
    public var maximumRetryAfter: Duration = .seconds(60)

    /// The statuses after which a request is sent again, among them those of Cloudflare (520 and more).
    public var statuses: Set = [408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 525, 526, 527, 529, 530]

    /// The longest wait for a connection. After it, the request is not sent again. The deadline may be earlier.
    public var maximumWait: Duration = .seconds(60)

    /// Returns when a request that had no connection may be sent again: when there is a connection to the internet, or
    /// the application is in the foreground, as in `{ _ in await network.isReachable() }`. It is cancelled with the
    /// call. `nil`: the policy pauses.
    public var waitUntilReady: (@Sendable (NetworkError) async throws -> Void)?

    /// The retries that all requests share.
    public var budget = RetryBudget()

    /// Returns random numbers in `0..<1`.
    package var random: @Sendable () -> Double = { Double.random(in: 0..<1) }

    /// Creates a policy with a new budget.
    public init(attempts: Int = 3, baseDelay: Duration = .milliseconds(500)) {
        (self.attempts, self.baseDelay) = (attempts, baseDelay)
    }

    /// Counts the call towards the budget.
    public func adapt(_ request: HTTPRequestHead, context: RequestContext) -> HTTPRequestHead {
        if context.attempt == 1 { budget.deposit(at: context.clock.uptime) }
        return request
    }

    /// Decides whether a failed request is sent again.
    ///
    /// - Throws: `CancellationError` when the task is cancelled; what `waitUntilReady` throws.
    public func retry(_ failure: NetworkError, context: RequestContext) async throws -> RetryDecision {
        let attempt = context.retries + 1
        guard attempt < attempts, context.isIdempotent, context.isReplayable, helps(against: failure, context) else {
            return .doNotRetry
        }
        let asked = failure.retryAfter ?? .zero
        guard asked <= maximumRetryAfter, budget.withdraw(at: context.clock.uptime) else { return .doNotRetry }
        guard let waitUntilReady, failure.code == .connectionFailed else {
            let backoff = Backoff(base: baseDelay, limit: maximumDelay, floor: .zero)
            return .retry(after: asked + backoff.bound(afterFailures: attempt) * random())
        }
        let isReady: Bool? = try await context.clock.withDeadline(context.clock.uptime + maximumWait) {
            try await waitUntilReady(failure)
            return true
        }
        // All that waited are ready at once: the jitter of the first pause keeps them from being sent in step.
        return isReady == true ? .retry(after: min(baseDelay, maximumDelay) * random()) : .doNotRetry
    }

    private func helps(against failure: NetworkError, _ context: RequestContext) -> Bool {
        guard failure.code == .unacceptableStatus, let status = failure.status else {
            return [.connectionFailed, .timedOut, .transportFailed].contains(failure.code)
        }
        return switch status {
        case _ where statuses.contains(status): true
        case 403: failure.retryAfter != nil || failure.response?.isLimited == true
        case 409: failure.retryAfter != nil && context.hasIdempotencyKey
        case 421: !context.needsNewConnection
        default: false
        }
    }
}

/// The retries that all requests of a client share.
///
/// It is a token bucket: each retry takes a token, each call adds a part of one, and so does time, so that a client
/// with few calls can retry too. While calls succeed, it is full. In an outage, retries fall to a tenth of the traffic.
public final class RetryBudget: Sendable {
    private struct State {
        var tokens: Double
        var updatedAt: Duration?
    }

    private let capacity: Double
    private let earnedPerCall: Double
    private let earnedPerSecond: Double
    private let state: Locked<State>

    /// Creates a full budget: the most retries that are saved, and those that one call and one second add.
    public init(capacity: Double = 20, earnedPerCall: Double = 0.1, earnedPerSecond: Double = 0.1) {
        self.capacity = capacity
        self.earnedPerCall = earnedPerCall
        self.earnedPerSecond = earnedPerSecond
        state = Locked(State(tokens: capacity))
    }

    func deposit(at uptime: Duration) { state.withLock { earn(earnedPerCall, at: uptime, &$0) } }

    /// Takes a retry, where there is one.
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
