/// The response to a login: the user, and the tokens of the session.
public struct SignedIn: Sendable, Hashable, Decodable {
    /// The user.
    public let user: User

    /// The tokens of the session.
    public let tokens: IssuedTokens

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - tokens: The tokens of the session.
    public init(user: User, tokens: IssuedTokens) {
        self.user = user
        self.tokens = tokens
    }

    private enum CodingKeys: String, CodingKey {
        case user
    }

    /// Reads `user`, and the tokens beside it.
    ///
    /// - Parameter decoder: The decoder.
    /// - Throws: `DecodingError` when there is no user, or neither an access token nor a refresh token.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        self.init(user: try object.decode(User.self, forKey: .user), tokens: try IssuedTokens(from: decoder))
    }
}
