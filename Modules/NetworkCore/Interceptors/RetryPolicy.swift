import AuthInterface
import ConcurrencyPrimitives

/// Sends failed requests again, where that is safe and helps.
///
/// *Safe*: the method is idempotent or the endpoint has an `Idempotency-Key`, and the body can be sent again.
/// *Helps*: there was no answer, or one of a server in passing trouble (408, 425, 429, 500, 502, 503, 504).
///
/// Pauses grow exponentially and are random in full (from nothing to the bound), so that clients that failed together
/// do not come back together. A `Retry-After` is waited for, up to ``maximumRetryAfter``; a server that asks for more
/// gets no retry, and the error says what it asked for.
///
/// All requests of a client share a ``RetryBudget``: when most of them fail, retries stop, and a server in trouble
/// gets little more than its usual traffic.
public struct RetryPolicy: RequestInterceptor {
    /// The most attempts, unless told otherwise.
    public static let defaultAttempts = 3

    /// The bound of the first pause, unless told otherwise.
    public static let defaultBaseDelay: Duration = .milliseconds(500)

    /// The bound that pauses never pass, unless told otherwise.
    public static let defaultMaximumDelay: Duration = .seconds(20)

    /// The longest `Retry-After` that is waited for, unless told otherwise.
    public static let defaultMaximumRetryAfter: Duration = .seconds(60)

    /// The statuses of passing trouble.
    public static let defaultStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

    /// The policy most clients want. Each use makes one with a budget of its own; share it by sharing the client.
    public static var standard: RetryPolicy { RetryPolicy() }

    /// The most attempts, the first one included.
    public let attempts: Int

    /// The bound of the first pause. It doubles with each attempt.
    public let baseDelay: Duration

    /// The bound that pauses never pass.
    public let maximumDelay: Duration

    /// The longest `Retry-After` that is waited for.
    public let maximumRetryAfter: Duration

    /// The statuses worth another attempt.
    public let statuses: Set<Int>

    private let budget: RetryBudget
    private let random: @Sendable () -> Double

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - attempts: The most attempts, the first one included.
    ///   - baseDelay: The bound of the first pause.
    ///   - maximumDelay: The bound that pauses never pass.
    ///   - maximumRetryAfter: The longest `Retry-After` that is waited for.
    ///   - statuses: The statuses worth another attempt.
    ///   - budget: How many retries all requests may make between them.
    ///   - random: Makes random numbers from 0 up to 1.
    public init(
        attempts: Int = defaultAttempts,
        baseDelay: Duration = defaultBaseDelay,
        maximumDelay: Duration = defaultMaximumDelay,
        maximumRetryAfter: Duration = defaultMaximumRetryAfter,
        statuses: Set<Int> = defaultStatuses,
        budget: RetryBudget = RetryBudget(),
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.attempts = attempts
        self.baseDelay = baseDelay
        self.maximumDelay = maximumDelay
        self.maximumRetryAfter = maximumRetryAfter
        self.statuses = statuses
        self.budget = budget
        self.random = random
    }

    /// Counts the call towards the budget.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - context: What is known of the call.
    /// - Returns: The request, unchanged.
    public func adapt(_ request: HTTPRequestHead, context: RequestContext) -> HTTPRequestHead {
        if context.attempt == 1 { budget.deposit(at: context.clock.uptime) }
        return request
    }

    /// Says whether a failed request is sent again.
    ///
    /// - Parameters:
    ///   - failure: Why the attempt failed.
    ///   - context: What is known of the call.
    /// - Returns: Whether and when.
    public func retry(_ failure: NetworkError, context: RequestContext) -> RetryDecision {
        guard context.attempt < attempts, context.isIdempotent, context.isReplayable, helps(against: failure) else {
            return .doNotRetry
        }
        let asked = failure.retryAfter ?? .zero
        guard asked <= maximumRetryAfter, budget.withdraw(at: context.clock.uptime) else { return .doNotRetry }
        return .retry(after: asked + bound(ofPauseAfter: context.attempt) * random())
    }

    private func helps(against failure: NetworkError) -> Bool {
        if failure.code == .unacceptableStatus { return failure.status.map(statuses.contains) ?? false }
        return [.connectionFailed, .timedOut, .transportFailed].contains(failure.code)
    }

    private func bound(ofPauseAfter attempt: Int) -> Duration {
        var bound = baseDelay
        for _ in 1..<max(attempt, 1) where bound < maximumDelay { bound *= 2 }
        return min(bound, maximumDelay)
    }
}
