public import struct Foundation.Date

/// The tokens that a server has just issued: the response to a refresh, or to a login.
///
/// Only the access token is certain. A server that does not rotate refresh tokens sends none, and the old one stays
/// (RFC 6749 §6). Without a lifetime, the expiry in the token itself is used if it is a JWT.
public struct TokenRefreshResult: Sendable, Hashable {
    /// The new access token.
    public var accessToken: String

    /// The new refresh token. `nil`: the old one stays valid.
    public var refreshToken: String?

    /// How long the access token is valid from the response on (`expires_in`, RFC 6749 §5.1). `nil`: not known. The
    /// engine counts it from the sending of the call.
    public var expiresIn: Duration?

    /// When the access token expires, on the server's clock, for a server that sends an instant in place of a lifetime.
    /// ``expiresIn`` wins where both are given. `nil`: not known.
    public var expiresAt: Date?

    /// The instant of the response on the server's clock (the `Date` header field, RFC 9110 §6.6.1), where known.
    public var serverDate: Date?

    /// The key to which the tokens are bound (DPoP, RFC 9449), with the last nonces of the servers. `nil`: as before,
    /// in a refresh; in a sign-in, none.
    public var binding: TokenBinding?

    /// Whose tokens they are. `nil`: not known; the subject of the session stays. Tokens of another subject than the
    /// session's are not used (G31): see ``TokenSubject`` for which sources may name one.
    public var subject: TokenSubject?

    /// Whose tokens they claim to be, by an id token that could not be checked. It is compared with the session's
    /// subject and never recorded (G31). `nil`: nothing is claimed.
    public var claimedSubject: TokenSubject?

    /// Why the id token beside the tokens says nothing: its check has failed, or could not be made. The engine reports
    /// it. It must not contain a secret.
    package var idTokenProblem: String?

    /// The scope of the access token, separated by spaces (RFC 6749 §3.3). `nil`: the one that was asked for
    /// (RFC 6749 §5.1).
    public var scope: String?

    /// The scope that this access token was asked for, separated by spaces. `nil`: that of the token before it. If
    /// ``scope`` is narrower, the engine reports it (G31).
    public var requestedScope: String?

    /// The expiry as the server wrote it, if it was ignored because it cannot be placed in time. The engine reports it.
    /// It must not contain a secret.
    package var unreadExpiry: String?

    /// Why the response has no usable access token, where it has a refresh token alone: the type of the token that
    /// came, or the names of the members. The engine reports it. It must not contain a secret.
    package var accessTokenProblem: String?

    /// Creates a result.
    public init(
        accessToken: String,
        refreshToken: String? = nil,
        expiresIn: Duration? = nil,
        expiresAt: Date? = nil,
        serverDate: Date? = nil,
        subject: TokenSubject? = nil,
        scope: String? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresIn = expiresIn
        self.expiresAt = expiresAt
        self.serverDate = serverDate
        self.subject = subject
        self.scope = scope
    }

    /// Whether the response has a refresh token. Some servers send an empty one.
    package var bringsRefreshToken: Bool { refreshToken?.isEmpty == false }
}

extension TokenRefreshResult: RedactedDescription {
    /// What was issued; never a token.
    public var description: String {
        let lifetime = expiresIn.map { "\($0)" } ?? expiresAt.map { "until \($0.shown)" } ?? "unknown"
        return "TokenRefreshResult(expiresIn: \(lifetime), rotated: \(refreshToken != nil))"
    }
}
