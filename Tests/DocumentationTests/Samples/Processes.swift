import AuthInterface
import Foundation
import NetworkAsyncHTTPClient
import NetworkCore
import PostgreSQLStorage
import Storage
import TokenRefresh

// The samples of the articles *App and extension*, *Servers and fleets*, *Linux*.

#if canImport(Security)
func sharedSession(container: URL, handler: any TokenRefreshHandler) -> TokenRefreshCoordinator {
    let location = KeychainLocation(service: "org.example.notes", accessGroup: "ABCDE12345.org.example.shared")
    let probe = ProtectedDataProbe(file: container.appendingPathComponent("unlocked"))
    let store = KeychainTokenStore(at: location) { await probe.isProtectedDataAvailable() }
    return TokenRefreshCoordinator(
        store: store.shared(lockFile: container.appendingPathComponent("notes.lease")), handler: handler)
}
#endif

func loadInBackground(_ session: TokenRefreshCoordinator, _ network: any NetworkService) async -> [Note] {
    guard case .signedIn = try? await session.restore() else { return [] }
    let notes = try? await network.send(.notes, deadline: .seconds(20))
    await session.settle(within: .seconds(5))  // a refresh that is under way ends before the process does
    return notes ?? []
}

struct Fleet {
    let api: NetworkClient
    let sessions: SessionRegistry<String>

    init(api: NetworkClient, handler: any TokenRefreshHandler, store: @escaping @Sendable (String) -> any TokenStore) {
        self.api = api
        sessions = SessionRegistry(limit: 10_000) { account in
            TokenRefreshCoordinator(store: store(account), handler: handler)
        }
    }

    func notes(of account: String) async throws -> [Note] {
        try await api.authenticated(by: sessions[account]).send(.notes)
    }
}

#if PostgreSQL && AsyncHTTPClient
func shutDown(_ fleet: Fleet, _ transport: AsyncHTTPClientTransport) async throws {
    await fleet.sessions.settle(within: .seconds(20))  // refreshes and writes that are under way
    try await transport.shutdown()
}
#endif

#if AsyncHTTPClient
private func linux(url: URL) -> NetworkClient {
    let transport = AsyncHTTPClientTransport()
    let api = NetworkClient(baseURL: url, transport: transport)
    return api
}
#endif
