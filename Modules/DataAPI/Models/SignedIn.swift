public import AuthInterface
import NetworkCore

import struct Foundation.Date

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

/// The tokens in the response to a login or a refresh.
///
/// A response with a refresh token and no valid access token is read with an empty access token: after a rotation, the
/// refresh token must not be lost. `AuthSession.signIn(_:)` refuses such tokens.
public struct IssuedTokens: Sendable, Hashable, Decodable {
    /// The tokens for the session.
    public private(set) var result: TokenRefreshResult

    /// Creates the value.
    ///
    /// - Parameter result: The issued tokens.
    public init(_ result: TokenRefreshResult) {
        self.result = result
    }

    private enum CodingKeys: String, CodingKey {
        case accessToken, refreshToken, expiresIn, expiresAt
    }

    /// Reads `accessToken`, and if present `refreshToken`, `expiresIn` (seconds from the response) and `expiresAt` (an
    /// ISO 8601 date, or seconds or milliseconds since 1970, on the server's clock).
    ///
    /// - Parameter decoder: The decoder.
    /// - Throws: `DecodingError` when there is neither an access token nor a refresh token.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        let refreshToken = object.decodeTextIfPresent(forKey: .refreshToken)
        result = TokenRefreshResult(
            accessToken: try object.decodeAccessToken(forKey: .accessToken, beside: refreshToken),
            refreshToken: refreshToken,
            expiresIn: object.decodeLifetimeIfPresent(forKey: .expiresIn),
            expiresAt: object.decodeInstantIfPresent(forKey: .expiresAt)
        )
    }
}

extension IssuedTokens {
    /// The same tokens with the instant of the response on the server's clock, from which their lifetime counts (G19).
    func issued(at date: Date?) -> IssuedTokens {
        var copy = self
        copy.result.serverDate = date
        return copy
    }
}

extension IssuedTokens: RedactedDescription {
    /// The kinds of the issued tokens; never a token (G17).
    public var description: String { "IssuedTokens(\(result))" }
}
