import AuthInterface
import Foundation
import NetworkCore
import OAuth2Flows
import Storage
import TokenRefresh

// The samples of the article *Several audiences from one session*.

extension TokenAudience {
    static let files = TokenAudience("files")
}

private struct Audiences {
    let api: NetworkClient
    let transport: any HTTPTransport
    let server: OAuth2Server
    let client: OAuth2Client
    let store: FileTokenStore
    let notes: URL
    let files: URL

    func clients() throws -> [any NetworkService] {
        var handler = OAuth2TokenRefreshHandler(tokenEndpoint: server.tokenEndpoint, client: client, network: api)
        handler.target = try OAuth2Target(resources: [notes])
        handler.targets = [.files: try OAuth2Target(resources: [files])]
        let session = TokenRefreshCoordinator(store: store, handler: handler)

        let notesClient = api.authenticated(by: session)
        let filesClient = NetworkClient(baseURL: files, transport: transport)
            .authenticated(by: session.tokens(for: .files))
        return [notesClient, filesClient]
    }
}
