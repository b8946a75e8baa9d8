import ArticlesApp
import ArticlesUI
import AuthInterface
import Composition
import DataAPI
import DevBackend
import Foundation
import NetworkCaching
import ProgramTesting
import Testing

/// The application's screens at a start without a network, after a run with a real server.
@MainActor
@Suite(.timeLimit(.minutes(20))) struct OfflineStartTests {
    private struct NoIdentity: IdentityTokenSource {
        func token(for provider: SocialProvider) async throws -> String { throw CancellationError() }
    }

    /// Signs a user in, and shows the list, in a process that has ended since.
    private func firstStart(_ settings: AppConfiguration) async throws -> TokenBundle {
        let graph = AppGraph(settings, cache: settings.makeCache())
        let token = try DevelopmentProvider().token(for: "kakao", subject: "grace", name: "Grace")
        try await graph.auth.socialLogin(.kakao, token: token)
        try await graph.articles.create(ArticleDraft(title: "Seen before", content: "Text"))
        let app = AppModel(services: ScreenServices(graph, identity: NoIdentity()))
        let main = try await launch(app)
        await main.load()
        #expect(main.list.banner == nil && main.list.articles.first?.title == "Seen before")
        try await graph.shutdown()
        return try #require(try await graph.store.load())
    }

    private func launch(_ app: AppModel) async throws -> MainModel {
        if case .splash(let splash) = app.root { await splash.launch() }
        guard case .main(let main) = app.root else { throw ScreenError("notSignedIn") }
        return main
    }

    @Test func `the list of the session is shown, and that of no other, also when its token has expired`() async throws
    {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (configuration, stored) = try await DevBackend.withServer { backend in
            let configuration = AppConfiguration(
                baseURL: backend.baseURL, store: .file(folder: folder.tokens),
                cacheFolder: folder.url.appending(path: "caches"))
            return (configuration, try await firstStart(configuration))
        }
        // A task of the first start may have the folder for a moment longer.
        while configuration.makeCache().count == 0 { await Task.yield() }
        let graph = AppGraph(configuration, cache: configuration.makeCache())
        try await graph.store.save(
            TokenBundle(
                accessToken: stored.accessToken, refreshToken: stored.refreshToken, expiresAt: Date() - 60,
                session: stored.session, generation: stored.generation))
        let services = ScreenServices(graph, identity: NoIdentity())
        let main = try await launch(AppModel(services: services))
        await main.load()
        #expect(main.list.articles.first?.title == "Seen before")
        #expect(main.list.banner != nil)
        #expect(await services.articles.storedPage(of: SessionID(rawValue: "other"), limit: 20).isEmpty)
        try await graph.session.signOut()
        while await !services.articles.storedPage(of: stored.session, limit: 20).isEmpty { await Task.yield() }
        try await graph.shutdown()
    }
}
