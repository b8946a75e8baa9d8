import AuthInterface
import DataAPI
import Foundation
import NetworkCore
import TokenRefresh

struct Library {
    let api: NetworkClient
    let session: TokenRefreshCoordinator
    let network: any NetworkService

    init(url: URL, transport: any HTTPTransport, store: any TokenStore) {
        api = NetworkClient(baseURL: url, transport: transport, interceptors: [RetryPolicy.standard])
        session = TokenRefreshCoordinator(store: store, handler: RESTTokenRefreshHandler(network: api))
        network = api.authenticated(by: session)
    }

    func signIn(reader: String, password: String) async throws {
        let tokens = try await api.send(.login(reader: reader, password: password))
        try await session.signIn(tokens.result)
    }

    func books() async throws -> [Book] {
        try await network.send(.books)
    }
}
