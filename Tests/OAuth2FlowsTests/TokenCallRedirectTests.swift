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

    /// The calls with a token, and the first call of each sign-in.
    enum Call: CaseIterable {
        #if canImport(CryptoKit) || Crypto
        case pushedRequest, exchangeOfCode
        #endif
        case refresh, revocation, requestOfDeviceCode
    }

    private func make(_ call: Call, to server: RedirectingServer) async throws {
        switch call {
        #if canImport(CryptoKit) || Crypto
        case .pushedRequest:
            var signIn = server.codeSignIn()
            signIn.pushesRequest = true
            try await signIn.start(session, with: PromptUserAgent { _ in Issue.record("a page was shown") })
        case .exchangeOfCode: try await server.codeSignIn().start(session, with: PromptUserAgent())
        #endif
        case .refresh: _ = try await server.handler(.basic(id: "a", secret: "fixture-secret")).refresh(.fixture)
        case .revocation: try await server.handler(revocationAffectsSessionOnly: false).revoke(.signedIn)
        case .requestOfDeviceCode:
            try await server.deviceSignIn().start(session) { _ in Issue.record("a code was shown") }
        }
    }

    @Test(arguments: Call.allCases, Redirect.all)
    func `G15: no call follows a redirect, and each fails`(_ call: Call, _ redirect: Redirect) async throws {
        let server = try RedirectingServer(redirect, to: Self.content)
        do {
            try await make(call, to: server)
            Issue.record("it did not fail")
        } catch let error as TokenRefreshError {
            #expect(error.code == .unavailable && error.status == redirect.status && "\(error)".contains("redirect"))
        } catch {
            #expect(error is NetworkError || (error as? OAuth2SignInError)?.code.rawValue == "redirected", "\(error)")
        }
        #expect(session.signIns.isEmpty)
        #expect(server.followers == 0 && server.calls.count == 1)
    }

    /// A network's sign-in page redirects for a while; a user who has entered the code does not start again for it.
    @Test(arguments: Redirect.all)
    func `G15: polling follows no redirect, and goes on until the code expires`(_ redirect: Redirect) async throws {
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
    @Test(arguments: RedirectingServer.Redirect.all)
    func `G15: a description is read within the issuer's origin only, also where another place names the issuer`(
        _ redirect: RedirectingServer.Redirect
    ) async throws {
        // The place of the redirect claims to be the issuer, whose URL it knows.
        let issuer = Locked("")
        @Sendable func description() -> String {
            let issuer = issuer.withLock { $0 }
            return #"{"issuer":"\#(issuer)","token_endpoint":"\#(issuer)/token"}"#
        }
        let server = try RedirectingServer(redirect, to: description())
        issuer.withLock { $0 = server.issuer }
        let network = NetworkClient(baseURL: server.url, transport: URLSessionTransport())
        do {
            let found = try await OAuth2Server.discover(issuer: server.url, network: network)
            #expect(!redirect.leavesOrigin && found.tokenEndpoint == server.description.tokenEndpoint)
        } catch let error as OAuth2SignInError {
            #expect(redirect.leavesOrigin && error.code == .unsupported)
            #expect((error.cause as? OAuth2SignInError)?.code.rawValue == "redirected")
        }
    }
}
