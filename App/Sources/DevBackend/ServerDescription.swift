public import Foundation

/// The URLs of a running server and the OAuth 2.0 client it accepts.
///
/// It does not contain the client's secret; see ``DevBackend/Configuration/oauth2Client``.
public struct ServerDescription: Sendable, Hashable, Codable {
    /// The base URL of the API.
    public let baseURL: URL
    /// The token endpoint (RFC 6749 §3.2). It accepts `grant_type=refresh_token`.
    public let tokenEndpoint: URL
    /// The revocation endpoint (RFC 7009 §2).
    public let revocationEndpoint: URL
    /// The identifier of the only OAuth 2.0 client, such as `latchkey-dev`.
    public let oauth2ClientID: String
    /// The client's authentication methods, named as in RFC 8414 §2: `none`, or `client_secret_basic` and
    /// `client_secret_post`.
    public let oauth2ClientAuthentication: [String]
    /// How long an access token is valid, in whole seconds, rounded up.
    public let accessTokenLifetimeSeconds: Int
    /// Whether `/dev/faults`, `/dev/expire` and `/dev/stats` exist.
    public let allowsDevEndpoints: Bool
}

extension DevBackend {
    /// The URLs of this server and the OAuth 2.0 client it accepts, for a program that prints them when it starts.
    public var serverDescription: ServerDescription {
        let client = configuration.oauth2Client
        return ServerDescription(
            baseURL: baseURL,
            tokenEndpoint: baseURL.appendingPathComponent("oauth2/token"),
            revocationEndpoint: baseURL.appendingPathComponent("oauth2/revoke"),
            oauth2ClientID: client.id,
            oauth2ClientAuthentication: client.secret == nil
                ? ["none"] : ["client_secret_basic", "client_secret_post"],
            accessTokenLifetimeSeconds: configuration.accessTokenLifetime.secondsRoundedUp,
            allowsDevEndpoints: configuration.allowsDevEndpoints)
    }
}
