/// The content of a shared store: nothing, the tokens of a session, or the tombstone of an ended session.
public enum StoredSession: Sendable, Hashable {
    /// Nothing is stored, for certain.
    case empty

    /// The tokens of a session.
    case active(TokenBundle)

    /// The session and the reason of its end. A tombstone holds no token.
    indirect case tombstone(SessionTombstone)

    /// The tokens, if there are any.
    public var bundle: TokenBundle? { if case .active(let bundle) = self { bundle } else { nil } }

    /// The content for a follower (G29): no refresh token, and no intent.
    public var withoutRefreshToken: StoredSession {
        if case .active(let bundle) = self { .active(bundle.withoutRefreshToken) } else { self }
    }
}

extension TokenBundle {
    /// Whether the bundle may replace what is stored.
    ///
    /// A holder whose lease has expired may save the response to a refresh after another process has refreshed: its
    /// refresh token has been used, and would end the session at the next refresh (G13). So a bundle of the same
    /// session is replaced only by a later generation or by the same tokens, and an ended session by another session
    /// only.
    package func mayReplace(_ stored: StoredSession) -> Bool {
        switch stored {
        case .active(let stored) where stored.session == session: supersedes(stored) || hasSameTokens(as: stored)
        case .tombstone(let tombstone): tombstone.session != session
        case .empty, .active: true
        }
    }
}

extension TokenStoreError {
    /// A bundle that may not replace what is stored.
    package static func superseded(_ bundle: TokenBundle) -> TokenStoreError {
        TokenStoreError(
            .superseded, reason: "a later state of session \(bundle.session) is stored; load the store again")
    }
}
