#if canImport(SwiftUI)
import AuthInterface
import DataAPI
import Foundation

/// The doubles of the previews: they respond at once, and send nothing.
struct PreviewServices: Sendable {
    /// What the previews show.
    enum Scene: Sendable {
        case signedIn, signedOut, offline
    }

    let scene: Scene

    static func services(_ scene: Scene) -> ScreenServices {
        let doubles = PreviewServices(scene: scene)
        return ScreenServices(
            session: doubles, account: doubles, guests: doubles, social: doubles, upgrades: doubles,
            identity: doubles, photos: doubles, articles: doubles)
    }

    private static let user = User(id: 1, name: "Ada")
    private static let error = ScreenError("connectionFailed")

    private static let articles = (1...8).map { number in
        Article(
            id: .init(integerLiteral: Int64(number)), title: "Article \(number)",
            content: "The text of article \(number).",
            author: Article.Author(id: user.id, name: user.name), createdAt: Date(timeIntervalSince1970: 0))
    }
}

extension PreviewServices: SessionControl, AccountReading {
    var state: SessionState {
        scene == .signedOut ? .signedOut(.never) : .signedIn(SessionID(rawValue: "preview"))
    }

    var states: AsyncStream<SessionState> { AsyncStream { $0.yield(state) } }

    func signOut() async throws {}

    func launch() async throws -> LaunchOutcome {
        switch scene {
        case .signedIn: .signedIn(Self.user)
        case .signedOut: .signedOut(.never)
        case .offline: .unverified(Self.user, Self.error)
        }
    }

    func me() async throws -> User { Self.user }
    func photo(of user: User) async throws -> Data? { nil }
}

extension PreviewServices: GuestRegistration, SocialLogin, GuestUpgrade, IdentityTokenSource, PhotoPreparing {
    func registerGuest(
        name: String, photo: Data, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> User {
        progress(0.5)
        throw Self.error
    }

    func signIn(_ provider: SocialProvider, token: String) async throws -> User { throw Self.error }
    func upgrade(_ provider: SocialProvider, token: String) async throws -> User { Self.user }
    func token(for provider: SocialProvider) async throws -> String { throw CancellationError() }
    func prepare(_ photo: Data) async throws -> Data { photo }
}

extension PreviewServices: ArticleReading, ArticleWriting {
    func page(after cursor: Article.Cursor?, limit: Int) async throws -> Page<Article> {
        if scene == .offline { throw Self.error }
        return Page(items: Self.articles)
    }

    func article(_ id: Article.ID) async throws -> Article {
        guard let article = Self.articles.first(where: { $0.id == id }) else { throw Self.error }
        return article
    }

    func create(_ draft: ArticleDraft, key: String) async throws -> Article { throw Self.error }
    func storedPage(of session: SessionID, limit: Int) async -> [Article] { Self.articles }
}
#endif
