public import AuthInterface
public import Foundation
public import NetworkCore

/// Refreshes as RFC 6749 §6 has it, and revokes as RFC 7009 has it.
///
/// It takes an `OpenNetworkService`, so it cannot be given a client that would wait for this very refresh (G20).
public struct OAuth2TokenRefreshHandler: TokenRefreshHandler, TokenRevocationHandler {
    private let tokenEndpoint: URL
    private let revocationEndpoint: URL?
    private let client: OAuth2Client
    private let network: any OpenNetworkService

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - tokenEndpoint: The server's token endpoint (RFC 6749 §3.2), with scheme `https` unless it is loopback.
    ///   - revocationEndpoint: The server's revocation endpoint (RFC 7009 §2). `nil`: it has none, and is not told.
    ///   - client: How the client proves who it is, at both.
    ///   - network: Sends the calls, without tokens.
    public init(
        tokenEndpoint: URL,
        revocationEndpoint: URL? = nil,
        client: OAuth2Client,
        network: any OpenNetworkService
    ) {
        self.tokenEndpoint = tokenEndpoint
        self.revocationEndpoint = revocationEndpoint
        self.client = client
        self.network = network
    }

    /// Exchanges a refresh token for new tokens. The call is made once.
    ///
    /// - Parameter refreshToken: The current refresh token.
    /// - Returns: The new tokens.
    /// - Throws: `TokenRefreshError` with the verdict of ``verdict(on:)``; `CancellationError`.
    public func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        let refreshToken = request.refreshToken
        let parameters: QueryItems = ["grant_type": "refresh_token", "refresh_token": refreshToken]
        let call: Endpoint<TokenAnswer> = client.call(parameters) { .post(.url(tokenEndpoint), body: $0) }
        do {
            let answer = try await network.send(call)
            guard answer.isBearer else {
                // RFC 6749 §7.1: a client must not use a token of a type it does not understand.
                throw TokenRefreshError(.unavailable, reason: "the server issues tokens that are no bearer tokens")
            }
            return answer.result
        } catch let error as NetworkError {
            throw Self.verdict(on: error.withoutQuoting(refreshToken))
        }
    }

    /// What a failed token call means (G4).
    ///
    /// Of the errors of RFC 6749 §5.2 only `invalid_grant` speaks of the refresh token. The others speak of the client
    /// and of the call: they are a mistake in the configuration, and signing every user out would not mend it. A
    /// server in trouble (408, 425, 429, 5xx) is not believed even in that.
    ///
    /// - Parameter error: Why the call failed.
    /// - Returns: *rejected* for `invalid_grant`; otherwise *unavailable*, with the time the server asked for.
    public static func verdict(on error: NetworkError) -> TokenRefreshError {
        guard error.code == .unacceptableStatus, let status = error.status, [400, 401, 403].contains(status) else {
            return TokenRefreshError(unavailable: error)
        }
        switch error.envelope?.code {
        case "invalid_grant":
            return TokenRefreshError(rejected: error)
        case "invalid_client", "unauthorized_client":
            return TokenRefreshError(unavailable: error, hint: "check the client's identifier and secret")
        case "invalid_request", "unsupported_grant_type", "invalid_scope":
            return TokenRefreshError(unavailable: error, hint: "check the token endpoint and what it expects")
        default:
            return TokenRefreshError(unavailable: error)
        }
    }

    /// Revokes the refresh token, and with it the access tokens made from it (RFC 7009 §2.1); where there is none, the
    /// access token. A token the server does not know is no error to it.
    ///
    /// - Parameter tokens: The tokens of the session.
    /// - Throws: `NetworkError`, or `CancellationError`.
    public func revoke(_ tokens: TokenBundle) async throws {
        guard let revocationEndpoint else { return }
        let parameters: QueryItems =
            if let refreshToken = tokens.refreshToken {
                ["token": refreshToken, "token_type_hint": "refresh_token"]
            } else {
                ["token": tokens.accessToken, "token_type_hint": "access_token"]
            }
        let call: Endpoint<Void> = client.call(parameters) { .post(.url(revocationEndpoint), body: $0) }
        try await network.send(call)
    }
}

/// A successful answer of a token endpoint (RFC 6749 §5.1).
private struct TokenAnswer: Decodable, Sendable {
    let result: TokenRefreshResult

    /// Whether the tokens are bearer tokens. A server that does not say means them (RFC 6750 came to be the rule).
    let isBearer: Bool

    private enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case tokenType = "token_type"
        case expiresIn = "expires_in"
        case refreshToken = "refresh_token"
    }

    init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        let accessToken = try object.decode(String.self, forKey: .accessToken)
        guard !accessToken.isEmpty else {
            throw DecodingError.dataCorruptedError(
                forKey: .accessToken, in: object, debugDescription: "the access token is empty"
            )
        }
        let refreshToken = try object.decodeIfPresent(String.self, forKey: .refreshToken)
        let type = try object.decodeIfPresent(String.self, forKey: .tokenType)
        isBearer = type.map { $0.lowercased() == "bearer" } ?? true
        result = TokenRefreshResult(
            accessToken: accessToken,
            refreshToken: refreshToken.flatMap { $0.isEmpty ? nil : $0 },
            expiresIn: object.decodeLifetimeIfPresent(forKey: .expiresIn),
            serverDate: decoder.answeredAt
        )
    }
}

extension TokenAnswer: SecretBearing {
    var description: String { "TokenAnswer(\(result))" }
}
