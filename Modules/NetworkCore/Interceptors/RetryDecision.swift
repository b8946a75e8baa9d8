/// Whether a failed request is sent again.
public enum RetryDecision: Sendable, Hashable {
    /// This interceptor does not retry. The next one is asked.
    case doNotRetry

    /// The request is sent again after a pause. `.zero`: at once.
    case retry(after: Duration)
}
