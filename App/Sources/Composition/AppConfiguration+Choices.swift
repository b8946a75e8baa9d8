import AuthInterface
import DataAPI
public import Foundation
import NetworkCore
import OAuth2Flows
import Storage

extension StoreChoice {
    /// Makes the store of one server's session.
    ///
    /// Each server has an account of its own in the folder: tokens of one are never sent to another because somebody
    /// changed `--base-url`.
    func make(for baseURL: URL) -> any TokenStore {
        let account = Self.account(for: baseURL)
        switch self {
        case .file(let folder?): return FileTokenStore(folder: folder, account: account)
        case .file(nil): return FileTokenStore(application: AppConfiguration.applicationName, account: account)
        case .memory: return MemoryTokenStore()
        }
    }

    /// Where the session of one server is, for people.
    ///
    /// - Parameter baseURL: Where the server's API is.
    /// - Returns: The path of a file, or `memory`.
    public func place(for baseURL: URL) -> String {
        (make(for: baseURL) as? FileTokenStore)?.file.path ?? "memory"
    }

    /// The name of a server among the accounts: its origin, and the path of its API.
    static func account(for baseURL: URL) -> String {
        let origin = Origin(baseURL)?.description ?? baseURL.absoluteString
        let path = baseURL.path.split(separator: "/").joined(separator: "/")
        return path.isEmpty ? origin : "\(origin)/\(path)"
    }
}

extension RefreshChoice {
    /// Makes the call that renews tokens, and the one that revokes them.
    ///
    /// The articles API ends one session at its logout and revocation endpoints, and no other session of the user.
    func make(
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
