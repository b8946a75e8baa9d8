import ArticlesApp
import ArticlesUI
import AuthInterface
import Composition
import DataAPI
import Foundation
import Imaging
import NetworkCore
import NetworkTesting
import Testing

/// The screens over the real object graph, with a stub in place of the server.
@Suite(.timeLimit(.minutes(20))) struct ScreenServicesTests {
    private struct NoIdentity: IdentityTokenSource {
        func token(for provider: SocialProvider) async throws -> String { "fixture-identity" }
    }

    private struct SignedInBody: Encodable, Sendable {
        struct User: Encodable, Sendable {
            let id = 1
            let name = "Ada"
        }

        let user = User()
        let accessToken = "fixture-access"
        let refreshToken = "fixture-refresh"
    }

    private struct ArticleBody: Encodable, Sendable {
        struct Author: Encodable, Sendable {
            let id = 1
            let name = "Ada"
        }

        let id: Int
        let title = "Title"
        let content = "Text"
        let author = Author()
        let createdAt = "2026-01-01T00:00:00Z"
        let updatedAt = "2026-01-01T00:00:00Z"
    }

    private struct PageBody: Encodable, Sendable {
        let items: [ArticleBody]
    }

    private func services(_ transport: StubTransport) throws -> ScreenServices {
        let url = try #require(URL(string: "https://api.example.com/api/v1"))
        var configuration = AppConfiguration(baseURL: url)
        configuration.store = .memory
        return ScreenServices(AppGraph(configuration, transport: transport), identity: NoIdentity())
    }

    @Test func `a guest signs in, and the progress of the upload reaches its end`() async throws {
        let services = try services(StubTransport(.post("auth/guest/register") ~> .data(SignedInBody())))
        let (parts, progress) = AsyncStream.makeStream(of: Double.self)
        let user = try await services.guests.registerGuest(name: "Ada", photo: Data("photo".utf8)) {
            progress.yield($0)
        }
        progress.finish()
        #expect(user?.name == "Ada")
        #expect(await parts.reduce(0, max) == 1)
        guard case .signedIn = services.session.state else {
            Issue.record("no session was started")
            return
        }
    }

    @Test func `a launch without a session is signed out`() async throws {
        let services = try services(StubTransport())
        guard case .signedOut(.never) = try await services.account.launch() else {
            Issue.record("another outcome")
            return
        }
    }

    @Test func `a second attempt to publish has the key of the first`() async throws {
        let transport = StubTransport(
            .post("auth/social/login") ~> .data(SignedInBody()),
            .post("articles") ~> .error(422, code: "REFUSED", message: "The title is too long."),
            .post("articles") ~> .data(ArticleBody(id: 9)))
        let services = try services(transport)
        _ = try await services.social.signIn(.apple, token: "fixture-identity")
        let draft = ArticleDraft(title: "Title", content: "Text")
        await #expect(throws: ScreenError("unacceptableStatus", status: 422, detail: "The title is too long.")) {
            try await services.articles.create(draft, key: "fixture-key")
        }
        let article = try await services.articles.create(draft, key: "fixture-key")
        #expect(article.title == "Title")
        let keys = transport.requests.compactMap { $0.headers["Idempotency-Key"] }
        #expect(keys == ["fixture-key", "fixture-key"])
    }

    @MainActor
    @Test func `a session that the server ends shows the alert with its reason, over the real graph`() async throws {
        let transport = StubTransport(
            .post("auth/social/login") ~> .data(SignedInBody()),
            .get("articles") ~> .data(PageBody(items: [ArticleBody(id: 1), ArticleBody(id: 2)])),
            .get("articles/1") ~> .error(401, code: "TOKEN_EXPIRED"),
            .post("auth/refresh") ~> .error(401, code: "REFRESH_TOKEN_REUSED", requestId: "r-1"))
        let app = AppModel(services: try services(transport))
        try await #require(app.splash).launch()
        try await #require(app.login).social.signIn(with: .apple)
        let main = try #require(app.main)
        await main.load()
        #expect(main.list.articles.count == 2)
        await main.article(1).load()
        #expect(app.login != nil)
        guard case .expired(let ending)? = app.alert?.reason else {
            Issue.record("there is no alert")
            return
        }
        #expect(ending.code == "REFRESH_TOKEN_REUSED")
        #expect(ending.requestID == "r-1")
    }

    @Test func `errors reach the screens as codes with a text`() {
        let response = HTTPResponseHead(status: 404)
        let missing = ScreenError(translating: NetworkError(.unacceptableStatus, response: response))
        #expect(missing == ScreenError("unacceptableStatus", status: 404))
        #expect(ScreenError(translating: AuthenticationError(.storeUnavailable)).code == "storeUnavailable")
        #expect(ScreenError(translating: ImagingError(.decodingFailed, "Damaged")).code == "imageDecodingFailed")
        #expect(
            Strings(.english).message(for: ScreenError(translating: ImagingError(.decodingFailed, "x")))
                == "This photo is damaged. Choose another one.")
    }

    @Test func `a file that is no photo is refused before it is sent`() async throws {
        let services = try services(StubTransport())
        await #expect(throws: ScreenError.self) { try await services.photos.prepare(Data("text".utf8)) }
    }
}

extension StubResponse {
    /// A value as the server wraps it.
    fileprivate static func data(_ value: some Encodable & Sendable) -> StubResponse {
        .json(ResponseEnvelope(data: value))
    }
}

@MainActor
extension AppModel {
    fileprivate var splash: SplashModel? {
        if case .splash(let model) = root { model } else { nil }
    }

    fileprivate var login: SignInModel? {
        if case .signIn(let model) = root { model } else { nil }
    }

    fileprivate var main: MainModel? {
        if case .main(let model) = root { model } else { nil }
    }
}
