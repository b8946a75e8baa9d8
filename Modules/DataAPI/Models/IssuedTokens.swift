public import AuthInterface
import NetworkCore

import struct Foundation.Date

/// The tokens in a response of the server: to a login, or to a refresh.
///
/// A response with a refresh token and no usable access token is read too, with an empty access token: after a rotation
/// the refresh token must not be lost. `AuthSession.signIn(_:)` refuses such tokens.
public struct IssuedTokens: Sendable, Hashable, Decodable {
    /// What the session is to be given.
    public private(set) var result: TokenRefreshResult

    /// Takes tokens.
    ///
    /// - Parameter result: What the server issued.
    public init(_ result: TokenRefreshResult) {
        self.result = result
    }

    private enum CodingKeys: String, CodingKey {
        case accessToken, refreshToken, expiresIn, expiresAt
    }

    /// Reads tokens: `accessToken`, and where they are there `refreshToken`, `expiresIn` (seconds from the response) and
    /// `expiresAt` (an ISO 8601 date, or seconds or milliseconds since 1970, on the server's clock).
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
    /// What was issued; never a token (G17).
    public var description: String { "IssuedTokens(\(result))" }
}
