/// Sends failed requests again, where that is safe and helps.
public struct RetryPolicy: RequestInterceptor {
    /// The policy most clients want. Each use makes one with a budget of its own.
    public static var standard: RetryPolicy { RetryPolicy() }

    /// Creates a policy.
    public init() {}
}
