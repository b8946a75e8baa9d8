/// The token one request carries, and where it came from.
///
/// A request that is refused hands its token back to ``TokenProvider/replacement(after:)``. From ``session`` and
/// ``generation`` the provider tells a token that was refused *late* from one that is refused *now*, and a request of
/// the user who left from one of the user who is here.
public struct SessionToken: Sendable {
    /// The access token.
    public let value: String

    /// The refresh token, for the rare server that wants both in header fields. `nil` where there is none.
    public let refreshToken: String?

    /// The login the token belongs to.
    public let session: SessionID

    /// The generation of the bundle the token came from.
    public let generation: Int

    /// When and how the engine handed the token out. Equality ignores it.
    package var handout = Handout()

    /// What the engine recognizes a token's request by when the server refuses it.
    package struct Handout: Sendable, Hashable {
        /// How many refreshes of the session had failed in this process.
        package var failures = 0

        /// When the token was given in place of a refused one, on the engine's monotonic clock. `nil`: it was not.
        package var replacedAt: Duration?

        package init(failures: Int = 0, replacedAt: Duration? = nil) {
            self.failures = failures
            self.replacedAt = replacedAt
        }
    }

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

extension SessionToken: Hashable {
    /// Compares what a request carries and where it came from.
    public static func == (first: SessionToken, second: SessionToken) -> Bool {
        first.generation == second.generation && first.value == second.value
            && first.refreshToken == second.refreshToken && first.session == second.session
    }

    /// Feeds what equality compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(value)
        hasher.combine(generation)
        hasher.combine(session)
    }
}

extension SessionToken: RedactedDescription {
    /// The session and generation; never the token.
    public var description: String { "SessionToken(session: \(session), generation: \(generation))" }
}
