import AuthInterface
import Foundation
import NetworkCore
import NetworkTransfers
import OAuth2Flows
import Storage
import TokenRefresh

/// A session of the strict profile, whose tokens are bound to a key (DPoP, RFC 9449). Its processes share the tokens
/// and the key, each in a file of mode 0600.
struct BoundSession: Sendable {
    let issuer: URL
    let resourceServer: URL
    /// The identifier of the client, and its private key as PEM.
    let client: String
    let clientKey: String
    let folder: URL
    let keys: URL
    let transport: any HTTPTransport

    private var network: NetworkClient {
        NetworkClient(baseURL: resourceServer, transport: transport, interceptors: [RetryPolicy.standard])
    }

    private var prover: DPoPProver {
        DPoPProver(keys: StoredSigningKeys { [keys] in FileTokenStore(folder: keys, account: $0) })
    }

    private func oauthClient() throws -> OAuth2Client {
        .privateKey(id: client, key: try OAuth2ClientKey(pem: clientKey), issuer: issuer.absoluteString)
    }

    func start(
        proving shared: DPoPProver? = nil, _ observer: (@Sendable (SessionEvent) -> Void)? = nil
    ) throws -> PeerSession {
        let (network, prover) = (network, shared ?? prover)
        var handler = OAuth2TokenRefreshHandler(
            tokenEndpoint: issuer.appendingPathComponent("token"), client: try oauthClient(), network: network,
            replayTolerance: .sameKey)
        handler.prover = prover
        let coordinator = TokenRefreshCoordinator(
            store: FileTokenStore(folder: folder), handler: handler, observer: observer)
        return PeerSession(coordinator, network, AuthenticationPolicy(placement: .dpop(prover)))
    }

    /// Signs a user in, which makes the key.
    func signIn() async throws {
        let prover = prover
        let session = try start(proving: prover)
        let server = try await OAuth2Server.discover(issuer: issuer, network: network)
        var signIn = OAuth2CodeSignIn(server: server, client: try oauthClient(), network: network, scope: "resource")
        signIn.prover = prover
        try await signIn.start(
            session.coordinator,
            with: LoopbackUserAgent { [transport] page in
                let page = try await transport.perform(HTTPTransportRequest(head: HTTPRequestHead(url: page)))
                guard let target = page.head.headers["Location"].flatMap({ URL(string: $0) }) else { return }
                _ = try await transport.perform(HTTPTransportRequest(head: HTTPRequestHead(url: target)))
            })
    }

    func keyFiles() throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: keys, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }
    }
}
