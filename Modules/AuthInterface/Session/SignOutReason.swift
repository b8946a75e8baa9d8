/// Why no user is signed in.
///
/// Two reasons are equal when they are of one kind. Equality ignores the details of an expired session (its
/// ``SessionEnding``) and of a lost one (its ``SessionSighting``), so that a test or a screen can compare with
/// `.expired()` or `.lost()`.
public enum SignOutReason: Sendable {
    /// Nothing was stored: there has been no sign-in yet.
    case never

    /// The user signed out, in this process or in another one that shares the store.
    case byUser

    /// The authorization server refused the refresh token, or the access token of a session without a refresh token
    /// expired. These are the only reasons for which the engine itself ends a session.
    indirect case expired(SessionEnding)

    /// The application ended the session for another reason, such as "account disabled".
    case application(String)

    /// A session was there, and nothing that the store keeps says that it ended: its tokens have vanished (G30).
    /// Nothing was deleted or revoked: where the same tokens are there again, the user is signed in again. The sighting
    /// says where and when they were last seen; `nil`: not known.
    indirect case lost(SessionSighting?)

    /// The session expired, with no details known.
    public static func expired() -> SignOutReason { .expired(SessionEnding()) }

    /// The session is lost, with no details known.
    public static func lost() -> SignOutReason { .lost(nil) }

    /// Whether the session expired. The details do not matter.
    public var isExpired: Bool { if case .expired = self { true } else { false } }
}

extension SignOutReason: Hashable {
    /// Compares the kinds, and an application's reasons by their text.
    public static func == (first: SignOutReason, second: SignOutReason) -> Bool { first.compared == second.compared }

    /// Hashes the kind, and an application's text.
    public func hash(into hasher: inout Hasher) { hasher.combine(compared) }

    private var compared: [String] {
        switch self {
        case .never: ["never"]
        case .byUser: ["byUser"]
        case .expired: ["expired"]
        case .application(let text): ["application", text]
        case .lost: ["lost"]
        }
    }
}
