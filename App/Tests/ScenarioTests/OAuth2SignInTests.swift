import AsyncHTTPClient
import AuthInterface
import DataAPI
import DevBackend
import Foundation
import NIOCore
import NIOHTTP1
import NetworkCore
import NetworkURLSession
import OAuth2Flows
import Storage
import Testing
import TokenRefresh

/// Signs in at the server with a browser and with a device code, refreshes and revokes, from discovery to sign-out.
@Suite(.timeLimit(.minutes(20))) struct OAuth2SignInTests {
    /// An application that knows only the issuer.
    private struct OAuth2App {
        let backend: DevBackend
        let server: OAuth2Server
        let client: OAuth2Client
        let base: NetworkClient
        let session: TokenRefreshCoordinator
        let network: AuthenticatedNetworkClient

        init(_ backend: DevBackend) async throws {
            self.backend = backend
            base = NetworkClient(baseURL: backend.baseURL, transport: URLSessionTransport(), format: .envelope)
            server = try await OAuth2Server.discover(issuer: backend.serverDescription.issuer, network: base)
            let registered = backend.configuration.oauth2Client
            client = registered.secret.map { .basic(id: registered.id, secret: $0) } ?? .public(id: registered.id)
            session = TokenRefreshCoordinator(
                store: MemoryTokenStore(),
                handler: OAuth2TokenRefreshHandler(
                    tokenEndpoint: server.tokenEndpoint, revocationEndpoint: server.revocationEndpoint,
                    client: client, network: base)
            )
            network = base.authenticated(by: session)
        }

        func me() async throws -> String { try await network.send(.me).name }

        /// Signs in with a browser, at this server or another one.
        func signIn(at other: OAuth2Server? = nil, with browser: any OAuth2UserAgent) async throws {
            let signIn = OAuth2CodeSignIn(server: other ?? server, client: client, network: base)
            try await signIn.start(session, with: browser)
        }
    }

    /// A user who submits the form of the page.
    private static func user(_ form: String) -> LoopbackUserAgent {
        LoopbackUserAgent { try await submit($0, form) }
    }

    private static func withApp(
        secret: String? = "development-only", _ body: (OAuth2App) async throws -> Void
    ) async throws {
        var configuration = DevBackend.Configuration()
        configuration.oauth2Client = DevBackend.OAuth2Client(id: "latchkey-dev", secret: secret)
        configuration.devicePollInterval = .seconds(1)
        try await DevBackend.withServer(configuration) { try await body(OAuth2App($0)) }
    }

    /// Submits the form of a page as a browser does, and follows the redirect.
    ///
    /// A sign-in that has its response cancels what opened the page, so this may throw after it.
    @discardableResult
    private static func submit(_ page: URL, _ form: String) async throws -> UInt {
        var request = HTTPClientRequest(url: page.absoluteString)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        request.body = .bytes(Data(form.utf8))
        let response = try await HTTPClient.shared.execute(request, timeout: .minutes(15))
        return response.status.code
    }

    @Test(arguments: ["development-only", nil])
    func `a browser signs in, the session refreshes, and a sign-out revokes it`(_ secret: String?) async throws {
        try await Self.withApp(secret: secret) { app in
            let browser = LoopbackUserAgent { page in
                #expect(!page.absoluteString.contains("verifier"))
                try await Self.submit(page, "name=Ada&decision=allow")
            }
            try await app.signIn(with: browser)
            #expect(try await app.me() == "Ada")
            try await app.backend.expireAccessTokens()
            #expect(try await app.me() == "Ada")
            #expect(app.backend.statistics.refreshes.committed == 1)
            try await app.session.signOut()
            await app.session.settle(within: .seconds(600))
            #expect(app.backend.statistics.logouts == 1)
        }
    }

    @Test func `a user who refuses is reported, and an earlier session stays`() async throws {
        try await Self.withApp { app in
            try await app.signIn(with: Self.user("name=Ada"))
            let error = await #expect(throws: OAuth2SignInError.self) {
                try await app.signIn(with: Self.user("decision=deny"))
            }
            #expect(error?.code == .denied)
            #expect(try await app.me() == "Ada")
        }
    }

    @Test func `a server without S256 is refused before a page is shown`() async throws {
        try await Self.withApp { app in
            var server = app.server
            server.codeChallengeMethods = ["plain"]
            let error = await #expect(throws: OAuth2SignInError.self) {
                try await app.signIn(at: server, with: LoopbackUserAgent { _ in Issue.record("shown") })
            }
            #expect(error?.code == .unsupported)
        }
    }

    @Test func `a device signs in with a code that the user enters elsewhere`() async throws {
        try await Self.withApp { app in
            let signIn = OAuth2DeviceSignIn(server: app.server, client: app.client, network: app.base)
            try await signIn.start(app.session) { code in
                let entered = code.userCode.lowercased().replacingOccurrences(of: "-", with: "+")
                let status = try await Self.submit(code.verificationURI, "user_code=\(entered)&name=Ada")
                #expect(status == 200)
                let again = try await Self.submit(code.verificationURI, "user_code=\(entered)&name=Eve")
                #expect(again == 400)
            }
            #expect(try await app.me() == "Ada")
            try await app.backend.expireAccessTokens()
            #expect(try await app.me() == "Ada")
        }
    }
}
