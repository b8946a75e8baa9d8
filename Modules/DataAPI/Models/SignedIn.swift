public import AuthInterface
import NetworkCore

import struct Foundation.Date

/// The response to a login: the tokens of the session, and the user where it names one.
public struct SignedIn: Sendable, Hashable, Decodable {
    /// The user. `nil`: there is none in the response, or none that can be read.
    public let user: User?

    /// The tokens of the session.
    public let tokens: IssuedTokens

    /// Creates a response.
    public init(user: User?, tokens: IssuedTokens) {
        self.user = user
        self.tokens = tokens
    }

    private enum CodingKeys: String, CodingKey { case user }

    /// Reads the tokens, and the `user` beside them, without whom no token is dropped.
    ///
    /// - Throws: `DecodingError` when there is neither an access token nor a refresh token.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        self.init(user: try? object.decodeIfPresent(User.self, forKey: .user), tokens: try IssuedTokens(from: decoder))
    }
}

/// The tokens in the response to a login or a refresh.
///
/// A response with a refresh token and no valid access token is read with an empty access token: after a rotation, the
/// refresh token must not be lost. `AuthSession.signIn(_:)` refuses such tokens.
public struct IssuedTokens: Sendable, Hashable, Decodable {
    /// The tokens for the session.
    public private(set) var result: TokenRefreshResult

    /// The instant of expiry as the server wrote it.
    private var expiry: IssuedExpiry?

    /// Creates the value.
    public init(_ result: TokenRefreshResult) { self.result = result }

    private enum CodingKeys: String, CodingKey {
        case accessToken, refreshToken, expiresIn, expiresAt, user
        case access_token, refresh_token, expires_in, expires_at
    }

    /// The user beside the tokens, where a response has one.
    private struct Owner: Decodable { let id: User.ID }

    /// Reads `accessToken`, and if present `refreshToken`, `expiresIn` (seconds from the response) and `expiresAt` (on
    /// the server's clock, written as `TokenDates.automatic` says), in camel case or in snake case. The `id` of a
    /// `user` beside them is the subject of the tokens (G31).
    ///
    /// - Throws: `DecodingError` when there is neither an access token nor a refresh token.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        func key(_ camelCase: CodingKeys, or snakeCase: CodingKeys) -> CodingKeys {
            !object.contains(camelCase) && object.contains(snakeCase) ? snakeCase : camelCase
        }
        let refreshToken = object.decodeTextIfPresent(forKey: key(.refreshToken, or: .refresh_token))
        let accessTokenKey = key(.accessToken, or: .access_token)
        result = TokenRefreshResult(
            accessToken: try object.decodeAccessToken(forKey: accessTokenKey, beside: refreshToken),
            refreshToken: refreshToken,
            expiresIn: object.decodeLifetimeIfPresent(forKey: key(.expiresIn, or: .expires_in)),
            subject: (try? object.decodeIfPresent(Owner.self, forKey: .user)).flatMap { TokenSubject($0.id) })
        if result.accessToken.isEmpty { result.accessTokenProblem = JSONValue.namesOfMembers(from: decoder) }
        expiry = object.decodeExpiryIfPresent(forKey: key(.expiresAt, or: .expires_at))
        self = reading(.automatic)
    }

    /// The same tokens with the instant of expiry read as a server writes it. One that cannot be placed is reported by
    /// the session, unless there is a lifetime.
    func reading(_ dates: TokenDates) -> IssuedTokens {
        guard let expiry else { return self }
        var copy = self
        copy.result.expiresAt = expiry.date(dates)
        let isIgnored = copy.result.expiresAt == nil && result.expiresIn == nil
        copy.result.unreadExpiry = isIgnored ? expiry.shown : nil
        return copy
    }

    /// The same tokens with the instant of the response on the server's clock, from which their lifetime counts (G19).
    func issued(at date: Date?) -> IssuedTokens {
        var copy = self
        copy.result.serverDate = date
        return copy
    }
}

extension TokenSubject {
    /// A user of the server. There is one server for a session, so the issuer says only that it has named the user.
    init?(_ user: User.ID) { self.init(issuer: "user", id: user.rawValue) }
}

extension IssuedTokens: RedactedDescription {
    /// The kinds of the issued tokens; never a token (G17).
    public var description: String { "IssuedTokens(\(result))" }
}
