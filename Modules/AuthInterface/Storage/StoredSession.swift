/// The content of a shared store: nothing, the tokens of a session, or the tombstone of an ended session.
public enum StoredSession: Sendable, Hashable {
    /// Nothing is stored, for certain.
    case empty

    /// The tokens of a session.
    case active(TokenBundle)

    /// The session and the reason of its end. A tombstone holds no token.
    case tombstone(SessionTombstone)

    /// The tokens, if there are any.
    public var bundle: TokenBundle? {
        if case .active(let bundle) = self { bundle } else { nil }
    }
}
