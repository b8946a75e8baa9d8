import AuthInterface
import Foundation
import NetworkAsyncHTTPClient
import NetworkCore
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

#if AsyncHTTPClient
func shutDown(_ sessions: SessionRegistry<String>, _ transport: AsyncHTTPClientTransport) async throws {
    await sessions.settle(within: .seconds(20))  // refreshes and writes that are under way
    try await transport.shutdown()
}

private func linux(url: URL) -> NetworkClient {
    let transport = AsyncHTTPClientTransport()
    let api = NetworkClient(baseURL: url, transport: transport)
    return api
}
#endif
