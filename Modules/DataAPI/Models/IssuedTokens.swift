public import AuthInterface

/// The tokens in an answer of our server: to a login, or to a refresh.
///
/// An access token that is empty is an answer that cannot be read, and not one that signs anybody in.
public struct IssuedTokens: Sendable, Hashable, Decodable {
    /// What the session is to be given.
    public let result: TokenRefreshResult

    /// Takes tokens.
    ///
    /// - Parameter result: What the server issued.
    public init(_ result: TokenRefreshResult) {
        self.result = result
    }

    private enum CodingKeys: String, CodingKey {
        case accessToken, refreshToken, expiresIn
    }

    /// Reads tokens: `accessToken`, and where they are there `refreshToken` and `expiresIn` (seconds from the answer).
    ///
    /// - Parameter decoder: Where to read from; ``DatedFormat`` puts the time of the answer there too.
    /// - Throws: `DecodingError` when there is no access token.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        let accessToken = try object.decode(String.self, forKey: .accessToken)
        guard !accessToken.isEmpty else {
            throw DecodingError.dataCorruptedError(
                forKey: .accessToken, in: object, debugDescription: "the access token is empty"
            )
        }
        let refreshToken = try object.decodeIfPresent(String.self, forKey: .refreshToken)
        result = TokenRefreshResult(
            accessToken: accessToken,
            refreshToken: refreshToken.flatMap { $0.isEmpty ? nil : $0 },
            expiresIn: object.decodeLifetimeIfPresent(forKey: .expiresIn),
            serverDate: decoder.answeredAt
        )
    }
}

extension IssuedTokens: SecretBearing {
    /// What was issued; never a token (G17).
    public var description: String { "IssuedTokens(\(result))" }
}
