/// When an *ambiguous* refusal of a refresh, such as a bare 401, counts as a rejection (G4).
public enum AmbiguityRule: Sendable, Hashable {
    /// Never: it is always unavailable.
    case never

    /// When the next attempt, after a pause, is refused in the same way.
    case repeated

    /// At once.
    case always
}
