public import AuthInterface
public import Foundation
import NetworkCore

/// What a server has issued in exchange for another token (RFC 8693 §2.2.1).
public struct OAuth2ExchangedToken: Sendable, Hashable {
    /// The token. It is an access token only where ``type`` says so.
    public let value: String

    /// What kind of token it is.
    public let type: OAuth2TokenType

    /// Whether it is sent as `Bearer`. If not, it is no access token, and goes into a call that takes its type.
    public let isBearer: Bool

    /// How long it is valid from the response on. `nil`: not known.
    public let expiresIn: Duration?

    /// Its scope, separated by spaces. `nil`: as it was asked for.
    public let scope: String?

    /// A refresh token, which few servers issue here. `nil`: the exchange is made again.
    public let refreshToken: String?

    /// The instant of the response on the server's clock, where known.
    public private(set) var serverDate: Date?

    func issued(at date: Date?) -> OAuth2ExchangedToken {
        var copy = self
        copy.serverDate = date
        return copy
    }

    /// The token, if it is of the type that was asked for.
    func checked(against requested: OAuth2TokenType?) throws(OAuth2SignInError) -> OAuth2ExchangedToken {
        guard requested == nil || requested == type else {
            let issued = type.rawValue.asIdentifier(withoutQuoting: [value, refreshToken])
            throw OAuth2SignInError(.invalidResponse, reason: "the server issued a token of another type: \(issued)")
        }
        guard isBearer || type != .accessToken else {
            throw OAuth2SignInError(.invalidResponse, reason: "the server issued no bearer token")
        }
        return self
    }
}

extension OAuth2ExchangedToken: Decodable {
    private enum CodingKeys: String, CodingKey {
        case scope
        case accessToken = "access_token"
        case issuedTokenType = "issued_token_type"
        case tokenType = "token_type"
        case expiresIn = "expires_in"
        case refreshToken = "refresh_token"
    }

    /// Reads a response of a token endpoint.
    ///
    /// - Throws: `DecodingError` when the token, its type or how it is sent is missing, or the client does not know how
    ///   it is sent: neither `Bearer` nor, for a token that is no access token, `N_A`.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        value = try object.decodeAccessToken(forKey: .accessToken, beside: nil)
        type = OAuth2TokenType(rawValue: try object.decode(String.self, forKey: .issuedTokenType))
        let use = try object.decode(String.self, forKey: .tokenType)
        isBearer = use.equalsIgnoringASCIICase("bearer")
        guard isBearer || use.equalsIgnoringASCIICase("N_A") else {
            throw DecodingError.dataCorruptedError(
                forKey: .tokenType, in: object, debugDescription: "neither Bearer nor N_A")
        }
        expiresIn = object.decodeLifetimeIfPresent(forKey: .expiresIn)
        scope = object.decodeTextIfPresent(forKey: .scope)
        refreshToken = object.decodeTextIfPresent(forKey: .refreshToken)
    }
}

extension OAuth2ExchangedToken: RedactedDescription {
    /// What was issued; never a token (G17).
    public var description: String {
        "OAuth2ExchangedToken(\(type), expiresIn: \(expiresIn.map { "\($0)" } ?? "unknown"))"
    }
}
