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

    private static let user = #"{"id":1,"name":"Ada"}"#
    private static let article = #"{"id":9,"title":"Title","content":"Text","author":\#(user)}"#
    private static let signedIn = StubResponse.data(
        #"{"user":\#(user),"accessToken":"fixture-access","refreshToken":"fixture-refresh"}"#)

    private func services(_ transport: StubTransport) throws -> ScreenServices {
        let url = try #require(URL(string: "https://api.example.com/api/v1"))
        var configuration = AppConfiguration(baseURL: url)
        configuration.store = .memory
        return ScreenServices(AppGraph(configuration, transport: transport), identity: NoIdentity())
    }

    @Test func `a guest signs in, and the progress of the upload reaches its end`() async throws {
        let services = try services(StubTransport(.post("auth/guest/register") ~> Self.signedIn))
        let (parts, progress) = AsyncStream.makeStream(of: Double.self)
        let user = try await services.logins.registerGuest(name: "Ada", photo: Data("photo".utf8)) {
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

    @Test func `a second attempt to publish has the key of the first`() async throws {
        let transport = StubTransport(
            .post("auth/social/login") ~> Self.signedIn,
            .post("articles") ~> .error(422, code: "REFUSED", message: "The title is too long."),
            .post("articles") ~> .data(Self.article))
        let services = try services(transport)
        _ = try await services.logins.signIn(.apple, token: "fixture-identity")
        let draft = ArticleDraft(title: "Title", content: "Text")
        await #expect(throws: ScreenError("unacceptableStatus", status: 422, detail: "The title is too long.")) {
            try await services.articles.create(draft, key: "fixture-key")
        }
        #expect(try await services.articles.create(draft, key: "fixture-key").title == "Title")
        #expect(transport.requests.compactMap { $0.headers["Idempotency-Key"] } == ["fixture-key", "fixture-key"])
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
}

extension StubResponse {
    /// A value as the server wraps it.
    fileprivate static func data(_ json: String) -> StubResponse {
        let body = Data(#"{"success":true,"data":\#(json)}"#.utf8)
        return .status(200, headers: ["Content-Type": "application/json"], body: body)
    }
}
