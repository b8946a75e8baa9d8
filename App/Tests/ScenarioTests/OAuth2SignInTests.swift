import AsyncHTTPClient
import AuthInterface
import DataAPI
import DevBackend
import Foundation
import NIOCore
import NIOHTTP1
import NetworkCore
import OAuth2Flows
import Storage
import Testing
import TokenRefresh

/// Signs in at the server with a browser and with a device code, refreshes and revokes, from discovery to sign-out.
@Suite(.timeLimit(.minutes(20))) struct OAuth2SignInTests {
    /// Signs in with a browser.
    private static func signIn(_ app: TestApp, at server: OAuth2Server, with browser: LoopbackUserAgent) async throws {
        let signIn = OAuth2CodeSignIn(
            server: server, client: TestApp.client(of: app.backend), network: app.unauthenticated)
        try await signIn.start(app.session, with: browser)
    }

    /// A user who submits the form of the page.
    private static func user(_ form: String) -> LoopbackUserAgent {
        LoopbackUserAgent { try await submit($0, form) }
    }

    /// Runs an application that knows only the issuer.
    private static func withApp(
        secret: String? = "development-only", _ body: (TestApp, OAuth2Server) async throws -> Void
    ) async throws {
        var setup = TestApp.Setup()
        setup.handler = .oauth2
        setup.server.oauth2Client = DevBackend.OAuth2Client(id: "latchkey-dev", secret: secret)
        setup.server.devicePollInterval = .seconds(1)
        try await DevBackend.withServer(setup.server) { [setup] backend in
            let app = TestApp(backend, setup, store: MemoryTokenStore())
            let issuer = backend.serverDescription.issuer
            try await body(app, OAuth2Server.discover(issuer: issuer, network: app.unauthenticated))
        }
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
        try await Self.withApp(secret: secret) { app, server in
            let browser = LoopbackUserAgent { page in
                #expect(!page.absoluteString.contains("verifier"))
                try await Self.submit(page, "name=Ada&decision=allow")
            }
            try await Self.signIn(app, at: server, with: browser)
            #expect(try await app.auth.me().name == "Ada")
            try await app.backend.expireAccessTokens()
            #expect(try await app.auth.me().name == "Ada")
            #expect(app.backend.statistics.refreshes.committed == 1)
            try await app.session.signOut()
            await app.session.settle(within: .seconds(600))
            #expect(app.backend.statistics.logouts == 1)
        }
    }

    @Test func `a user who refuses is reported, and an earlier session stays`() async throws {
        try await Self.withApp { app, server in
            try await Self.signIn(app, at: server, with: Self.user("name=Ada"))
            let error = await #expect(throws: OAuth2SignInError.self) {
                try await Self.signIn(app, at: server, with: Self.user("decision=deny"))
            }
            #expect(error?.code == .denied)
            #expect(try await app.auth.me().name == "Ada")
        }
    }

    @Test func `a server without S256 is refused before a page is shown`() async throws {
        try await Self.withApp { app, server in
            var server = server
            server.codeChallengeMethods = ["plain"]
            let error = await #expect(throws: OAuth2SignInError.self) {
                try await Self.signIn(app, at: server, with: LoopbackUserAgent { _ in Issue.record("shown") })
            }
            #expect(error?.code == .unsupported)
        }
    }

    @Test func `a device signs in with a code that the user enters elsewhere`() async throws {
        try await Self.withApp { app, server in
            let signIn = OAuth2DeviceSignIn(
                server: server, client: TestApp.client(of: app.backend), network: app.unauthenticated)
            try await signIn.start(app.session) { code in
                let entered = code.userCode.lowercased().replacingOccurrences(of: "-", with: "+")
                let status = try await Self.submit(code.verificationURI, "user_code=\(entered)&name=Ada")
                #expect(status == 200)
                let again = try await Self.submit(code.verificationURI, "user_code=\(entered)&name=Eve")
                #expect(again == 400)
            }
            #expect(try await app.auth.me().name == "Ada")
            try await app.backend.expireAccessTokens()
            #expect(try await app.auth.me().name == "Ada")
        }
    }
}
