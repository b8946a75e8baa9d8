import AuthInterface
import DataAPI
import Foundation
import NetworkAsyncHTTPClient
import NetworkCore
import Storage
import TokenRefresh

/// For a first program: a client, a sign-in, a list. Copy all of it, and write your own calls in place of these two.
///
/// `NotesClient` is the only place that knows the store, the refresh call and the transport. On Apple platforms
/// `URLSessionTransport()` and a `KeychainTokenStore` take the places of those of `main`.
@main
struct MinimalClient {
    static func main() async throws {
        guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
            print("usage: MinimalClient https://api.example.com/v1")
            return
        }
        let store = FileTokenStore(application: "notes", account: url.absoluteString)
        let client = NotesClient(url: url, transport: AsyncHTTPClientTransport(), store: store)
        let listing = Task { try await list(client) }
        _ = await listing.result
        await client.session.settle(within: .seconds(20))  // a refresh that is under way has the only valid token
        try await listing.value
    }

    private static func list(_ client: NotesClient) async throws {
        if case .signedOut = try await client.session.restore() {
            print("Name, and password on the next line:")
            try await client.signIn(readLine() ?? "", password: readLine() ?? "")
        }
        for note in try await client.notes() { print(note.text) }
    }
}

struct Note: Decodable {
    let id: Int
    let text: String
}

struct NotesClient {
    /// The session: who is signed in, and why not.
    let session: TokenRefreshCoordinator

    private let api: NetworkClient
    private let network: any NetworkService

    init(url: URL, transport: any HTTPTransport, store: any TokenStore) {
        api = NetworkClient(baseURL: url, transport: transport, interceptors: [RetryPolicy.standard])
        session = TokenRefreshCoordinator(store: store, handler: RESTTokenRefreshHandler(network: api))
        network = api.authenticated(by: session)  // sends tokens to the origin of that URL, and to no other
    }

    func signIn(_ name: String, password: String) async throws {
        let login = Endpoint<IssuedTokens>.post("login", json: ["name": name, "password": password]).asTokenCall()
        try await session.signIn(api.send(login).result)
    }

    /// The notes. A token that has expired is refreshed first, once for all calls that wait for it.
    func notes() async throws -> [Note] { try await network.send(.get("notes")) }
}
