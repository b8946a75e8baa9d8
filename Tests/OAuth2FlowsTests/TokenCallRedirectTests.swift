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

    private static let content = """
        {"access_token":"fixture-mallory","token_type":"Bearer","refresh_token":"fixture-mallory-2","device_code":\
        "fixture-device","user_code":"A","verification_uri":"https://id.example.com/a","expires_in":60,"request_uri":\
        "urn:example:1"}
        """

    private let session = StubSession(.signedOut(.never))

    @Test(arguments: Redirect.all, [OAuth2Client.fixture, .basic(id: "a", secret: "fixture-secret")])
    func `G15: a refresh follows no redirect, and is unavailable`(_ redirect: Redirect, _ client: OAuth2Client)
        async throws
    {
        let server = try RedirectingServer(redirect, to: Self.content)
        let error = await server.handler(client).refreshError()
        #expect(error?.code == .unavailable && error?.status == redirect.status)
        #expect(error.map { "\($0)".contains("redirect") } == true, "\(String(describing: error))")
        #expect(server.followers == 0 && server.calls.count == 1)
    }

    @Test(arguments: Redirect.all)
    func `G15: a revocation follows no redirect, and has failed`(_ redirect: Redirect) async throws {
        let server = try RedirectingServer(redirect, to: Self.content)
        await #expect(throws: NetworkError.self) {
            try await server.handler(revocationAffectsSessionOnly: false)
                .revoke(TokenBundle(accessToken: "fixture-access", refreshToken: "fixture-refresh"))
        }
        #expect(server.followers == 0 && server.calls.count == 1)
    }

    /// The first call of a sign-in.
    enum SignInCall: CaseIterable {
        #if canImport(CryptoKit) || Crypto
        case pushedRequest, exchangeOfCode
        #endif
        case requestOfDeviceCode
    }

    @Test(arguments: SignInCall.allCases, Redirect.all)
    func `G15: no call of a sign-in follows a redirect, and the sign-in fails`(
        _ call: SignInCall, _ redirect: Redirect
    ) async throws {
        let server = try RedirectingServer(redirect, to: Self.content)
        let error = await signInError {
            switch call {
            #if canImport(CryptoKit) || Crypto
            case .pushedRequest:
                var signIn = server.codeSignIn()
                signIn.pushesRequest = true
                try await signIn.start(session, with: PromptUserAgent { _ in Issue.record("a page was shown") })
            case .exchangeOfCode: try await server.codeSignIn().start(session, with: PromptUserAgent())
            #endif
            case .requestOfDeviceCode:
                try await server.deviceSignIn().start(session) { _ in Issue.record("a code was shown") }
            }
        }
        #expect(error?.code.rawValue == "redirected")
        #expect(session.signIns.isEmpty)
        #expect(server.followers == 0 && server.calls.count == 1)
    }

    /// A network's sign-in page redirects for a while; a user who has entered the code does not start again for it.
    @Test(arguments: Redirect.all)
    func `G15: polling for tokens follows no redirect, and goes on until the code expires`(_ redirect: Redirect)
        async throws
    {
        let server = try RedirectingServer(redirect, to: Self.content) { $0.target == "/token" }
        let error = await signInError { try await server.deviceSignIn().start(session) { _ in } }
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
        let error = await signInError { try await discover(redirect) }
        #expect(error?.code == .unsupported)
        #expect((error?.cause as? OAuth2SignInError)?.code.rawValue == "redirected")
    }
}
