public import AuthInterface
public import Foundation
public import NetworkCore

/// Exchanges a token for another one (RFC 8693): for a service behind this one, for fewer rights, on behalf of a user.
///
/// ```swift
/// var exchange = OAuth2TokenExchange(tokenEndpoint: server.tokenEndpoint, client: client, network: api)
/// exchange.target = try OAuth2Target(resources: [billing])
/// let token = try await exchange.exchange(OAuth2Token(userToken, .accessToken))
/// ```
///
/// The subject token stays valid, and no session changes: the result is no `TokenRefreshResult`, so that it cannot be
/// stored as the tokens of a session.
public struct OAuth2TokenExchange: Sendable {
    /// Where the new token is to be used.
    public var target = OAuth2Target.unspecified

    /// The scope to ask for, separated by spaces. `nil`: the server decides.
    public var scope: String?

    /// The type to ask for. `nil`: the server decides, and ``OAuth2ExchangedToken/type`` says which it is.
    public var requestedType: OAuth2TokenType?

    private let tokenEndpoint: URL
    private let client: OAuth2Client
    private let network: any UnauthenticatedNetworkService

    /// Creates an exchange.
    ///
    /// - Parameters:
    ///   - tokenEndpoint: The server's token endpoint (RFC 6749 §3.2), with scheme `https` unless it is loopback.
    ///   - client: How the client authenticates.
    ///   - network: Sends the call, without tokens.
    public init(tokenEndpoint: URL, client: OAuth2Client, network: any UnauthenticatedNetworkService) {
        self.tokenEndpoint = tokenEndpoint
        self.client = client
        self.network = network
    }

    /// Exchanges a token. The call is made once, and follows no redirect (G15).
    ///
    /// - Parameters:
    ///   - subject: The token of the user or service for whom the new token is.
    ///   - actor: The token of the service that acts for the subject. `nil`: the client itself acts.
    /// - Returns: The new token.
    /// - Throws: ``OAuth2SignInError`` with code `refused` for the error codes of RFC 8693 §2.2.2, `invalidResponse`
    ///   for a token of another type than was asked for; `unavailable`, `redirected`. `CancellationError`.
    public func exchange(_ subject: OAuth2Token, actor: OAuth2Token? = nil) async throws -> OAuth2ExchangedToken {
        var parameters: QueryItems = [
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
            "subject_token": subject.value, "subject_token_type": subject.type.rawValue,
            "actor_token": actor?.value, "actor_token_type": actor?.type.rawValue,
            "requested_token_type": requestedType?.rawValue, "scope": scope,
        ]
        parameters.append(target)
        let plain: Endpoint<OAuth2ExchangedToken> = try await client.call(parameters) {
            .post(.url(tokenEndpoint), body: $0)
        }
        let call = plain.map { token, head in token.issued(at: head.serverDate) }
        do {
            return try await network.send(call).checked(against: requestedType)
        } catch let error as NetworkError {
            throw OAuth2SignInError(client.noting(error), without: [subject.value, actor?.value] + client.secrets)
        }
    }
}

/// A token with its type, to present to a server.
public struct OAuth2Token: Sendable, Hashable {
    /// The token.
    public let value: String

    /// What kind of token it is.
    public let type: OAuth2TokenType

    /// Creates a token.
    public init(_ value: String, _ type: OAuth2TokenType) {
        (self.value, self.type) = (value, type)
    }
}

extension OAuth2Token: RedactedDescription {
    /// The type; never the token (G17).
    public var description: String { "OAuth2Token(\(type))" }
}

/// What kind of token a token is, by the URI of RFC 8693 §3. The set is open: servers have types of their own.
public struct OAuth2TokenType: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    /// The URI.
    public let rawValue: String

    /// Creates a type.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// An access token of OAuth 2.0.
    public static let accessToken = Self(rawValue: "urn:ietf:params:oauth:token-type:access_token")

    /// A refresh token of OAuth 2.0.
    public static let refreshToken = Self(rawValue: "urn:ietf:params:oauth:token-type:refresh_token")

    /// An id token of OpenID Connect.
    public static let idToken = Self(rawValue: "urn:ietf:params:oauth:token-type:id_token")

    /// A JSON Web Token of any use.
    public static let jwt = Self(rawValue: "urn:ietf:params:oauth:token-type:jwt")

    /// An assertion of SAML 1.1, as base64url.
    public static let saml1 = Self(rawValue: "urn:ietf:params:oauth:token-type:saml1")

    /// An assertion of SAML 2.0, as base64url.
    public static let saml2 = Self(rawValue: "urn:ietf:params:oauth:token-type:saml2")

    /// The URI.
    public var description: String { rawValue }
}
