import AuthInterface
import DataAPI
import Foundation
import NetworkCore
import OAuth2Flows
import Storage
import TokenRefresh

/// The object graph over a token folder and a server.
struct PeerSession: Sendable {
    let coordinator: TokenRefreshCoordinator
    let unauthenticated: NetworkClient
    let network: AuthenticatedNetworkClient
    private let kind: PeerCommand.ServerKind

    init(
        url: URL,
        folder: URL,
        kind: PeerCommand.ServerKind,
        client: String = "",
        grace: Int = 0,
        observer: (@Sendable (SessionEvent) -> Void)? = nil
    ) {
        self.kind = kind
        unauthenticated = NetworkClient(baseURL: url, transport: URLSessionTransport(), interceptors: [])
        let handler: any TokenRefreshHandler
        switch kind {
        case .backend:
            // No key: these processes show what happens without one.
            handler = RESTTokenRefreshHandler(network: unauthenticated, idempotencyKeyField: nil)
        case .provider:
            let secret = ProcessInfo.processInfo.environment[PeerCommand.secretVariable] ?? ""
            handler = OAuth2TokenRefreshHandler(
                tokenEndpoint: url.appendingPathComponent("token"),
                revocationEndpoint: url.appendingPathComponent("revoke"),
                client: .basic(id: client, secret: secret),
                network: unauthenticated,
                replayTolerance: .within(.seconds(grace))
            )
        }
        coordinator = TokenRefreshCoordinator(
            store: FileTokenStore(folder: folder), handler: handler, observer: observer)
        network = unauthenticated.authenticated(by: coordinator)
    }

    /// Sends one request, and prints its failure.
    func sendOne() async {
        do {
            switch kind {
            case .backend: _ = try await network.send(.me)
            case .provider: try await network.send(Endpoint<Void>.get("resource").format(.json))
            }
        } catch let error as NetworkError {
            note("failed \(error.code) \(error)")
        } catch {
            note("failed other \(type(of: error))")
        }
    }
}
