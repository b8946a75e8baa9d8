import ArticlesApp
import ArticlesUI
import Composition
import DataAPI
import DevBackend
import Foundation
import Imaging
import NetworkCaching
import Testing

@testable import ArticlesWeb

/// The screens in a browser, over the application's object graph and a real server.
struct Website: Sendable {
    @TaskLocal fileprivate static var current: Website?

    let backend: DevBackend
    let graph: AppGraph
    let server: WebServer
    let browser: Browser

    fileprivate struct Identity: IdentityTokenSource {
        func token(for provider: SocialProvider) async throws -> String {
            try DevelopmentProvider().token(for: provider.rawValue, subject: "grace", name: "Grace")
        }
    }

    var firstPath: String { "/?\(server.url.query ?? "")" }

    /// Signs in as a guest, and returns the list.
    @discardableResult
    func signIn(name: String = "Ada") async throws -> Browser.Reply {
        _ = try await browser.open("/sign-in")
        let reply = try await browser.postGuest(name: name, photo: Self.photo())
        return try await browser.open(reply.location ?? "/")
    }

    /// Signs in with a provider, and returns the list.
    func signInAsGrace() async throws -> Browser.Reply {
        _ = try await browser.open("/sign-in")
        return try await browser.submit("/sign-in/social", ["provider": "apple"])
    }

    /// Ends all sessions at the server, as an administrator does, and expires the access tokens.
    func revoke() async throws {
        try await backend.revokeSessions(ofUser: 1)
        for user in Int64(2)...4 { try await backend.revokeSessions(ofUser: user) }
        try await backend.expireAccessTokens()
    }

    static func photo() throws -> Data {
        let size = PixelSize(width: 320, height: 240)
        let pixels = (0..<size.pixelCount * 3).map { UInt8($0 & 255) }
        guard let bitmap = Bitmap(size: size, pixels: pixels) else { throw CocoaError(.coderInvalidValue) }
        return try AppGraph.photoFitter().codec.encodeJPEG(bitmap, quality: 0.8)
    }
}

/// Runs a server and its website, which is ``site``, for each case of a test.
struct WebsiteTrait: TestTrait, TestScoping {
    fileprivate let isStranger: Bool
    fileprivate let configure: @Sendable (inout WebServer.Configuration) -> Void

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        var configuration = WebServer.Configuration()
        // Long enough for a machine under load.
        configuration.actionWait = .seconds(15 * 60)
        configure(&configuration)
        try await DevBackend.withServer { [configuration] backend in
            var settings = AppConfiguration(baseURL: backend.baseURL)
            settings.store = .memory
            let graph = AppGraph(settings, cache: ResponseCache())
            let server = try await WebServer.start(ScreenServices(graph, identity: Website.Identity()), configuration)
            let website = Website(backend: backend, graph: graph, server: server, browser: Browser(server.url))
            let result: Result<Void, any Error>
            do {
                if !isStranger { _ = try await website.browser.open(website.firstPath) }
                result = .success(try await Website.$current.withValue(website) { try await function() })
            } catch {
                result = .failure(error)
            }
            // What the test expects is what counts.
            await server.stop()
            try? await graph.shutdown()
            try result.get()
        }
    }
}

extension Trait where Self == WebsiteTrait {
    /// With a website, whose browser has opened the URL, unless it is a stranger. A response has the result of what it
    /// started, unless the configuration says otherwise.
    static func website(
        asStranger isStranger: Bool = false,
        _ configure: @escaping @Sendable (inout WebServer.Configuration) -> Void = { _ in }
    ) -> Self { Self(isStranger: isStranger, configure: configure) }

    static var website: Self { website() }
}

/// The website of a test with the trait `website`.
var site: Website {
    guard let site = Website.current else { preconditionFailure("the test has no trait .website") }
    return site
}
