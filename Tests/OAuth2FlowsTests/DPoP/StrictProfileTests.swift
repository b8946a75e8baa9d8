#if canImport(CryptoKit) || Crypto
import AuthInterface
import ConcurrencyPrimitives
import Foundation
import NetworkCore
import NetworkURLSession
import Storage
import TestSupport
import Testing
import TokenRefresh

@testable import OAuth2Flows

/// The server of a strict profile: pushed requests, PKCE, DPoP with nonces that change, `private_key_jwt`, rotation. It
/// is a process of `App/Tests/Endurance/provider`, and its checks are those of a library in another language.
@Suite("A strict profile", .enabled(if: StrictProfile.program != nil), .timeLimit(.minutes(10)))
struct StrictProfileTests {
    @Test func `a session signs in, is refreshed and sends requests, and no proof is refused`() async throws {
        let profile = try await StrictProfile(nonceUses: 3)
        defer { profile.process.kill() }
        let (engine, network) = try await profile.signedIn()
        for round in 1...12 {
            #expect(try await network.send(Endpoint<ResourceValue>.get("resource").format(.json)).value == 1)
            if round.isMultiple(of: 4) { try await engine.refresh() }
        }
        let counters = try await profile.counters()
        #expect(counters["sign_ins"] == 1 && counters["rotations"] == 3 && counters["resource_ok"] == 12)
        #expect(counters["proofs_refused"] == nil && counters["reuses"] == nil && counters["refused"] == nil)
        // The request that was pushed, the code and three refreshes, and twelve requests: each first and fourth proof
        // to a server meets a nonce that is new.
        #expect(counters["challenges"] == 2 + 4)
    }

}

/// Opens the page itself, and takes the redirect that is its response.
private struct RedirectingUserAgent: OAuth2UserAgent {
    let network: NetworkClient

    func response(to page: OAuth2SignInPage) async throws -> (response: URL, redirectURI: URL) {
        let redirectURI = try #require(URL(string: "http://127.0.0.1:9/callback"))
        let call = Endpoint<Void>.get(.url(try await page.url(redirectingTo: redirectURI))).withoutAuthentication()
            .redirects(.refuse)
        let error = try await #require(throws: NetworkError.self) { try await network.send(call) }
        let location = try #require(error.response?.headers["Location"])
        return (try #require(URL(string: location)), redirectURI)
    }
}

private final class StrictProfile: Sendable {
    /// The program that starts it: `make test-provider` sets the variable, and without it the tests are skipped.
    static let program = ProcessInfo.processInfo.environment["STRICT_PROFILE"]

    private struct Description: Decodable {
        private enum CodingKeys: String, CodingKey {
            case issuer
            case resourceServer = "resource_server"
            case clientKey = "client_key"
        }

        let issuer: URL
        let resourceServer: URL
        let clientKey: String
    }

    let process: SpawnedProcess
    private let description: Description
    /// For the authorization server.
    private let network: NetworkClient

    /// Starts servers whose nonces change after a number of accepted proofs.
    init(nonceUses: Int) async throws {
        process = try SpawnedProcess(
            Self.program ?? "", ["--nonce-uses", "\(nonceUses)"], environment: ProcessInfo.processInfo.environment)
        var lines = process.lines.makeAsyncIterator()
        let line = try #require(await lines.next(), "the servers have not started")
        description = try JSONDecoder().decode(Description.self, from: Data(line.utf8))
        network = NetworkClient(baseURL: description.issuer, transport: URLSessionTransport(), interceptors: [])
    }

    /// A session, and a client whose requests to the resource server it authenticates.
    func signedIn() async throws -> (TokenRefreshCoordinator, AuthenticatedNetworkClient) {
        let server = try await OAuth2Server.discover(issuer: description.issuer, network: network)
        let key = try OAuth2ClientKey(pem: description.clientKey)
        let client = OAuth2Client.privateKey(id: "strict-client", key: key, issuer: server.issuer)
        let prover = DPoPProver(keys: StoredSigningKeys { _ in MemoryTokenStore() })
        var signIn = OAuth2CodeSignIn(server: server, client: client, network: network, scope: "resource")
        signIn.prover = prover
        var handler = OAuth2TokenRefreshHandler(tokenEndpoint: server.tokenEndpoint, client: client, network: network)
        handler.prover = prover
        let engine = TokenRefreshCoordinator(store: MemoryTokenStore(), handler: handler)
        try await signIn.start(engine, with: RedirectingUserAgent(network: network))
        let resources = NetworkClient(
            baseURL: description.resourceServer, transport: URLSessionTransport(), interceptors: [])
        let policy = AuthenticationPolicy(placement: .dpop(prover))
        return (engine, resources.authenticated(by: engine, policy: policy))
    }

    func counters() async throws -> [String: Int] {
        try await network.send(Endpoint<[String: Int]>.get("counters").withoutAuthentication().format(.json))
    }
}
#endif
