import AuthInterface
import NetworkCore

import struct Foundation.Date
import struct Foundation.URL

/// A successful response of a token endpoint (RFC 6749 §5.1).
struct OAuth2TokenResponse: Decodable, Sendable {
    fileprivate var result: TokenRefreshResult
    private let type: String

    /// The id token (OpenID Connect Core §3.1.3.3), as it came. `nil`: there is none.
    let idToken: String?

    private enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case tokenType = "token_type"
        case expiresIn = "expires_in"
        case expiresAt = "expires_at"
        case expiresOn = "expires_on"
        case refreshToken = "refresh_token"
        case idToken = "id_token"
        case scope
    }

    init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        let refreshToken = object.decodeTextIfPresent(forKey: .refreshToken)
        let expiries = [.expiresAt, .expiresOn].compactMap { object.decodeExpiryIfPresent(forKey: $0) }
        type = (try? object.decodeIfPresent(String.self, forKey: .tokenType)) ?? ""
        idToken = object.decodeTextIfPresent(forKey: .idToken)
        result = TokenRefreshResult(
            accessToken: try object.decodeAccessToken(forKey: .accessToken, beside: refreshToken),
            refreshToken: refreshToken,
            expiresIn: object.decodeLifetimeIfPresent(forKey: .expiresIn),
            expiresAt: expiries.lazy.compactMap { $0.date(.automatic) }.first,
            scope: try? object.decodeIfPresent(String.self, forKey: .scope))
        if result.expiresAt == nil, result.expiresIn == nil { result.unreadExpiry = expiries.first?.shown }
        if result.accessToken.isEmpty { result.accessTokenProblem = JSONValue.namesOfMembers(from: decoder) }
    }

    /// The tokens as they came.
    var bundle: TokenBundle { TokenBundle(accessToken: result.accessToken, refreshToken: result.refreshToken) }

    /// The instant of the response on the server's clock, where known.
    var serverDate: Date? { result.serverDate }

    /// Whether the access token is of a type. A server may leave out which it is.
    private func isToken(of expected: OAuth2TokenUse, _ client: OAuth2Client) -> Bool {
        type.isEmpty || type.equalsIgnoringASCIICase(expected.rawValue)
            || (expected == .bearer && type.isOne(of: client.bearerTokenTypes))
    }

    /// The tokens. An access token of a type other than the expected one must not be used (RFC 6749 §7.1, RFC 9449
    /// §5): it is left out, and the new refresh token beside it is kept.
    ///
    /// - Throws: `TokenRefreshError` with code `unavailable` when there is neither a usable access token nor a new
    ///   refresh token.
    func usable(
        after request: TokenRefreshRequest, of client: OAuth2Client, status: Int?
    ) throws -> TokenRefreshResult {
        let expected: OAuth2TokenUse = request.binding == nil ? .bearer : .dpop
        guard !isToken(of: expected, client) else { return try result.usable(after: request, status: status) }
        let name = type.asIdentifier(withoutQuoting: [result.accessToken, result.refreshToken])
        let reason =
            "the access token is of type \(name), not \(expected.rawValue); if requests carry it as one, add "
            + "the type to OAuth2Client.bearerTokenTypes"
        var unusable = TokenRefreshResult(
            accessToken: "", refreshToken: result.refreshToken, subject: result.subject)
        unusable.accessTokenProblem = reason
        do {
            return try unusable.usable(after: request, status: status)
        } catch {
            throw TokenRefreshError(.unavailable, reason: reason, status: status)
        }
    }

    /// The tokens of a sign-in, bound to its key if it has one.
    ///
    /// - Throws: ``OAuth2SignInError`` with code `invalidResponse` without a token of the type.
    func tokensOfSignIn(
        of client: OAuth2Client, boundBy key: DPoPTokenCall? = nil
    ) throws(OAuth2SignInError) -> TokenRefreshResult {
        let expected: OAuth2TokenUse = key == nil ? .bearer : .dpop
        guard isToken(of: expected, client), result.accessToken.fitsHeaderField else {
            throw OAuth2SignInError(.invalidResponse, reason: "the server issued no \(expected.rawValue) token")
        }
        var tokens = result
        tokens.binding = key?.binding
        return tokens
    }
}

extension Endpoint<OAuth2TokenResponse> {
    /// A call for tokens. Their lifetime counts from the instant of the response on the server's clock (G19).
    static func tokens(at endpoint: URL, _ body: RequestBody) -> Self {
        Self.post(.url(endpoint), body: body).map { response, head in
            var response = response
            response.result.serverDate = head.serverDate
            return response
        }
    }
}

extension TokenRefreshResult {
    /// The tokens of a sign-in, with the scope that it asked for, and with the user whom its id token names (G31).
    func ofSignIn(asking scope: String?, _ idToken: IDToken?) -> TokenRefreshResult {
        var tokens = self
        tokens.requestedScope = scope
        tokens.subject = idToken.flatMap { TokenSubject(issuer: $0.issuer, id: $0.subject) }
        return tokens
    }
}

/// How an access token is used (RFC 6749 §7.1).
enum OAuth2TokenUse: String {
    /// By any holder (RFC 6750).
    case bearer
    /// With a proof of a key (RFC 9449).
    case dpop = "DPoP"
}

extension OAuth2TokenResponse: RedactedDescription {
    var description: String { "OAuth2TokenResponse(\(result))" }
}
