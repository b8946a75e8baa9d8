import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import HandlerTesting
import NetworkCore
import NetworkURLSession
import OAuth2Flows
import Testing

/// Only the response of the endpoint itself to the `POST` counts (G15), over real sockets.
@Suite(.timeLimit(.minutes(10))) struct TokenCallRedirectTests {
    typealias Redirect = RedirectingServer.Redirect

    private static let tokens = """
        {"access_token":"fixture-mallory","token_type":"Bearer","refresh_token":"fixture-mallory-2","device_code":\
        "fixture-device","user_code":"A","verification_uri":"https://id.example.com/a","expires_in":60}
        """

    private func network(_ server: RedirectingServer) -> NetworkClient {
        NetworkClient(baseURL: server.url, transport: URLSessionTransport(), interceptors: [RetryPolicy.standard])
    }

    private func description(_ server: RedirectingServer) -> OAuth2Server {
        OAuth2Server(
            issuer: "https://id.example.com",
            tokenEndpoint: server.url.appendingPathComponent("token"),
            authorizationEndpoint: server.url.appendingPathComponent("authorize"),
            deviceAuthorizationEndpoint: server.url.appendingPathComponent("device"))
    }

    private func handler(_ server: RedirectingServer, _ client: OAuth2Client) -> OAuth2TokenRefreshHandler {
        OAuth2TokenRefreshHandler(
            tokenEndpoint: server.url.appendingPathComponent("token"),
            revocationEndpoint: server.url.appendingPathComponent("revoke"), client: client, network: network(server))
    }

    static let clients = [OAuth2Client.public(id: "a"), .basic(id: "a", secret: "fixture-secret")]

    @Test(arguments: Redirect.all, clients)
    func `G15: a refresh follows no redirect, and is unavailable`(_ redirect: Redirect, _ client: OAuth2Client)
        async throws
    {
        let server = try RedirectingServer(redirect, to: Self.tokens)
        let error = await #expect(throws: TokenRefreshError.self) {
            try await handler(server, client).refresh(.fixture)
        }
        #expect(error?.code == .unavailable && error?.status == redirect.status)
        #expect(error.map { "\($0)".contains("redirect") } == true, "\(String(describing: error))")
        #expect(server.followers == 0 && server.calls.count == 1)
    }

    @Test(arguments: Redirect.all)
    func `G15: a revocation follows no redirect, and has failed`(_ redirect: Redirect) async throws {
        let server = try RedirectingServer(redirect, to: Self.tokens)
        await #expect(throws: NetworkError.self) {
            try await handler(server, .public(id: "a"))
                .revoke(TokenBundle(accessToken: "fixture-access", refreshToken: "fixture-refresh"))
        }
        #expect(server.followers == 0 && server.calls.count == 1)
    }

    /// Expects that a sign-in fails before it has followed a redirect.
    private func expectRedirected(_ redirect: Redirect, _ start: (StubSession, RedirectingServer) async throws -> Void)
        async throws
    {
        let server = try RedirectingServer(redirect, to: Self.tokens)
        let session = StubSession(.signedOut(.never))
        let error = await signInError { try await start(session, server) }
        #expect(error?.code.rawValue == "redirected")
        #expect(session.signIns.isEmpty)
        #expect(server.followers == 0 && server.calls.count == 1)
    }

    #if canImport(CryptoKit) || Crypto
    @Test(arguments: Redirect.all)
    func `G15: the exchange of a code follows no redirect, and the sign-in fails`(_ redirect: Redirect) async throws {
        try await expectRedirected(redirect) { session, server in
            try await OAuth2CodeSignIn(
                server: description(server), client: .public(id: "a"), network: network(server)
            ).start(session, with: PromptUserAgent())
        }
    }
    #endif

    private func deviceSignIn(at server: RedirectingServer) -> OAuth2DeviceSignIn {
        OAuth2DeviceSignIn(
            server: description(server), client: .public(id: "a"), network: network(server), clock: JumpingClock())
    }

    @Test(arguments: Redirect.all)
    func `G15: the request of a device code follows no redirect, and the sign-in fails`(_ redirect: Redirect)
        async throws
    {
        try await expectRedirected(redirect) { session, server in
            try await deviceSignIn(at: server).start(session) { _ in Issue.record("a code was shown") }
        }
    }

    /// A network's sign-in page redirects for a while; a user who has entered the code does not start again for it.
    @Test(arguments: Redirect.all)
    func `G15: polling for tokens follows no redirect, and goes on until the code expires`(_ redirect: Redirect)
        async throws
    {
        let server = try RedirectingServer(redirect, to: Self.tokens) { $0.target == "/token" }
        let session = StubSession(.signedOut(.never))
        let error = await #expect(throws: OAuth2SignInError.self) {
            try await deviceSignIn(at: server).start(session) { _ in }
        }
        #expect(error?.code == .expired)
        #expect((error?.cause as? OAuth2SignInError)?.code.rawValue == "redirected")
        #expect(session.signIns.isEmpty)
        #expect(server.followers == 0 && server.calls.filter { $0.target == "/token" }.count > 1)
    }
}

/// RFC 8414 §6.2: the description is that of the issuer because the issuer's own origin sent it.
@Suite(.timeLimit(.minutes(10))) struct DiscoveryRedirectTests {
    private func discover(_ redirect: RedirectingServer.Redirect) async throws -> (OAuth2Server, RedirectingServer) {
        // The place of the redirect claims to be the issuer, whose URL it knows.
        let issuer = Locked<URL?>(nil)
        @Sendable func description() -> String {
            let issuer = issuer.withLock { $0 }?.absoluteString ?? ""
            return #"{"issuer":"\#(issuer)","token_endpoint":"\#(issuer)/token"}"#
        }
        let server = try RedirectingServer(redirect, to: description())
        issuer.withLock { $0 = server.url }
        let network = NetworkClient(baseURL: server.url, transport: URLSessionTransport())
        return (try await OAuth2Server.discover(issuer: server.url, network: network), server)
    }

    @Test(arguments: RedirectingServer.Redirect.all.filter { !$0.leavesOrigin })
    func `a description is read where a redirect within the issuer's origin leads`(
        _ redirect: RedirectingServer.Redirect
    ) async throws {
        let (description, server) = try await discover(redirect)
        #expect(description.tokenEndpoint == server.url.appendingPathComponent("token"))
    }

    @Test(arguments: RedirectingServer.Redirect.all.filter(\.leavesOrigin))
    func `G15: a description of another origin is not read, whatever issuer it names`(
        _ redirect: RedirectingServer.Redirect
    ) async throws {
        let error = await #expect(throws: OAuth2SignInError.self) { try await discover(redirect) }
        #expect(error?.code == .unsupported)
        #expect((error?.cause as? OAuth2SignInError)?.code.rawValue == "redirected")
    }
}
