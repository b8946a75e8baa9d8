public import struct Foundation.Date

/// The tokens a server has just issued: the answer to a refresh, or to a login.
///
/// Only the access token is certain. A server that does not rotate refresh tokens sends none, and the old one stays
/// (RFC 6749 §6); one that says nothing of the lifetime leaves it to the token itself, if that is a JWT.
public struct TokenRefreshResult: Sendable, Hashable {
    /// The new access token.
    public var accessToken: String

    /// The new refresh token. `nil`: the one that was used stays good.
    public var refreshToken: String?

    /// How long the access token is good from its receipt (`expires_in`, RFC 6749 §5.1). `nil`: not said.
    public var expiresIn: Duration?

    /// The instant of the answer on the server's clock (the `Date` header field, RFC 9110 §6.6.1), where known.
    public var serverDate: Date?

    /// Creates a result.
    ///
    /// - Parameters:
    ///   - accessToken: The new access token.
    ///   - refreshToken: The new refresh token, or `nil` to keep the old one.
    ///   - expiresIn: How long the access token is good from its receipt.
    ///   - serverDate: The instant of the answer on the server's clock.
    public init(
        accessToken: String,
        refreshToken: String? = nil,
        expiresIn: Duration? = nil,
        serverDate: Date? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresIn = expiresIn
        self.serverDate = serverDate
    }
}

extension TokenRefreshResult: SecretBearing {
    /// What was issued; never a token.
    public var description: String {
        let lifetime = expiresIn.map { "\($0)" } ?? "unknown"
        return "TokenRefreshResult(expiresIn: \(lifetime), rotated: \(refreshToken != nil))"
    }
}
