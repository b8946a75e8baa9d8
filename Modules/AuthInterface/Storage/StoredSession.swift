/// The content of a shared store: nothing, the tokens of a session, or the note that a session has ended.
public enum StoredSession: Sendable, Hashable {
    /// Nothing is stored, for certain.
    case empty

    /// The tokens of a session.
    case active(TokenBundle)

    /// A session that has ended, and why. It holds no token.
    case ended(EndedSession)

    /// The tokens, if there are any.
    public var bundle: TokenBundle? {
        if case .active(let bundle) = self { bundle } else { nil }
    }
}
