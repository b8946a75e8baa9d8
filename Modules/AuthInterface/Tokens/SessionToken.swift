/// The token one request carries, and where it came from.
///
/// A request that is refused hands its token back to ``TokenProvider/replacement(for:)``. From ``session`` and
/// ``generation`` the provider tells a token that was refused *late* from one that is refused *now*, and a request of
/// the user who left from one of the user who is here.
public struct SessionToken: Sendable, Hashable {
    /// The access token.
    public let value: String

    /// The refresh token, for the rare server that wants both in header fields. `nil` where there is none.
    public let refreshToken: String?

    /// The login the token belongs to.
    public let session: SessionID

    /// The generation of the bundle the token came from.
    public let generation: Int

    /// Creates a token.
    ///
    /// - Parameters:
    ///   - value: The access token.
    ///   - refreshToken: The refresh token, where header fields need it.
    ///   - session: The login the token belongs to.
    ///   - generation: The generation of its bundle.
    public init(value: String, refreshToken: String? = nil, session: SessionID, generation: Int) {
        self.value = value
        self.refreshToken = refreshToken
        self.session = session
        self.generation = generation
    }
}

extension SessionToken: SecretBearing {
    /// The session and generation; never the token.
    public var description: String { "SessionToken(session: \(session), generation: \(generation))" }
}
