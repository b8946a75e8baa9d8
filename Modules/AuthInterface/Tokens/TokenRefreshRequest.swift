/// The argument of a refresh.
public struct TokenRefreshRequest: Sendable {
    /// The current refresh token. It is empty only for a handler that needs none.
    public let refreshToken: String

    /// The access token that is to be replaced: some servers require both.
    public let accessToken: String

    /// The login that the tokens belong to.
    public let session: SessionID

    /// A random text that stays the same until a response has been applied, through lost responses and restarts. A
    /// server that receives it with the call, for example as `Idempotency-Key`, can return its first result again.
    public let idempotencyKey: String

    /// The key to which the tokens are bound (DPoP, RFC 9449), with the nonces that were stored. `nil`: none. A call
    /// without a proof of that key must not be made: a server may take it for theft.
    public var binding: TokenBinding?

    /// The right to start the call, which ends when another process may count it as not made (G28). `nil`: it has no
    /// end, as in a test.
    ///
    /// The engine checks it directly before it calls the handler. A handler that waits before it writes, for a
    /// connection or for another call, passes it on to what writes.
    public package(set) var startPermit: StartPermit?

    /// The instant after which no byte of the call may be written (G28): ``startPermit`` on the clock that counts while
    /// the device sleeps. A call that cannot be written by then must not be made.
    public var mustStartBefore: ContinuousClock.Instant? { startPermit.map { .now + $0.timeLeft } }

    /// Creates a request.
    public init(
        refreshToken: String, accessToken: String = "", session: SessionID = SessionID(), idempotencyKey: String = "",
        startPermit: StartPermit? = nil
    ) {
        self.refreshToken = refreshToken
        self.accessToken = accessToken
        self.session = session
        self.idempotencyKey = idempotencyKey
        self.startPermit = startPermit
    }
}

extension TokenRefreshRequest: RedactedDescription {
    /// The session; never a token or the key.
    public var description: String { "TokenRefreshRequest(session: \(session))" }
}
