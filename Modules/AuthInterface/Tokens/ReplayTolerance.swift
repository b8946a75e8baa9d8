/// When a server accepts a refresh token that it has already replaced.
public enum ReplayTolerance: Sendable, Hashable {
    /// Never: a second use may end the session.
    case none

    /// Within a time after the first use.
    case within(Duration)

    /// With the same idempotency key: the server returns its first result again.
    case sameKey
}
