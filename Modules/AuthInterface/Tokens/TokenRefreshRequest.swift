/// The argument of a refresh.
public struct TokenRefreshRequest: Sendable, Hashable {
    /// The current refresh token. It is never empty.
    public let refreshToken: String

    /// The access token that is to be replaced: some servers require both.
    public let accessToken: String

    /// The login that the tokens belong to.
    public let session: SessionID

    /// A random text that stays the same until a response has been applied, through lost responses and restarts. A
    /// server that receives it with the call, for example as `Idempotency-Key`, can return its first result again.
    public let idempotencyKey: String

    /// Creates a request.
    public init(
        refreshToken: String,
        accessToken: String = "",
        session: SessionID = SessionID(),
        idempotencyKey: String = ""
    ) {
        self.refreshToken = refreshToken
        self.accessToken = accessToken
        self.session = session
        self.idempotencyKey = idempotencyKey
    }
}

extension TokenRefreshRequest: RedactedDescription {
    /// The session; never a token or the key.
    public var description: String { "TokenRefreshRequest(session: \(session))" }
}
