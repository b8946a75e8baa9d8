import AuthInterface
import DataAPI
import Foundation
import NetworkCore
public import OAuth2Flows

/// How tokens are refreshed.
public enum RefreshChoice: Sendable, Hashable {
    /// By `POST auth/refresh`.
    case rest

    /// By `POST oauth2/token`, as this client.
    case oauth2(OAuth2Client)

    /// Creates the handler that refreshes and revokes tokens.
    ///
    /// The articles API's logout and revocation endpoints end one session, and no other session of the user.
    func makeHandler(
        for baseURL: URL,
        network: any UnauthenticatedNetworkService,
        replay: ReplayTolerance
    ) -> any TokenRefreshHandler & TokenRevocationHandler {
        switch self {
        case .rest:
            RESTTokenRefreshHandler(network: network, replayTolerance: replay, logoutAffectsSessionOnly: true)
        case .oauth2(let client):
            OAuth2TokenRefreshHandler(
                tokenEndpoint: baseURL.appendingPathComponent("oauth2/token"),
                revocationEndpoint: baseURL.appendingPathComponent("oauth2/revoke"),
                client: client,
                network: network,
                replayTolerance: replay,
                revocationAffectsSessionOnly: true
            )
        }
    }
}
