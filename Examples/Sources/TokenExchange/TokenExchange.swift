public import Foundation
public import NetworkCore

/// For a service that has a user's token, and calls another service which accepts only its own (RFC 8693). Copy all of
/// it.
///
/// The token of the user stays valid. No store keeps the new one and no engine refreshes it: exchange again.
///
/// ```swift
/// let exchange = TokenExchange(endpoint: server.tokenEndpoint, id: "gateway", secret: secret, network: api)
/// let token = try await exchange.token(for: "billing", from: userToken)
/// ```
public struct TokenExchange: Sendable {
    /// What the server has issued.
    public struct Issued: Decodable, Sendable {
        public let token: String, expiresIn: Double?
        fileprivate let type: String, use: String

        private enum CodingKeys: String, CodingKey {
            case token = "access_token", expiresIn = "expires_in", type = "issued_token_type", use = "token_type"
        }
    }

    /// The server issued a token of another type, which is not for a request.
    public struct OtherType: Error {}

    private static let type = "urn:ietf:params:oauth:token-type:access_token"
    private let endpoint: URL, id: String, secret: String
    private let network: any UnauthenticatedNetworkService  // adds no token to the call

    /// The network is a client for the authorization server.
    public init(endpoint: URL, id: String, secret: String, network: any UnauthenticatedNetworkService) {
        (self.endpoint, self.id, self.secret, self.network) = (endpoint, id, secret, network)
    }

    /// Makes the call once. It follows no redirect.
    public func token(for audience: String, from token: String) async throws -> Issued {
        let form: QueryItems = [
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "audience": audience,
            "subject_token": token, "subject_token_type": Self.type, "requested_token_type": Self.type,
            "client_id": id, "client_secret": secret,
        ]
        let call = Endpoint<Issued>.post(.url(endpoint), body: .form(form)).asTokenCall().format(.json)
        do {
            let issued = try await network.send(call)
            guard issued.type == Self.type, issued.use.lowercased() == "bearer" else {
                throw OtherType()
            }
            return issued
        } catch let error as NetworkError {
            throw error.withoutQuoting([token, secret])  // servers quote what they were sent
        }
    }
}
