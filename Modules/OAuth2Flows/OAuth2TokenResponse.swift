import AuthInterface
import NetworkCore

import struct Foundation.Date

/// A successful response of a token endpoint (RFC 6749 §5.1).
struct OAuth2TokenResponse: Decodable, Sendable {
    private var result: TokenRefreshResult
    private let isBearer: Bool

    /// The id token (OpenID Connect Core §3.1.3.3), as it came. `nil`: there is none.
    let idToken: String?

    private enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case tokenType = "token_type"
        case expiresIn = "expires_in"
        case expiresAt = "expires_at"
        case refreshToken = "refresh_token"
        case idToken = "id_token"
    }

    init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        let refreshToken = object.decodeTextIfPresent(forKey: .refreshToken)
        let type = try? object.decodeIfPresent(String.self, forKey: .tokenType)
        idToken = object.decodeTextIfPresent(forKey: .idToken)
        isBearer = type.map { $0.equalsIgnoringASCIICase("bearer") } ?? true
        result = TokenRefreshResult(
            accessToken: try object.decodeAccessToken(forKey: .accessToken, beside: refreshToken),
            refreshToken: refreshToken,
            expiresIn: object.decodeLifetimeIfPresent(forKey: .expiresIn),
            expiresAt: object.decodeExpiryIfPresent(forKey: .expiresAt)?.date(.automatic)
        )
    }

    /// The instant of the response on the server's clock, where known.
    var serverDate: Date? { result.serverDate }

    /// The same tokens with the instant of the response on the server's clock, from which their lifetime counts (G19).
    func issued(at date: Date?) -> OAuth2TokenResponse {
        var copy = self
        copy.result.serverDate = date
        return copy
    }

    /// The tokens. An access token of a type other than `bearer` must not be used (RFC 6749 §7.1): it is left out, and
    /// the new refresh token beside it is kept.
    ///
    /// - Throws: `TokenRefreshError` with code `unavailable` when there is neither a usable access token nor a new
    ///   refresh token.
    func usable(after request: TokenRefreshRequest, status: Int?) throws -> TokenRefreshResult {
        guard !isBearer else { return try result.usable(after: request, status: status) }
        do {
            return try TokenRefreshResult(accessToken: "", refreshToken: result.refreshToken)
                .usable(after: request, status: status)
        } catch {
            let reason = "the server issued an access token that is not a bearer token"
            throw TokenRefreshError(.unavailable, reason: reason, status: status)
        }
    }
}

extension OAuth2TokenResponse {
    /// The tokens of a sign-in.
    ///
    /// - Throws: ``OAuth2SignInError`` with code `invalidResponse` without a bearer token.
    func tokensOfSignIn() throws(OAuth2SignInError) -> TokenRefreshResult {
        guard isBearer, !result.accessToken.isEmpty else {
            throw OAuth2SignInError(.invalidResponse, reason: "the server issued no bearer token")
        }
        return result
    }
}

extension OAuth2TokenResponse: RedactedDescription {
    var description: String { "OAuth2TokenResponse(\(result))" }
}
