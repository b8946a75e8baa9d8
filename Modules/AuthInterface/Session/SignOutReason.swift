/// Why there is no session.
///
/// Two reasons are equal when they are of one kind. Equality ignores the details of an expired session (its
/// ``SessionEnding``), so that a test or a screen can compare with `.expired()`.
public enum SignOutReason: Sendable {
    /// Nothing was stored: there has been no sign-in yet.
    case never

    /// The user signed out, in this process or in another one that shares the store.
    case byUser

    /// The authorization server refused the refresh token, or the access token expired and there is no refresh token.
    /// These are the only reasons for which the engine itself ends a session.
    case expired(SessionEnding)

    /// The application ended the session for a reason of its own, such as "account disabled".
    case application(String)

    /// The session expired, with no details known.
    public static func expired() -> SignOutReason { .expired(SessionEnding()) }

    /// Whether the session expired. The details do not matter.
    public var isExpired: Bool {
        if case .expired = self { true } else { false }
    }
}

extension SignOutReason: Hashable {
    /// Compares the kinds, and an application's reasons by their text.
    public static func == (first: SignOutReason, second: SignOutReason) -> Bool {
        switch (first, second) {
        case (.never, .never), (.byUser, .byUser), (.expired, .expired): true
        case (.application(let first), .application(let second)): first == second
        default: false
        }
    }

    /// Hashes the kind, and an application's text.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .never: hasher.combine(0)
        case .byUser: hasher.combine(1)
        case .expired: hasher.combine(2)
        case .application(let text): hasher.combine(text)
        }
    }
}
