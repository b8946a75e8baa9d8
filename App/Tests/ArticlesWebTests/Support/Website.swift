import ArticlesApp
import ArticlesUI
import Composition
import DataAPI
import DevBackend
import Foundation
import Imaging
import NetworkCaching

@testable import ArticlesWeb

/// The screens in a browser, over the application's object graph and a real server.
struct Website: Sendable {
    let backend: DevBackend
    let graph: AppGraph
    let server: WebServer
    let browser: Browser

    /// The tokens of the development provider, for one user.
    private struct Identity: IdentityTokenSource {
        func token(for provider: SocialProvider) async throws -> String {
            try DevelopmentProvider().token(for: provider.rawValue, subject: "grace", name: "Grace")
        }
    }

    /// Runs a server and its website while the body runs. The browser has opened the URL, unless it is a stranger. A
    /// response has the result of what it started, unless it does not wait.
    static func with(
        asStranger: Bool = false, waits: Bool = true, photoBytes: Int? = nil, _ body: (Website) async throws -> Void
    ) async throws {
        var configuration = WebServer.Configuration()
        // Long enough for a machine under load.
        configuration.actionWait = waits ? .seconds(15 * 60) : .zero
        configuration.photoBytes = photoBytes ?? configuration.photoBytes
        try await DevBackend.withServer { [configuration] backend in
            var settings = AppConfiguration(baseURL: backend.baseURL)
            settings.store = .memory
            let graph = AppGraph(settings, cache: ResponseCache())
            let services = ScreenServices(graph, identity: Identity())
            let server = try await WebServer.start(services, configuration)
            let browser = Browser(server.url)
            let website = Website(backend: backend, graph: graph, server: server, browser: browser)
            do {
                if !asStranger { _ = try await browser.open(website.firstPath) }
                try await body(website)
            } catch {
                await website.end()
                throw error
            }
            await website.end()
        }
    }

    /// Ends the server and the connections. What the body expected is what counts.
    private func end() async {
        await server.stop()
        try? await graph.shutdown()
    }

    /// The path of the URL that is printed, with its token.
    var firstPath: String { "/?\(server.url.query ?? "")" }

    /// Signs in as a guest, and returns the list.
    @discardableResult
    func signIn(name: String = "Ada") async throws -> Browser.Reply {
        _ = try await browser.open("/sign-in")
        let reply = try await browser.postGuest(name: name, photo: Self.photo())
        return try await browser.open(reply.location ?? "/")
    }

    /// Ends all sessions at the server, as an administrator does, and expires the access tokens.
    func revoke() async throws {
        try await backend.revokeSessions(ofUser: 1)
        for user in Int64(2)...4 { try await backend.revokeSessions(ofUser: user) }
        try await backend.expireAccessTokens()
    }

    /// A picture of 320×240 pixels.
    static func photo() throws -> Data {
        let size = PixelSize(width: 320, height: 240)
        let pixels = (0..<size.pixelCount * 3).map { UInt8($0 & 255) }
        guard let bitmap = Bitmap(size: size, pixels: pixels) else { throw CocoaError(.coderInvalidValue) }
        return try AppGraph.photoFitter().codec.encodeJPEG(bitmap, quality: 0.8)
    }
}
