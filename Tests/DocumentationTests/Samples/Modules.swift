import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import DataAPI
import Foundation
import Imaging
import NetworkAsyncHTTPClient
import NetworkCore
import NetworkDoubles
import NetworkExchange
import NetworkURLSession
import OAuth2Flows
import Storage
import TokenRefresh

// The samples of the pages of modules.

struct Account {
    let session: any AuthSession

    func leave() async throws -> SignOutReason? {
        try await session.signOut()  // forgets the tokens, then revokes them if the handler can
        guard case .signedOut(let reason) = session.state else { return nil }
        return reason
    }
}

private struct Modules {
    let url: URL
    let store: any TokenStore
    let handler: any TokenRefreshHandler
    let api: NetworkClient

    func show(_ shown: Any?) {}

    func concurrencyPrimitives() {
        var policy = TokenRefreshPolicy()
        policy.backoff = Backoff(base: .seconds(2), limit: .seconds(30))
        let session = TokenRefreshCoordinator(store: store, handler: handler, policy: policy, clock: SystemTimeSource())
        show(session)
    }

    func networkCore(transport: any HTTPTransport, session: TokenRefreshCoordinator, id: Int) async throws {
        let client = NetworkClient(baseURL: url, transport: transport)
        let authenticated = client.authenticated(by: session)
        let article = try await authenticated.send(Endpoint<Article>.get("articles/\(id)"))
        show(article)
    }

    func dataAPI(client: NetworkClient, session: TokenRefreshCoordinator) async throws {
        let handler = RESTTokenRefreshHandler(network: client, replayTolerance: .sameKey)
        let service = ArticleService(network: client.authenticated(by: session))
        let page = try await service.page()
        show([handler, page])
    }

    func oauth2Flows(issuer: URL, secret: String) async throws {
        let server = try await OAuth2Server.discover(issuer: issuer, network: api)
        let handler = OAuth2TokenRefreshHandler(
            tokenEndpoint: server.tokenEndpoint, client: .basic(id: "notes", secret: secret), network: api)
        let session = TokenRefreshCoordinator(store: store, handler: handler)
        show(session)
    }

    func authTesting(folder: URL) async throws {
        try await TokenRefreshHandlerContract.check(timeLimit: .seconds(120)) { url in
            RESTTokenRefreshHandler(network: NetworkClient(baseURL: url, transport: URLSessionTransport()))
        }
        try await SharedTokenStoreContract.check {
            FileTokenStore(folder: folder.appendingPathComponent(UUID().uuidString))
        }
    }

    func networkExchange(key: String, spareKey: String, text: String) throws {
        let pins = try PublicKeyPins(["api.example.com": [key, spareKey]])
        let trust = try ServerTrust(authorities: ServerTrust.certificates(inPEM: text), pins: pins)
        let transport = try URLSessionTransport(trust: trust)
        show(transport)
    }

    func networkURLSession() {
        var limits = URLSessionTransport.Limits()
        limits.connectionsPerHost = 4
        let transport = URLSessionTransport(limits: limits) { configuration in
            configuration.allowsCellularAccess = false
        }
        let client = NetworkClient(baseURL: url, transport: transport)
        show(client)
    }

    #if AsyncHTTPClient
    func networkAsyncHTTPClient() async throws {
        var limits = AsyncHTTPClientTransport.Limits()
        limits.connectionsPerOrigin = 16
        let transport = AsyncHTTPClientTransport(limits: limits)
        let client = NetworkClient(baseURL: url, transport: transport)
        let health = try await client.send(Endpoint<Data>.get("health"))
        try await transport.shutdown()
        show(health)
    }
    #endif

    func contractTesting() async throws {
        let clock = ManualTimeSource()
        let gate = Gate()
        let handler = ScriptedRefreshHandler(.held(at: gate, then: .rotate))
        let session = TokenRefreshCoordinator(store: MemoryTokenStore(), handler: handler, clock: clock)
        try await session.signIn(.fixture())
        async let state = session.refresh()
        try await gate.arrivals(atLeast: 1)  // the call is under way; nothing else happens until the gate opens
        gate.open()
        _ = try await state
    }

    func networkDoubles(report: @escaping @Sendable (String) -> Void) async throws {
        let transport = StubTransport(
            .get("notes") ~> .json([Note(id: 1, text: "Milk")]),
            .get("notes") ~> .failure(.connectionFailed)
        ) { issue in report("\(issue)") }
        let network = NetworkClient(baseURL: url, transport: transport)
        let notes = try await network.send(.notes)
        show(notes)
    }

    func imaging(file: URL) throws {
        let fitter = PhotoFitter(codec: try PlatformCodec.make())
        let photo = try fitter.fit(Data(contentsOf: file))
        show("\(photo.size), \(photo.jpeg.count) bytes, quality \(photo.quality)")
    }
}
