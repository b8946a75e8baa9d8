/// The durations of a ``SessionFollower``.
public struct FollowerPolicy: Sendable, Hashable {
    /// The longest time that a request waits for the owner's next bundle, when the token has expired or was refused.
    /// Then it fails with code `refreshUnavailable`; the session is kept.
    public var bundleWait: Duration = .seconds(10)

    /// The pause between two reads of a source that cannot report changes, or that could not be read. A sign-out of the
    /// owner is noticed within this time.
    public var polling: Duration = .seconds(2)

    /// How long one read of the source may take before it counts as failed.
    public var readLimit: Duration = .seconds(10)

    /// How long before its expiry a token is too old to send. At most a tenth of the token's lifetime counts.
    public var leeway: Duration = .seconds(5)

    /// Creates a policy with the defaults.
    public init() {}

    /// What the rules of a token's expiry need. A follower has no window for a refresh.
    var expiry: TokenRefreshPolicy {
        var policy = TokenRefreshPolicy()
        (policy.leeway, policy.ahead) = (leeway, leeway)
        return policy
    }
}
